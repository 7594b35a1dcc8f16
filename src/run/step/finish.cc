#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/zip_epoch.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "plan/step/carried.h"
#include "plan/step/spec_fields.h"
#include "run/step/carried_files.h"
#include "run/step/phases.h"
#include "run/step/repair.h"
#include "run/step/run_paths.h"
#include "sys/file.h"
#include "sys/files.h"
#include "wheel/read/inspect.h"
#include "wheel/tags/true_tags.h"
#include "wheel/write/edit.h"

namespace wheelsmith::run {

namespace {

using document::Array;
using document::Table;
using document::Value;

// The requested tag, with the machine appended where it was omitted ("manylinux_2_28" -> "manylinux_2_28_x86_64").
std::string whole_tag(const std::string& asked, const std::string& machine) {
  return asked.ends_with("_" + machine) ? asked : asked + "_" + machine;
}

Value wheels_value(const env::Lock& lock) {
  Array wheels;
  for (const env::PinnedWheel& wheel : lock.wheels) {
    Table item;
    item["name"] = wheel.name;
    item["version"] = wheel.version;
    item["sha256"] = wheel.sha256;
    item["file"] = wheel.file_name;
    wheels.emplace_back(std::move(item));
  }
  return wheels;
}

Value installed_value(const std::vector<env::InstalledPackage>& packages) {
  Array items;
  for (const env::InstalledPackage& package : packages) {
    Table item;
    item["name"] = package.name;
    item["version"] = package.version;
    items.emplace_back(std::move(item));
  }
  return items;
}

// The sandbox that the build's commands ran in, and the exceptions that the recipe made.
document::Value sandbox_value(sys::SandboxMode mode, bool network, const recipe::Rules& rules) {
  const auto words = [](const std::vector<std::string>& list) { return document::Array(list.begin(), list.end()); };
  const sys::Protections protections = sys::protections_of(mode, network);
  document::Table table;
  table["mode"] = enum_name(mode);
  table["protections"] = words(protections.present);
  table["absent"] = words(protections.absent);
  document::Array open;
  for (const recipe::OpenPath& path : rules.open) {
    document::Table one;
    one["path"] = path.path;
    one["write"] = path.write;
    one["why"] = path.why;
    open.emplace_back(std::move(one));
  }
  if (!open.empty()) table["open"] = std::move(open);
  return table;
}

Value source_value(const source::Pin& pin, const std::vector<attest::VcsSource>& repositories) {
  Table source;
  source["digest"] = pin.digest;
  source["kind"] = std::string(enum_name(pin.kind));
  if (!pin.file_name.empty()) source["file"] = pin.file_name;
  if (!pin.git_commit.empty()) source["commit"] = pin.git_commit;
  if (pin.incremental) source["incremental"] = true;
  Array submodules;
  for (const attest::VcsSource& repository : repositories) {
    if (repository.path.empty()) {
      if (!repository.url.empty()) source["url"] = repository.url;
      continue;
    }
    Table item;
    item["path"] = repository.path;
    if (!repository.url.empty()) item["url"] = repository.url;
    item["commit"] = repository.commit;
    submodules.emplace_back(std::move(item));
  }
  if (!submodules.empty()) source["submodules"] = std::move(submodules);
  return source;
}

// Toolkits and libraries that the build compiled against, with their versions.
Value libraries_value(const plan::ToolSpec& tools) {
  Table used;
  for (const toolchain::Library& library : tools.libraries) {
    if (library.state() == toolchain::Library::State::found) used[library.name] = library.version;
  }
  return used;
}

// The inputs of the build. No times, hosts or paths: equal inputs give equal bytes.
Value provenance(const FinishInputs& inputs, const wheel::Inspection& inspection,
                 const std::vector<attest::VcsSource>& repositories) {
  const plan::BuildSpec& spec = inputs.spec;
  Table table;
  table["schema"] = 1;
  table["builder"] = "wheelsmith " WHEELSMITH_VERSION;
  table["key"] = spec.key;
  table["recipe"] = spec.package;
  table["variant"] = std::string(recipe::to_string(spec.variant));
  if (!spec.target.empty()) table["target"] = spec.target;
  table["archs"] = spec.archs.to_string();
  table["build_type"] = spec.build_type;
  table["source"] = source_value(spec.source, repositories);
  if (spec.uncacheable) table["incremental"] = true;
  Array patches;
  for (const plan::Action& action : spec.actions) {
    const auto* apply = std::get_if<plan::ApplyPatch>(&action.what);
    if (apply == nullptr) continue;
    Table item;
    item["name"] = apply->patch.name;
    item["sha256"] = to_hex(sha256(Bytes(apply->patch.text)));
    patches.emplace_back(std::move(item));
  }
  table["patches"] = std::move(patches);
  table["python"] = spec.python.version;
  if (!spec.container.id.empty()) {
    Table container;
    container["image"] = spec.container.name;
    container["id"] = spec.container.id;
    table["container"] = std::move(container);
  }
  if (inputs.environment.torch) table["torch"] = inputs.environment.torch->version;
  if (!spec.tools.cuda.version.empty()) table["cuda"] = spec.tools.cuda.version;
  if (!spec.tools.rocm.version.empty()) table["rocm"] = spec.tools.rocm.version;
  if (!spec.tools.compiler_family.empty())
    table["compiler"] = spec.tools.compiler_family + " " + spec.tools.compiler_version;
  if (Value used = libraries_value(spec.tools); !used.table()->empty()) table["built_against"] = std::move(used);
  Table tools;
  for (const auto& [name, value] : spec.manifest.inputs()) {
    if (name.starts_with("tool:")) tools[name.substr(5)] = value;
  }
  table["tools"] = std::move(tools);
  table["build_requirements"] = wheels_value(inputs.environment.lock);
  if (!spec.environment.isolated) table["installed"] = installed_value(spec.environment.installed);
  const bool foreign = spec.source.kind != source::Pin::Kind::program;
  table["network"] = spec.network ? "open" : inputs.confinement.network_isolated || !foreign ? "none" : "dead proxy";
  if (foreign) table["sandbox"] = sandbox_value(inputs.confinement.sandbox, spec.network, inputs.rules);
  Array libraries;
  for (const wheel::ElfFacts& file : inspection.elf) libraries.emplace_back(file.path);
  table["libraries"] = std::move(libraries);
  return table;
}

void check_identity(const plan::BuildSpec& spec, const std::string& file_name) {
  const pep::WheelName name = pep::WheelName::parse(file_name);
  if (pep::normalized_name(name.name) != pep::normalized_name(spec.project)) {
    throw WheelRefused(fmt::format("the build produced {}, a wheel of {}, but the recipe's project is {}", file_name,
                                   name.name, spec.project));
  }
  const auto made = pep::Version::try_parse(name.version);
  const auto told = pep::Version::try_parse(spec.wheel_version);
  // Other steps may require exactly this version.
  if (made && told && *made != *told)
    throw WheelRefused(
        fmt::format("the build produced version {} instead of {}: the package does not read its "
                    "version from the recipe's version-variable",
                    name.version, spec.wheel_version));
  const auto planned = pep::Version::try_parse(spec.version);
  // For a checkout, the planned version comes from git. Packages that do not ask git may differ.
  const bool is_guess = spec.source.incremental && !spec.source.git_commit.empty();
  if (!is_guess && made && planned && made->public_version() != planned->public_version()) {
    throw WheelRefused(
        fmt::format("the build produced version {}, but the source is {}: the package reads its version from elsewhere "
                    "(a tag, the date); set the variable that overrides it in the recipe's environment",
                    name.version, spec.version));
  }
}

// Notes on a wheel that runs only where its libraries are installed. A library that the recipe lists as `provided` does
// not qualify the wheel for a tag that promises to work without it.
std::vector<std::string> why_not_portable(const wheel::Platform& platform, const std::vector<std::string>& provided) {
  constexpr std::size_t k_most = 5;
  std::vector<std::string> notes;
  for (const wheel::Obstacle& obstacle : platform.obstacles) {
    if (notes.size() == k_most) break;
    notes.push_back(fmt::format("no manylinux tag: {} {}", obstacle.subject, obstacle.what));
  }
  if (!notes.empty() && !provided.empty())
    notes.push_back(fmt::format("tagged {}: the recipe expects libraries on the target machine (check.provided = {})",
                                platform.tag, join(provided, ", ")));
  return notes;
}

wheel::Inspection inspect_built(const std::filesystem::path& path, Bytes bytes) {
  wheel::InspectOptions options;
  options.threads = usable_threads();
  wheel::Inspection inspection = wheel::inspect_file(path.string(), bytes, options);
  if (!inspection.error.empty())
    throw WheelRefused("cannot read the wheel that the build produced: " + inspection.error);
  return inspection;
}

// Without the entries themselves, which are paths on this machine.
Value run_paths_value(const PortableWheel& portable) {
  Array files;
  for (const auto& [path, entries] : portable.removed) {
    Table item;
    item["file"] = path;
    item["entries"] = entries;
    files.emplace_back(std::move(item));
  }
  return files;
}

}  // namespace

FinishedWheel finish(const FinishInputs& inputs, const StepServices& services) {
  services.report.phase(plan::Phase::finish);
  const plan::BuildSpec& spec = inputs.spec;
  const std::string built_name = inputs.built.filename().string();
  check_identity(spec, built_name);
  Blob file = sys::map_file(inputs.built);
  wheel::Inspection inspection = inspect_built(inputs.built, file.bytes);
  const std::optional<PortableWheel> portable = without_machine_run_paths(inputs, inspection, file.bytes, services);
  if (portable) {
    file = sys::map_file(portable->path);
    inspection = inspect_built(portable->path, file.bytes);
  }
  const wheel::TrueTags tags = wheel::true_tags(inspection.elf, spec.python.abi, pep::WheelName::parse(built_name));
  const auto& qualified = inspection.platform_beside_others;
  wheel::WheelEdit edit;
  edit.threads = usable_threads();
  edit.python_tag = tags.python;
  edit.abi_tag = tags.abi;
  if (tags.pure)
    edit.platform_tag = "any";
  else if (!spec.platform.empty())
    edit.platform_tag = whole_tag(spec.platform, spec.python.machine());
  else if (qualified)
    edit.platform_tag = qualified->tag;
  if (const std::string* date = spec.variable("SOURCE_DATE_EPOCH"))
    edit.time = static_cast<std::int64_t>(to_number(*date).value_or(k_zip_epoch));
  FinishedWheel result;
  const std::vector<attest::VcsSource> repositories = repositories_of(spec.source, services);
  result.provenance = provenance(inputs, inspection, repositories);
  if (portable) (*result.provenance.table())["run_paths_removed"] = run_paths_value(*portable);
  edit.dist_info_files.push_back({"wheelsmith/provenance.json", document::to_json(result.provenance) + "\n"});
  edit.dist_info_files.push_back({"wheelsmith/recipe.toml", spec.recipe_text});
  edit.dist_info_files.push_back({"wheelsmith/build.json", document::to_json(plan::carried_value(spec), 1) + "\n"});
  edit.dist_info_files.push_back(sbom_file(inputs, inspection, file.bytes, repositories));
  const std::filesystem::path folder = services.store.temporary();
  sys::AtomicFile target(folder / "finished.whl");
  const wheel::EditedWheel edited = wheel::edit_wheel(inputs.built.string(), file.bytes, edit, target);
  target.commit();
  result.path = folder / edited.file_name;
  std::filesystem::rename(folder / "finished.whl", result.path);
  result.sha256 = to_hex(sha256(sys::map_file(result.path).bytes));
  services.report.note(fmt::format("{} ({}): {}", edited.file_name, human_bytes(edited.size), tags.why));
  // Say so when the wheel gets a tag that no index accepts.
  if (qualified && edit.platform_tag == qualified->tag && qualified->tag.starts_with("linux_") &&
      spec.platform.empty() && !inputs.rules.repair.enabled)
    for (const std::string& note : why_not_portable(*qualified, inputs.rules.checks.provided))
      services.report.note(note);
  if (inputs.rules.repair.enabled && !tags.pure)
    repair_finished(inputs, portable ? portable->entries : std::set<std::string>(), edit.time, result, services);
  return result;
}

}  // namespace wheelsmith::run
