#include "plan/libraries.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"

namespace wheelsmith::plan {

namespace {

using toolchain::Library;

std::string with_limits(const recipe::RequiredLibrary& required, const toolchain::LibraryKind& kind) {
  return kind.title + (required.specifiers.empty() ? "" : " " + required.specifiers);
}

// "cudnn-root" of "{set.cudnn-root}".
std::string setting_of(const std::string& place) {
  const std::size_t at = place.find("{set.");
  return at == std::string::npos ? "" : place.substr(at + 5, place.find('}', at) - at - 5);
}

toolchain::LibrarySearch search_of(const BuildSpec& spec, const toolchain::Host& host) {
  toolchain::LibrarySearch search;
  search.cuda = spec.tools.cuda.root;
  search.rocm = spec.tools.rocm.root;
  search.sites = visible_sites(spec, host);
  const bool free_threaded = spec.python.abi.ends_with('t');
  search.wheel_site =
      fmt::format("${{env}}/lib/python{}{}/site-packages", spec.python.short_version(), free_threaded ? "t" : "");
  if (!spec.tools.cuda.index_version.empty()) search.wheel_toolkit = "${toolkit}";
  for (const env::PinnedWheel& wheel : spec.environment.lock.wheels)
    search.wheels.push_back({wheel.name, wheel.version, wheel.sha256});
  // Requirements that are resolved in the step are known only by name.
  if (spec.environment.resolve_late) {
    for (const std::string& text : spec.environment.requirements)
      search.wheels.push_back({pep::normalized_name(pep::Requirement::parse(text).name), "", "as resolved"});
  }
  return search;
}

// ROCm's wheels are in a separate environment beside the step's, linked as ${rocm}.
void search_rocm_wheels(toolchain::LibrarySearch& search, const RocmSpec& rocm) {
  if (rocm.lock.wheels.empty()) return;
  search.wheels.clear();
  search.wheel_toolkit = "${rocm}";
  for (const env::PinnedWheel& wheel : rocm.lock.wheels)
    search.wheels.push_back({wheel.name, wheel.version, wheel.sha256});
}

Library find_required(const recipe::RequiredLibrary& required, const toolchain::LibraryKind& kind,
                      const BuildSpec& spec, const Settings& settings, const toolchain::Host& host) {
  toolchain::LibrarySearch search = search_of(spec, host);
  if (kind.variant == "rocm") search_rocm_wheels(search, spec.tools.rocm);
  search.named = named_place(required, settings);
  Library library = toolchain::find_library(kind, search, host);
  // A separate check reports a missing ROCm.
  const bool no_rocm = kind.variant == "rocm" && spec.tools.rocm.root.empty() && spec.tools.rocm.lock.wheels.empty();
  if (no_rocm && library.state() == Library::State::missing) library.unknown = true;
  return library;
}

bool refers_to(const recipe::Rules& rules, const std::string& name) {
  const std::string mark = "{library." + name + ".";
  const auto has = [&](const std::string& text) { return text.find(mark) != std::string::npos; };
  const auto any_value = [&](const Pairs& pairs) {
    return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return has(pair.second); });
  };
  const auto any = [&](const std::vector<std::string>& texts) { return std::any_of(texts.begin(), texts.end(), has); };
  return any_value(rules.environment) || any_value(rules.append) || any_value(rules.config) || any_value(rules.files) ||
         any(rules.options) || std::any_of(rules.prepare.begin(), rules.prepare.end(), [&](const recipe::Prepare& one) {
           return any(one.command);
         });
}

}  // namespace

const toolchain::LibraryKind* required_kind(const recipe::RequiredLibrary& required, recipe::Variant variant) {
  const toolchain::LibraryKind* kind = toolchain::find_library_kind(required.name);
  const bool other = kind != nullptr && !kind->variant.empty() && kind->variant != recipe::to_string(variant);
  return other ? nullptr : kind;
}

std::string named_place(const recipe::RequiredLibrary& required, const Settings& settings) {
  if (required.place.empty()) return "";
  Settings values;
  for (const auto& [name, value] : settings) values["set." + name] = value;
  return recipe::expand(required.place, values);
}

std::vector<Library> plan_libraries(const BuildSpec& spec, const recipe::Rules& rules, const Settings& settings,
                                    const toolchain::Host& host) {
  std::vector<Library> libraries;
  for (const recipe::RequiredLibrary& required : rules.requires_versions.libraries) {
    const toolchain::LibraryKind* kind = required_kind(required, spec.variant);
    if (kind == nullptr) continue;
    Library& library = libraries.emplace_back(find_required(required, *kind, spec, settings, host));
    library.name = required.name;  // the canonical spelling
    if (library.digest.empty() && !host.described && library.state() == Library::State::found)
      library.digest = toolchain::library_digest(library, host.memo);
  }
  return libraries;
}

std::vector<std::string> library_requirements(const BuildSpec& spec, const recipe::Rules& rules,
                                              const Settings& settings, const toolchain::Host& host,
                                              std::string_view cuda_version) {
  std::vector<std::string> requirements;
  const std::string major(split(cuda_version, '.')[0]);
  for (const recipe::RequiredLibrary& required : rules.requires_versions.libraries) {
    const toolchain::LibraryKind* kind = required_kind(required, spec.variant);
    if (kind == nullptr || kind->requirement.empty()) continue;
    if (!find_required(required, *kind, spec, settings, host).header.empty()) continue;
    std::string requirement = kind->requirement;
    replace_all(requirement, "{major}", major);
    requirements.push_back(requirement + required.specifiers);
  }
  return requirements;
}

std::vector<std::string> library_notes(const BuildSpec& spec, const recipe::Rules& rules, const toolchain::Host& host) {
  std::vector<std::string> notes;
  for (const Library& library : spec.tools.libraries) {
    const recipe::RequiredLibrary& required = *rules.requires_versions.library(library.name);
    const toolchain::LibraryKind& kind = *required_kind(required, spec.variant);
    const Library::State state = library.state();
    if (state == Library::State::unknown) continue;
    std::string problem;
    if (state == Library::State::found)
      problem = toolchain::library_problem(library, required.specifiers);
    else
      problem = fmt::format("{} is required; found: {}", with_limits(required, kind), library.to_string());
    const bool exported =
        std::find(kind.variables.begin(), kind.variables.end(), library.found_by) != kind.variables.end();
    if (exported) notes.push_back(fmt::format("{}: {} from {}", spec.package, library.to_string(), library.found_by));
    if (problem.empty()) continue;
    const std::string text =
        fmt::format("{}: {}; {}", spec.package, problem,
                    library_fix(required, kind, toolchain::package_manager(host), spec.tools.cuda.version));
    if (state != Library::State::found && refers_to(rules, library.name)) throw Error(text);
    notes.push_back("warning: " + text);
  }
  return notes;
}

std::string library_fix(const recipe::RequiredLibrary& required, const toolchain::LibraryKind& kind,
                        std::string_view manager, std::string_view cuda_version) {
  std::string fix = toolchain::install_library(kind, manager, cuda_version);
  if (const std::string setting = setting_of(required.place); !setting.empty())
    fix += fmt::format("{}--set {}=PATH", fix.empty() ? "" : ", or give it with ", setting);
  return fix;
}

std::vector<std::filesystem::path> visible_sites(const BuildSpec& spec, const toolchain::Host& host) {
  if (!spec.environment.isolated) return spec.python.sites;
  if (spec.environment.torch.kind != choose::TorchChoice::Kind::environment) return {};
  const auto other = toolchain::read_python(spec.environment.torch.python, host);
  return other ? other->sites : std::vector<std::filesystem::path>();
}

std::string library_folder(std::string_view name) { return fmt::format("${{tree}}/libraries/{}", name); }

}  // namespace wheelsmith::plan
