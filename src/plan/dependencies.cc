// The dependencies of a step: wheels of other steps and of the index, its torch and its toolkit. Then its actions.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "choose/recipe.h"
#include "choose/source.h"
#include "choose/variants.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "plan/environment.h"
#include "plan/libraries.h"
#include "plan/planner.h"
#include "plan/rocm.h"
#include "plan/step/actions.h"
#include "plan/step/variables.h"

namespace wheelsmith::plan {

namespace {

void add_edge(std::vector<Edge>& edges, Edge edge) {
  const auto same = [&](const Edge& other) { return other.step == edge.step; };
  if (std::none_of(edges.begin(), edges.end(), same)) edges.push_back(std::move(edge));
}

// The version that the build is told to use for its wheel. Ignores text that is not a version yet or contains build
// paths.
std::string wheel_version(const BuildSpec& spec, const recipe::Rules& rules) {
  const std::string* said = rules.version_variable.empty() ? nullptr : spec.variable(rules.version_variable);
  return said != nullptr && pep::Version::try_parse(*said) ? *said : "";
}

// setup.py reads them without a default. This is not an error, because some may not matter for this build.
void note_unset_variables(const BuildSpec& spec, const std::vector<std::string>& required, Notes& notes) {
  for (const std::string& name : required) {
    const auto same = [&](const auto& pair) { return pair.first == name; };
    const Pairs &fixed = spec.variables.fixed, &loose = spec.variables.loose;
    if (std::any_of(fixed.begin(), fixed.end(), same) || std::any_of(loose.begin(), loose.end(), same)) continue;
    notes.add(
        fmt::format("warning: {}: setup.py reads {} without a default, and nothing sets it; --env {}=VALUE sets it",
                    spec.package, name, name));
  }
}

}  // namespace

// Whether the index has a wheel of the required version for this interpreter, so that it need not be built.
namespace {

// Uses the interpreter's environment unchanged: all build requirements must be installed already. A version outside the
// required range is the user's decision; a missing package is an error.
void use_installed(BuildSpec& spec, Notes& notes) {
  EnvironmentSpec& environment = spec.environment;
  environment.resolve_late = false;
  environment.installed = env::installed_packages(spec.python);
  const env::UnmetRequirements unmet =
      env::unmet_requirements(environment.requirements, environment.installed, spec.python);
  if (!unmet.missing.empty())
    throw Error(fmt::format(
        "{0}: the build requires {2}, which {1} does not have, and --no-build-isolation installs nothing; run: {1} "
        "-m pip install {3}",
        spec.package, spec.python.executable.string(), join(unmet.missing, " "), sys::shell_quoted(unmet.missing)));
  for (const std::string& requirement : unmet.other_version)
    notes.add(fmt::format("{} requires {}; it is built with the installed version", spec.package, requirement));
}

}  // namespace

bool Planner::is_published(Draft& draft, const recipe::Dependency& need) {
  if (need.published.empty()) return false;
  const BuildSpec& spec = draft.step.spec;
  std::string wanted = need.published;
  if (!need.published_version.empty()) {
    const auto text = m_sources.text(spec.source, need.published_version);
    if (!text) return false;
    wanted += "==" + std::string(trim(*text));
  }
  try {
    const env::Lock& lock = m_locks.resolve(spec.package, {wanted}, spec.python, spec.environment.torch);
    if (const env::PinnedWheel* wheel = lock.find(need.published)) draft.need_versions[need.recipe] = wheel->version;
  } catch (const Error& error) {  // it is built instead, and the note gives the reason
    m_notes.add(fmt::format("{} is built, because {} is not available ({})", need.recipe, wanted, error.what()));
    return false;
  }
  m_notes.add(fmt::format("{} is not built, because {} is published", need.recipe, wanted));
  return true;
}

bool Planner::is_left_out(const recipe::Recipe& recipe, const recipe::Dependency& need) {
  const auto same = [&](const std::string& name) { return pep::same_name(name, need.recipe); };
  if (std::none_of(m_request.without.begin(), m_request.without.end(), same)) return false;
  if (!need.optional)
    throw RequestError(fmt::format("--without {}: {} cannot be built without it{}", need.recipe, recipe.name,
                                   need.why.empty() ? "" : ": " + need.why));
  m_left_out.insert(need.recipe);
  m_notes.add(fmt::format("{}: built without {} (--without)", recipe.name, need.recipe));
  return true;
}

std::string Planner::add_need(const Draft& draft, const recipe::Dependency& need) {
  const BuildSpec& spec = draft.step.spec;
  try {
    const recipe::Recipe& other = m_sources.recipe(need.recipe);
    const recipe::Variant variant = choose::dependency_variant(other, spec.variant);
    const gpu::ArchList archs = variant == spec.variant ? spec.archs : gpu::ArchList{};
    return add_step(other, variant, need.target, archs, spec.python, need.optional);
  } catch (const Error& error) {  // an optional dependency does not stop the plan
    if (!need.optional) throw;
    m_notes.add(fmt::format("warning: {}: built without the optional {}, which cannot be planned: {}", spec.package,
                            need.recipe, error.what()));
    return "";
  }
}

void Planner::add_needs(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                        std::vector<std::string>& requirements) {
  const BuildSpec& spec = draft.step.spec;
  for (const recipe::Dependency& need : rules.needs) {
    if (need.recipe.empty()) {
      if (!need.companion) requirements.push_back(need.requirement);
      continue;
    }
    if (is_left_out(recipe, need)) continue;
    if (is_published(draft, need)) {
      draft.published.push_back(need.recipe);
      continue;
    }
    const std::string id = add_need(draft, need);
    if (id.empty()) continue;
    add_edge(draft.step.needs, {.kind = need.companion ? Edge::Kind::alongside : Edge::Kind::environment,
                                .step = id,
                                .optional = need.optional});
    if (!step(id).is_skipped()) draft.need_versions[need.recipe] = step(id).spec.version;
  }
  const recipe::Recipe* torch = rules.requires_versions.uses_torch ? m_sources.built_torch(recipe) : nullptr;
  if (torch == nullptr) return;
  choose::Request of_torch = m_request;
  of_torch.target.clear();
  const auto archs = archs_for(of_torch, *torch, spec.variant, spec.python);
  add_edge(draft.step.needs, {.kind = Edge::Kind::environment,
                              .step = add_step(*torch, spec.variant, "", archs.front(), spec.python),
                              .optional = false});
}

const choose::TorchChoice& Planner::torch_for(const BuildSpec& spec, const recipe::Recipe& recipe,
                                              const recipe::Rules& rules) {
  const std::string name =
      fmt::format("{} {} {} {}{}", spec.python.executable.string(), spec.package, recipe::to_string(spec.variant),
                  spec.target, rules.requires_versions.uses_torch ? "" : " none");
  const auto known = m_torches.find(name);
  if (known != m_torches.end()) return known->second;
  auto chosen = m_sources.torch(recipe, rules, spec.variant, spec.target, spec.python);
  m_notes.add(chosen.notes);
  return m_torches.emplace(name, std::move(chosen.what)).first->second;
}

void Planner::choose_environment(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                                 const PinnedSource& source, std::vector<std::string> needed) {
  BuildSpec& spec = draft.step.spec;
  EnvironmentSpec& environment = spec.environment;
  const Step* built_torch = nullptr;
  for (const Edge& need : draft.step.needs) {
    if (need.kind != Edge::Kind::environment) continue;
    environment.resolve_late = true;
    if (pep::same_name(step(need.step).spec.project, "torch")) built_torch = &step(need.step);
  }
  if (built_torch == nullptr) environment.torch = torch_for(spec, recipe, rules);
  environment.requirements = build_requirements(
      {.rules = rules, .facts = source.facts, .needed = std::move(needed), .torch = environment.torch});
  check_requirements(environment.requirements, recipe.name);
  environment.isolated = m_request.isolated;
  if (!environment.isolated) use_installed(spec, m_notes);
  const auto resolve = [&] {
    if (environment.isolated && !environment.resolve_late)
      environment.lock = m_locks.resolve(spec.package, environment.requirements, spec.python, environment.torch);
  };
  if (environment.torch.kind == choose::TorchChoice::Kind::environment) {
    environment.torch_build = m_locks.torch_build(environment.torch, spec.python);
    if (environment.torch_build.version.empty())
      throw Error(fmt::format("{} has no torch", environment.torch.python.string()));
  } else if (built_torch != nullptr) {
    const BuildSpec& torch = built_torch->spec;
    environment.torch_build = {torch.wheel_version.empty() ? torch.version : torch.wheel_version,
                               torch.tools.cuda.version, torch.tools.rocm.version};
  } else {
    resolve();
    environment.torch_build = choose::locked_torch(environment.lock);
  }
  const choose::TorchBuild& torch = environment.torch_build;
  if (spec.variant == recipe::Variant::cuda && !torch.version.empty() && torch.cuda.empty()) {
    throw Error(
        fmt::format("{} is built for CUDA, but torch {} is a {} build; choose another with --torch "
                    "(a version, CHANNEL/cuNNN, a wheel or an environment)",
                    spec.package, torch.version, torch.hip.empty() ? "CPU" : "ROCm"));
  }
  if (spec.variant == recipe::Variant::cuda)
    spec.tools.cuda = plan_cuda(spec, rules, m_tools, m_locks, m_notes, environment.requirements);
  if (const std::string& version = spec.tools.cuda.index_version; !version.empty()) {
    const Settings settings = choose::chosen_settings(recipe, m_request);
    for (const std::string& more : library_requirements(spec, rules, settings, m_inputs.host, version))
      environment.requirements.push_back(more);
  }
  resolve();
}

void Planner::write_out(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                        const PinnedSource& source) {
  BuildSpec& spec = draft.step.spec;
  PatchTexts patches = read_patches(recipe, source.patchset, m_inputs);
  if (spec.source.incremental && !spec.editable && !(patches.early.empty() && patches.hipified.empty())) {
    patches = {};
    m_notes.add(fmt::format("{} is built from {} unchanged, without the recipe's patches", recipe.name,
                            spec.source.folder.string()));
  }
  std::vector<FetchSource> fetches;
  Placeholders values;
  if (spec.source.kind != source::Pin::Kind::program) {
    fetches = m_sources.fetches(spec, rules);
    m_tools.choose(spec.tools, rules);
    spec.tools.libraries = plan_libraries(spec, rules, choose::chosen_settings(recipe, m_request), m_inputs.host);
    m_notes.add(library_notes(spec, rules, m_inputs.host));
    values = placeholder_values({.spec = spec,
                                 .recipe = recipe,
                                 .rules = rules,
                                 .settings = choose::chosen_settings(recipe, m_request),
                                 .need_versions = draft.need_versions,
                                 .fetches = fetches});
    for (const Pairs* pairs : {&rules.environment, &rules.append}) {
      for (const auto& [name, text] : *pairs)
        check_expanded_requirements(name, text, recipe::expand(text, values), recipe.name);
    }
    spec.variables = make_variables(
        {spec, rules, values, fetches, m_request.environment, m_inputs.host, m_request.allow_unsupported_compiler});
    spec.wheel_version = wheel_version(spec, rules);
    note_unset_variables(spec, source.facts.required_variables, m_notes);
    const bool asks = std::any_of(rules.environment.begin(), rules.environment.end(),
                                  [](const auto& pair) { return pair.second.find("{version") != std::string::npos; });
    if (spec.version.empty() && !spec.source.git_commit.empty() && asks)
      m_notes.add(fmt::format(
          "{}: commit {} is not a release, so its version is 0.0.dev0; --ref with a tag, or --env, gives it "
          "another",
          spec.package, spec.source.git_commit.substr(0, 8)));
  }
  recipe::Rules known = rules;
  if (const auto names = sdk_names(spec.tools.rocm, rules.preload, m_inputs.host)) {
    std::vector<std::string> notes;
    known.preload.libraries = recipe::known_to_sdk(rules.preload, *names, notes);
    for (const std::string& note : notes) m_notes.add(fmt::format("{}: {}", recipe.name, note));
  }
  if (spec.editable) {
    const std::string hipify = choose::choose_parts(recipe, rules).hipify;
    for (const std::string& what : skipped_in_place({spec, known, values, fetches, patches, hipify}))
      m_notes.add(fmt::format("warning: {}: skipping {}, because {} is built unchanged (--editable)", recipe.name, what,
                              spec.source.folder.string()));
    patches = {};
  }
  // A local folder is built unchanged.
  const std::string hipify = spec.source.incremental ? "" : choose::choose_parts(recipe, rules).hipify;
  if (hipify.empty() && !patches.hipified.empty())
    m_notes.add(fmt::format("{}: skipped {} hipified patch{} of the set, because the source is not hipified",
                            recipe.name, patches.hipified.size(), patches.hipified.size() == 1 ? "" : "es"));
  spec.actions = make_actions({spec, known, values, fetches, std::move(patches), hipify});
  for (Action& action : spec.actions) {
    auto* command = std::get_if<RunCommand>(&action.what);
    if (command != nullptr && m_request.network == "off") command->network = false;
  }
  if (values.empty()) return;
  Closing& closing = draft.step.closing;
  for (recipe::RuntimeVariable variable : rules.runtime) {
    variable.value = recipe::expand(variable.value, values);
    if (!variable.value.empty()) closing.runtime.push_back(std::move(variable));
  }
  for (recipe::ChecklistItem item : rules.checklist) {
    for (std::string& folder : item.folders) folder = recipe::expand(folder, values);
    closing.checklist.push_back(std::move(item));
  }
  for (const recipe::OtherPlatform& other : rules.platforms) {
    if (!spec.platform.empty() && glob_match(other.match, spec.platform)) closing.other_rules.push_back(other);
  }
}

}  // namespace wheelsmith::plan
