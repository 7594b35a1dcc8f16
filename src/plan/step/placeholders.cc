#include "plan/step/placeholders.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/version.h"
#include "plan/libraries.h"

namespace wheelsmith::plan {

namespace {

std::string joined(const std::string& archs, std::string_view separator) {
  std::string result;
  for (const std::string_view part : split(archs, ';')) {
    if (!result.empty()) result += separator;
    result += part;
  }
  return result;
}

// gfx1151 in the form of HSA_OVERRIDE_GFX_VERSION: 11.5.1. The last two digits are hexadecimal.
std::string hsa_version(const gpu::ArchList& archs) {
  if (archs.requests.empty()) return "";
  std::string name = gpu::to_string(archs.requests.front());
  name = name.substr(0, name.find(':'));
  if (!name.starts_with("gfx") || name.size() < 6 || name.find('-') != std::string::npos) return "";
  const std::string digits = name.substr(3);
  const auto value = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  return fmt::format("{}.{}.{}", digits.substr(0, digits.size() - 2), value(digits[digits.size() - 2]),
                     value(digits.back()));
}

// The local version label for a framework built with an SDK: "+rocm7.1.0",
// "+devrocm7.2.0.dev0-abc".
std::string rocm_suffix(std::string version) {
  if (version.empty()) return "";
  std::replace(version.begin(), version.end(), '+', '-');
  return (version.find("dev") != std::string::npos ? "+devrocm" : "+rocm") + version;
}

// The default target if none is given.
std::string target_name(const BuildSpec& spec, const recipe::Recipe& recipe) {
  const bool by_default = spec.target.empty() && recipe.all_rules.contains({spec.variant, "default"});
  return by_default ? "default" : spec.target;
}

std::string first_two(const std::string& version) {
  const auto parts = split(version, '.');
  return parts.size() < 2 ? version : fmt::format("{}.{}", parts[0], parts[1]);
}

}  // namespace

std::string fetched_place(const recipe::Fetch& fetch, const std::vector<FetchSource>& fetches) {
  const bool fetched =
      std::any_of(fetches.begin(), fetches.end(), [&](const FetchSource& one) { return one.name == fetch.name; });
  if (!fetched) return "";
  return fetched_folder(fetch.name) + (fetch.subfolder.empty() ? "" : "/" + fetch.subfolder);
}

namespace {

// For a torch from an index, any build of its version works; a torch of this plan has its own ABI and libraries.
bool is_built(const EnvironmentSpec& environment) {
  return environment.torch.kind == choose::TorchChoice::Kind::none && !environment.torch_build.version.empty();
}

}  // namespace

std::string variant_label(const BuildSpec& spec) {
  if (spec.variant != recipe::Variant::cuda) return std::string(recipe::to_string(spec.variant));
  std::string version = spec.tools.cuda.version;
  version.erase(std::remove(version.begin(), version.end(), '.'), version.end());
  return "cu" + version;
}

Placeholders placeholder_values(const PlaceholderInputs& inputs) {
  const BuildSpec& spec = inputs.spec;
  const recipe::Rules& rules = inputs.rules;
  const std::string& rocm = spec.tools.rocm.version;
  const choose::TorchBuild& torch = spec.environment.torch_build;
  const std::string archs = spec.archs.requests.empty() ? "" : recipe::spell(spec.archs, rules.archs);
  std::string nodot = spec.python.short_version();
  nodot.erase(std::remove(nodot.begin(), nodot.end(), '.'), nodot.end());
  // An untagged commit has no version; placeholders get one that sorts before every release.
  const std::string version = spec.version.empty() && !spec.source.git_commit.empty()
                                  ? "0.0.dev0+g" + spec.source.git_commit.substr(0, 8)
                                  : spec.version;
  Placeholders values = {
      {"version", version},
      {"version.public", pep::Version::try_parse(version) ? version.substr(0, version.find('+')) : version},
      {"source.commit", spec.source.git_commit},
      {"source.commit8", spec.source.git_commit.substr(0, 8)},
      {"source.ref", spec.source.git_ref},
      {"archs", archs},
      {"archs.comma", joined(spec.archs.to_string(), ",")},
      {"archs.space", joined(spec.archs.to_string(), " ")},
      {"hsa.version", hsa_version(spec.archs)},
      {"python", "${env}/bin/python"},
      {"python.nodot", nodot},
      {"source", spec.editable ? spec.source.folder.string() : "${tree}/source"},
      {"tree", "${tree}"},
      {"env", "${env}"},
      {"toolkit", "${toolkit}"},
      {"cuda.version", spec.tools.cuda.version},
      {"rocm", "${rocm}"},
      {"rocm.version", rocm},
      {"rocm.minor", first_two(rocm)},
      {"rocm.suffix", rocm_suffix(rocm)},
      {"rocm.label", rocm.empty() ? "" : rocm_suffix(rocm).substr(1)},
      {"torch.public", torch.version.substr(0, torch.version.find('+'))},
      {"torch.version", torch.version},
      {"torch.pin", is_built(spec.environment) ? torch.version : torch.version.substr(0, torch.version.find('+'))},
      {"torch.cuda", torch.cuda},
      {"torch.hip", torch.hip},
      {"torch.folder", "${torch}"},
      {"cc", "${tree}/bin/cc"},
      {"cxx", "${tree}/bin/c++"},
      {"jobs", "${jobs}"},
      {"platform", spec.platform},
      {"platform.machine", spec.python.machine()},
      {"variant", std::string(recipe::to_string(spec.variant))},
      {"target", target_name(spec, inputs.recipe)},
      {"label", variant_label(spec)},
  };
  const auto type = rules.build_type.find(spec.build_type);
  static const std::map<std::string, std::string> cmake_types = {
      {"release", "Release"}, {"debug", "Debug"}, {"relwithdebinfo", "RelWithDebInfo"}, {"minsizerel", "MinSizeRel"}};
  values["build-type"] = type != rules.build_type.end() ? type->second : cmake_types.at(spec.build_type);
  for (const recipe::Setting& setting : inputs.recipe.settings) {
    const std::string& value = inputs.settings.at(setting.name);
    if (!setting.choices.empty() &&
        std::find(setting.choices.begin(), setting.choices.end(), value) == setting.choices.end())
      throw Error(
          fmt::format("--set {}={}: must be one of {}", setting.name, printable(value), join(setting.choices, ", ")));
    values["set." + setting.name] = value;
  }
  for (const recipe::Dependency& need : rules.needs) values["need." + need.recipe + ".version"] = "";
  for (const auto& [name, needed] : inputs.need_versions) values["need." + name + ".version"] = needed;
  for (const recipe::Fetch& fetch : rules.fetches) values["fetch." + fetch.name] = fetched_place(fetch, inputs.fetches);
  for (const recipe::RequiredLibrary& required : rules.requires_versions.libraries) {
    const toolchain::LibraryKind* kind = required_kind(required, spec.variant);
    if (kind == nullptr || !kind->is_linked()) continue;
    const std::string root = library_folder(required.name), name = "library." + required.name;
    values[name + ".root"] = root;
    values[name + ".include"] = root + "/include";
    values[name + ".lib"] = root + "/lib";
    values[name + ".file"] = root + "/lib/" + kind->link_name();
  }
  return values;
}

}  // namespace wheelsmith::plan
