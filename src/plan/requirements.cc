// What a step is built with: the wheels of its environment, its torch, its CUDA toolkit, its programs. Requirements
// come from the recipe, from the source's own pyproject.toml and from what other steps make, and are resolved once to
// files.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "plan/choose.h"
#include "plan/described.h"
#include "plan/planner.h"
#include "plan/rocm.h"
#include "toolchain/description.h"

namespace wheelsmith::plan {

namespace {

std::string name_of(const std::string& requirement) {
  return pep::normalized_name(pep::Requirement::parse(requirement).name);
}

bool names(const std::vector<std::string>& list, const std::string& requirement) {
  const std::string name = name_of(requirement);
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& other) { return pep::normalized_name(other) == name; });
}

}  // namespace

void Planner::choose_what_it_needs(Step& step, const recipe::Rules& rules, const Known& known) {
  add_needs(step, rules);
  if (step.variant == recipe::Variant::rocm) choose_rocm(step, rules, m_request, m_inputs, m_plan.notes);
  choose_requirements(step, rules, known);
}

void Planner::choose_requirements(Step& step, const recipe::Rules& rules, const Known& known) {
  for (const std::string& requirement : rules.requires_) add_once(step.requirements, requirement);
  std::vector<std::string> declared = known.facts.requires_;
  if (!known.facts.has_pyproject || declared.empty()) declared.insert(declared.end(), {"setuptools", "wheel"});
  std::vector<std::string> built_in;  // steps whose wheels are part of the environment
  for (const std::string& id : step.needs) {
    if (std::find(step.companions.begin(), step.companions.end(), id) == step.companions.end()) built_in.push_back(id);
  }
  const auto torch_step = std::find_if(built_in.begin(), built_in.end(), [&](const std::string& id) {
    return pep::same_name(m_plan.steps[m_steps.at(id)].project, "torch");
  });
  const bool needs_torch = torch_step != built_in.end();
  const std::string torch_key =
      fmt::format("{} {} {}{}", step.python.executable.string(), step.package, recipe::to_string(step.variant),
                  rules.requires_versions.uses_torch ? "" : " none");
  if (!needs_torch && !m_torches.contains(torch_key)) {
    TorchChoice& torch_choice = m_torches[torch_key];
    torch_choice = choose_torch(m_request, rules, step.variant, step.python, m_inputs, m_plan.notes);
    prefer_torch_of_ref(torch_choice, recipe_for(step.package), m_request, m_plan.notes);
  }
  if (!needs_torch) step.torch = m_torches[torch_key];
  // A package may name a requirement twice, for different Pythons; what the recipe names replaces them all.
  const std::vector<std::string> own = step.requirements;
  for (const std::string& requirement : declared) {
    const std::string name = name_of(requirement);
    const bool ours = name == "torch" && rules.requires_versions.uses_torch;
    const bool overridden =
        std::any_of(own.begin(), own.end(), [&](const std::string& other) { return name_of(other) == name; });
    const bool dropped = names(rules.drop_requires, requirement) ||
                         std::any_of(rules.not_from_pip.begin(), rules.not_from_pip.end(),
                                     [&](const auto& pair) { return pep::normalized_name(pair.first) == name; });
    if (!ours && !overridden && !dropped) add_once(step.requirements, requirement);
  }
  if (step.torch.kind == TorchChoice::Kind::requirement) add_once(step.requirements, step.torch.requirement);

  LockedTorch torch;
  if (step.torch.kind == TorchChoice::Kind::environment) {
    const auto found = toolchain::find_torch(step.torch.python, false, m_inputs.host);
    if (!found) throw Error(fmt::format("{} has no torch", step.torch.python.string()));
    torch = {found->version, found->cuda, found->hip};
  } else if (built_in.empty()) {
    step.lock = lock_for(step, step.requirements);
    torch = locked_torch(step.lock);
  } else if (needs_torch) {
    const Step& built = m_plan.steps[m_steps.at(*torch_step)];
    torch = {built.version, built.cuda_version, built.rocm_version};
  }
  step.torch_version = torch.version;
  step.torch_cuda = torch.cuda;
  step.torch_hip = torch.hip;
  if (step.variant == recipe::Variant::cuda && !torch.version.empty() && torch.cuda.empty()) {
    throw Error(
        fmt::format("{} is to be built for CUDA, but torch {} is a {} build; choose another with --torch "
                    "(a version, CHANNEL/cuNNN, a wheel or an environment)",
                    step.package, torch.version, torch.hip.empty() ? "CPU" : "ROCm"));
  }
  if (step.variant == recipe::Variant::cuda) choose_toolkit(step, rules);
  if (step.torch.kind == TorchChoice::Kind::environment && built_in.empty())
    step.lock = lock_for(step, step.requirements);
}

void Planner::choose_toolkit(Step& step, const recipe::Rules& rules) {
  if (!m_cuda_looked_for) m_cuda = toolchain::find_cuda(m_inputs.host);
  m_cuda_looked_for = true;
  const std::string& wanted = step.torch_cuda;
  const bool forced = !m_inputs.host.cuda.empty();
  const bool fits_recipe = m_cuda && pep::contains(pep::parse_specifiers(rules.requires_versions.cuda),
                                                   pep::Version::parse(m_cuda->version));
  // Torch's headers include those of the math libraries, which a compiler-only installation does not have.
  const bool whole =
      m_cuda && (step.torch.kind == TorchChoice::Kind::none || (m_cuda->has_cublas && m_cuda->has_cusparse));
  const bool fits = m_cuda && whole && (wanted.empty() ? fits_recipe : m_cuda->version == wanted);
  if (m_cuda && (fits || forced)) {
    step.cuda_root = m_cuda->root.string();
    step.cuda_version = m_cuda->version;
    return;
  }
  std::string version = wanted;
  if (version.empty()) {
    const env::Lock newest = lock_for(step, {"nvidia-cuda-nvcc" + rules.requires_versions.cuda});
    const env::PinnedWheel* nvcc = newest.find("nvidia-cuda-nvcc");
    const auto parts = split(nvcc == nullptr ? "" : std::string_view(nvcc->version), '.');
    if (parts.size() < 2)
      throw Error(
          "no CUDA compiler is here, and the registry has none: install a CUDA toolkit, or name it with --cuda");
    version = std::string(parts[0]) + "." + std::string(parts[1]);
  }
  const std::string why =
      !m_cuda          ? "no nvcc is here"
      : !whole         ? fmt::format("CUDA {} of this machine has no cuBLAS and cuSPARSE headers", m_cuda->version)
      : wanted.empty() ? fmt::format("the recipe wants CUDA {}", rules.requires_versions.cuda)
                       : fmt::format("nvcc {} of this machine is not what torch was built with", m_cuda->version);
  note(fmt::format("{}: a CUDA {} toolkit made from the registry's wheels, since {}", step.package, version, why));
  step.registry_cuda = step.cuda_version = version;
  for (const std::string& requirement : env::toolkit_requirements(version)) add_once(step.requirements, requirement);
  if (step.needs.size() == step.companions.size() && step.torch.kind != TorchChoice::Kind::environment)
    step.lock = lock_for(step, step.requirements);
}

void Planner::choose_tools(Step& step, const recipe::Rules& rules) {
  if (m_compiler) {
    step.cc = m_compiler->cc.string();
    step.cxx = m_compiler->cxx.string();
    step.compiler_family = m_compiler->family;
  }
  std::vector<std::string> wanted = rules.requires_versions.programs;
  for (const auto& [name, why] : rules.not_from_pip) add_once(wanted, name);
  for (const std::string& name : wanted) {
    auto program = toolchain::find_program(name, m_inputs.host);
    // One of pip's is not what is meant by the machine's own.
    const bool own = std::any_of(rules.not_from_pip.begin(), rules.not_from_pip.end(),
                                 [&](const auto& pair) { return pair.first == name; });
    if (program && own && program->origin == "pip") {
      if (const auto behind = toolchain::program_behind(*program, m_inputs.host)) program = behind;
    }
    if (!program) continue;
    step.programs[name] = program->path.string();
    m_programs.emplace(program->path.string(), *program);
  }
}

const env::Lock& Planner::lock_for(const Step& step, const std::vector<std::string>& requirements) {
  std::string name = step.python.executable.string();
  for (const std::string& requirement : requirements) name += "\n" + requirement;
  for (const std::string& url : step.torch.index_urls) name += "\n" + url;
  for (const auto& folder : step.torch.wheelhouses) name += "\n" + folder.string();
  const auto found = m_locks.find(name);
  if (found != m_locks.end()) return found->second;
  if (m_inputs.host.described)
    return m_locks.emplace(name, described_lock(requirements, step.python, *m_inputs.host.described)).first->second;
  env::ResolveOptions options;
  options.upgrade = m_request.upgrade;
  options.offline = m_request.offline;
  options.wheelhouses = step.torch.wheelhouses;
  options.wheelhouses.insert(options.wheelhouses.end(), m_request.wheelhouses.begin(), m_request.wheelhouses.end());
  options.index_urls = step.torch.index_urls;
  options.prereleases = step.torch.prereleases;
  m_inputs.on_progress(fmt::format("resolving the build requirements of {}", step.package));
  return m_locks.emplace(name, env::resolve(requirements, step.python, m_inputs.fetcher, m_inputs.store, options))
      .first->second;
}

}  // namespace wheelsmith::plan
