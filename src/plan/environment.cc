#include "plan/environment.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/toolkit.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"

namespace wheelsmith::plan {

namespace {

std::string project_of(const std::string& requirement) {
  return pep::normalized_name(pep::Requirement::parse(requirement).name);
}

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
}

// The newest CUDA compiler in the index that the recipe accepts: "13.2".
std::string newest_cuda(const BuildSpec& spec, const recipe::Rules& rules, Locks& locks) {
  const env::Lock& lock = locks.resolve(spec.package, {"nvidia-cuda-nvcc" + rules.requires_versions.cuda}, spec.python,
                                        spec.environment.torch);
  const env::PinnedWheel* nvcc = lock.find("nvidia-cuda-nvcc");
  const auto parts = split(nvcc == nullptr ? "" : std::string_view(nvcc->version), '.');
  if (parts.size() < 2)
    throw Error(
        "no CUDA compiler on this machine or in the package index; install a CUDA toolkit, or give its folder with "
        "--cuda");
  return std::string(parts[0]) + "." + std::string(parts[1]);
}

}  // namespace

void check_requirements(const std::vector<std::string>& requirements, std::string_view recipe) {
  for (const std::string& text : requirements) {
    try {
      const pep::Requirement requirement = pep::Requirement::parse(text);
      for (const pep::Specifier& one : requirement.specifiers) {
        if (one.version.empty()) throw Error("a specifier has no version");
      }
    } catch (const Error& error) {
      throw Error(fmt::format("the recipe {} expands to {}, which is not a valid requirement: {}", recipe,
                              "\"" + printable(text) + "\"", error.what()));
    }
  }
}

void check_expanded_requirements(const std::string& name, const std::string& text, const std::string& expanded,
                                 std::string_view recipe) {
  static const RE2 versioned(R"([A-Za-z0-9\]]\s*(?:==|>=|<=|~=|!=)\{)");
  if (!RE2::PartialMatch(text, versioned)) return;
  std::vector<std::string> requirements;
  for (const std::string_view part : split(expanded, '|')) {
    if (const std::string_view one = trim(part); !one.empty()) requirements.emplace_back(one);
  }
  try {
    check_requirements(requirements, recipe);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", name, error.what()));
  }
}

std::vector<std::string> build_requirements(const RequirementInputs& inputs) {
  const recipe::Rules& rules = inputs.rules;
  std::vector<std::string> result = inputs.needed;
  for (const std::string& requirement : rules.requires_) add_once(result, requirement);
  std::vector<std::string> declared = inputs.facts.requires_;
  if (!inputs.facts.has_pyproject || declared.empty()) declared.insert(declared.end(), {"setuptools", "wheel"});
  // A package may list a requirement several times, for different Pythons; the recipe's requirement replaces all of
  // them.
  const std::vector<std::string> own = result;
  for (const std::string& requirement : declared) {
    const std::string name = project_of(requirement);
    const auto is_it = [&](const std::string& other) { return pep::normalized_name(other) == name; };
    const bool is_our_torch = name == "torch" && rules.requires_versions.uses_torch;
    const bool replaced =
        std::any_of(own.begin(), own.end(), [&](const std::string& other) { return project_of(other) == name; });
    const bool dropped = std::any_of(rules.drop_requires.begin(), rules.drop_requires.end(), is_it) ||
                         std::any_of(rules.not_from_pip.begin(), rules.not_from_pip.end(),
                                     [&](const auto& pair) { return is_it(pair.first); });
    if (!is_our_torch && !replaced && !dropped) add_once(result, requirement);
  }
  if (inputs.torch.kind == choose::TorchChoice::Kind::requirement) add_once(result, inputs.torch.requirement);
  return result;
}

CudaSpec plan_cuda(const BuildSpec& spec, const recipe::Rules& rules, Toolbox& tools, Locks& locks, Notes& notes,
                   std::vector<std::string>& requirements) {
  const choose::CudaChoice choice =
      choose::choose_cuda({.here = tools.cuda(),
                           .named = !tools.host().cuda.empty(),
                           .with_torch = spec.environment.torch.kind != choose::TorchChoice::Kind::none,
                           .torch_cuda = spec.environment.torch_build.cuda,
                           .specifiers = rules.requires_versions.cuda});
  if (choice.machine) return {tools.cuda()->root.string(), "", choice.version};
  if (!spec.environment.isolated)
    throw Error(fmt::format("{}: {}, and --no-build-isolation installs no CUDA toolkit; give one with --cuda",
                            spec.package, choice.why));
  const std::string version = choice.version.empty() ? newest_cuda(spec, rules, locks) : choice.version;
  notes.add(fmt::format("{}: using a CUDA {} toolkit from wheels of the package index, because {}", spec.package,
                        version, choice.why));
  for (const std::string& requirement : env::toolkit_requirements(version)) add_once(requirements, requirement);
  return {"", version, version};
}

}  // namespace wheelsmith::plan
