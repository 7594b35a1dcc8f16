// A step's inputs as components of the wheel's SBOM.

#include "attest/sbom.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "run/step/carried_files.h"
#include "source/git/git.h"
#include "zip/archive.h"

namespace wheelsmith::run {

namespace {

constexpr std::size_t k_most_submodules = 1'000;

// Whether a submodule's folder is checked out: it is selected itself, or lies below a selected one.
bool is_wanted(const std::optional<std::vector<std::string>>& wanted, const std::string& path) {
  if (!wanted) return true;
  return std::any_of(wanted->begin(), wanted->end(),
                     [&](const std::string& folder) { return path == folder || path.starts_with(folder + "/"); });
}

void add_submodules(source::Repositories& repositories, const std::string& url, const std::string& commit,
                    const std::string& below, const std::optional<std::vector<std::string>>& wanted,
                    std::vector<attest::VcsSource>& result) {
  for (const source::Submodule& submodule : repositories.submodules(url, commit)) {
    const std::string path = below + submodule.path;
    if (!is_wanted(wanted, path) || result.size() >= k_most_submodules) continue;
    result.push_back({path, attest::public_url(submodule.url), submodule.commit});
    add_submodules(repositories, submodule.url, submodule.commit, path + "/", wanted, result);
  }
}

std::vector<attest::Component> bundled_libraries(const wheel::Inspection& inspection, Bytes built) {
  const zip::Archive archive = zip::Archive::open(built);
  std::vector<attest::Component> result;
  for (const wheel::ElfFacts& file : inspection.elf) {
    if (file.python_extension || !file.is_dynamic || !file.interpreter.empty()) continue;
    const zip::Entry* entry = archive.find(file.path);
    if (entry == nullptr) continue;
    attest::Component component;
    component.name = file.soname.empty() ? std::string(base_name(file.path)) : file.soname;
    component.sha256 = to_hex(sha256(archive.read(*entry).bytes));
    component.properties.emplace_back("path", file.path);
    if (!file.build_id.empty()) component.properties.emplace_back("build-id", file.build_id);
    result.push_back(std::move(component));
  }
  return result;
}

attest::Component generic(const std::string& type, const std::string& name, const std::string& version) {
  return {type, name, version, attest::generic_purl(name, version), ""};
}

void add_wheels(std::vector<attest::Component>& used, const env::Lock& lock) {
  for (const env::PinnedWheel& wheel : lock.wheels)
    used.push_back({"library", wheel.name, wheel.version, attest::pypi_purl(wheel.name, wheel.version), wheel.sha256});
}

// "3.31.6 SHA-256" from the key's inputs.
std::string version_of_tool(const plan::BuildSpec& spec, const std::string& name) {
  const auto found = spec.manifest.inputs().find("tool:" + name);
  if (found == spec.manifest.inputs().end()) return "";
  return found->second.substr(0, found->second.find(' '));
}

std::vector<attest::Component> used_components(const FinishInputs& inputs) {
  const plan::BuildSpec& spec = inputs.spec;
  std::vector<attest::Component> used;
  add_wheels(used, inputs.environment.lock);
  add_wheels(used, spec.tools.rocm.lock);
  for (const env::InstalledPackage& package : spec.environment.installed)
    used.push_back({"library", package.name, package.version, attest::pypi_purl(package.name, package.version), ""});
  if (!spec.python.version.empty()) used.push_back(generic("platform", "python", spec.python.version));
  if (!spec.tools.compiler_family.empty())
    used.push_back(generic("application", spec.tools.compiler_family, spec.tools.compiler_version));
  if (!spec.tools.cuda.version.empty()) used.push_back(generic("platform", "cuda-toolkit", spec.tools.cuda.version));
  if (!spec.tools.rocm.version.empty()) used.push_back(generic("platform", "rocm", spec.tools.rocm.version));
  for (const auto& [name, path] : spec.tools.programs)
    used.push_back(generic("application", name, version_of_tool(spec, name)));
  for (const toolchain::Library& library : spec.tools.libraries) {
    if (library.state() == toolchain::Library::State::found)
      used.push_back(generic("library", library.name, library.version));
  }
  for (const plan::Action& action : spec.actions) {
    const auto* fetch = std::get_if<plan::FetchSource>(&action.what);
    if (fetch == nullptr) continue;
    attest::Component source = generic("library", fetch->name, fetch->pin.git_commit);
    if (const std::string url = attest::public_url(fetch->pin.git_url); !url.empty())
      source.properties.emplace_back("vcs", url);
    used.push_back(std::move(source));
  }
  return used;
}

}  // namespace

std::vector<attest::VcsSource> repositories_of(const source::Pin& pin, const StepServices& services) {
  std::vector<attest::VcsSource> result;
  if (pin.git_commit.empty()) return result;
  result.push_back({"", attest::public_url(pin.git_url), pin.git_commit});
  if (pin.kind != source::Pin::Kind::git) return result;
  source::Repositories repositories = source::repositories_for(services.fetcher, services.store);
  add_submodules(repositories, pin.git_url, pin.git_commit, "", pin.submodules, result);
  return result;
}

wheel::AddedFile sbom_file(const FinishInputs& inputs, const wheel::Inspection& inspection, Bytes built,
                           const std::vector<attest::VcsSource>& repositories) {
  const plan::BuildSpec& spec = inputs.spec;
  const pep::WheelName name = pep::WheelName::parse(inputs.built.filename().string());
  attest::SbomInputs sbom{.name = pep::normalized_name(name.name),
                          .version = name.version,
                          .builder_version = WHEELSMITH_VERSION,
                          .repositories = repositories};
  if (spec.source.kind == source::Pin::Kind::archive) {
    sbom.sdist = spec.source.file_name;
    sbom.sdist_sha256 = spec.source.sha256;
  }
  for (const plan::Action& action : spec.actions) {
    if (const auto* apply = std::get_if<plan::ApplyPatch>(&action.what))
      sbom.patches.emplace_back(apply->patch.name, to_hex(sha256(Bytes(apply->patch.text))));
  }
  sbom.properties = {{"source", spec.source.digest},
                     {"variant", std::string(recipe::to_string(spec.variant))},
                     {"build-type", spec.build_type},
                     {"key", spec.key}};
  if (!spec.archs.requests.empty()) sbom.properties.emplace_back("archs", spec.archs.to_string());
  if (!spec.container.id.empty()) sbom.properties.emplace_back("container", spec.container.id);
  sbom.bundled = bundled_libraries(inspection, built);
  sbom.used = used_components(inputs);
  return {"sboms/wheelsmith.cdx.json", document::to_json(attest::make_sbom(sbom)) + "\n"};
}

}  // namespace wheelsmith::run
