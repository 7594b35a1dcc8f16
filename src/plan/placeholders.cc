// What {placeholders} in a recipe stand for in one step. Paths of our own are ${tree}, ${env}, …: the step's process
// puts the real ones in, so that a key does not depend on where the store is.

#include "plan/placeholder_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/version.h"
#include "plan/planner.h"
#include "plan/variables.h"

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

// gfx1151 as ROCm's runtime writes it in HSA_OVERRIDE_GFX_VERSION: 11.5.1. The last two digits are hexadecimal.
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

// The local part that a framework's version gets from the SDK it was built with: "+rocm7.1.0",
// "+devrocm7.2.0.dev0-abc".
std::string rocm_suffix(std::string version) {
  if (version.empty()) return "";
  std::replace(version.begin(), version.end(), '+', '-');
  return (version.find("dev") != std::string::npos ? "+devrocm" : "+rocm") + version;
}

// The one that is meant where none is named.
std::string target_name(const Step& step, const recipe::Recipe& recipe) {
  const bool by_default = step.target.empty() && recipe.all_rules.contains({step.variant, "default"});
  return by_default ? "default" : step.target;
}

std::string first_two(const std::string& version) {
  const auto parts = split(version, '.');
  return parts.size() < 2 ? version : fmt::format("{}.{}", parts[0], parts[1]);
}

}  // namespace

std::map<std::string, std::string> placeholder_values(const Step& step, const recipe::Recipe& recipe,
                                                      const recipe::Rules& rules, const Request& request) {
  const std::string archs = step.archs.requests.empty() ? "" : recipe::spell(step.archs, rules.archs);
  std::string nodot = step.python.short_version();
  nodot.erase(std::remove(nodot.begin(), nodot.end(), '.'), nodot.end());
  // A commit that no tag names has no version. What asks us for one gets one that comes before every release.
  const std::string version = step.version.empty() && !step.source.git_commit.empty()
                                  ? "0.0.dev0+g" + step.source.git_commit.substr(0, 8)
                                  : step.version;
  std::map<std::string, std::string> values = {
      {"version", version},
      {"version.public", pep::Version::try_parse(version) ? version.substr(0, version.find('+')) : version},
      {"source.commit", step.source.git_commit},
      {"source.commit8", step.source.git_commit.substr(0, 8)},
      {"source.ref", step.source.git_ref},
      {"archs", archs},
      {"archs.comma", joined(step.archs.to_string(), ",")},
      {"archs.space", joined(step.archs.to_string(), " ")},
      {"hsa.version", hsa_version(step.archs)},
      {"python", "${env}/bin/python"},
      {"python.nodot", nodot},
      {"source", "${tree}/source"},
      {"tree", "${tree}"},
      {"env", "${env}"},
      {"toolkit", "${toolkit}"},
      {"cuda.version", step.cuda_version},
      {"cudnn.root", "${toolkit}"},
      {"nccl.root", "${toolkit}"},
      {"nvml.library", "${toolkit}/lib64/stubs/libnvidia-ml.so"},
      {"rocm", "${rocm}"},
      {"rocm.version", step.rocm_version},
      {"rocm.minor", first_two(step.rocm_version)},
      {"rocm.suffix", rocm_suffix(step.rocm_version)},
      {"rocm.label", step.rocm_version.empty() ? "" : rocm_suffix(step.rocm_version).substr(1)},
      {"torch.public", step.torch_version.substr(0, step.torch_version.find('+'))},
      {"torch.version", step.torch_version},
      {"torch.cuda", step.torch_cuda},
      {"torch.hip", step.torch_hip},
      {"torch.folder", "${torch}"},
      {"cc", "${tree}/bin/cc"},
      {"cxx", "${tree}/bin/c++"},
      {"jobs", "${jobs}"},
      {"platform", step.platform},
      {"platform.machine", step.python.machine()},
      {"variant", std::string(recipe::to_string(step.variant))},
      {"target", target_name(step, recipe)},
      {"label", variant_label(step)},
  };
  const auto type = rules.build_type.find(step.build_type);
  static const std::map<std::string, std::string> cmake_types = {
      {"release", "Release"}, {"debug", "Debug"}, {"relwithdebinfo", "RelWithDebInfo"}, {"minsizerel", "MinSizeRel"}};
  values["build-type"] = type != rules.build_type.end() ? type->second : cmake_types.at(step.build_type);
  const std::map<std::string, std::string> chosen = chosen_settings(recipe, request);
  for (const recipe::Setting& setting : recipe.settings) {
    const std::string& value = chosen.at(setting.name);
    if (!setting.choices.empty() &&
        std::find(setting.choices.begin(), setting.choices.end(), value) == setting.choices.end())
      throw Error(
          fmt::format("--set {}={}: it is one of {}", setting.name, printable(value), join(setting.choices, ", ")));
    values["set." + setting.name] = value;
  }
  for (const recipe::Dependency& need : rules.needs) values["need." + need.recipe + ".version"] = "";
  for (const auto& [name, needed] : step.need_versions) values["need." + name + ".version"] = needed;
  for (const recipe::Fetch& fetch : rules.fetches) values["fetch." + fetch.name] = "";
  for (const FetchedSource& fetched : step.fetches) values["fetch." + fetched.name] = fetched_folder(fetched);
  return values;
}

}  // namespace wheelsmith::plan
