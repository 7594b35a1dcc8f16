#include "plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/request_error.h"
#include "base/text.h"
#include "choose/editable.h"
#include "choose/python.h"
#include "choose/recipe.h"
#include "choose/user_variables.h"
#include "choose/variants.h"
#include "env/env.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "plan/downloads.h"
#include "plan/forecast.h"
#include "plan/rocm.h"
#include "plan/step/key.h"
#include "source/git/git.h"
#include "source/git/mirrors.h"
#include "toolchain/description.h"

namespace wheelsmith::plan {

namespace {

// Dependencies are planned recursively, so the depth is limited.
constexpr std::size_t k_longest_chain = 200;

std::string step_id(const std::string& package, recipe::Variant variant, const std::string& target,
                    const std::string& abi, const gpu::ArchList& archs) {
  std::string id = fmt::format("{}-{}", package, recipe::to_string(variant));
  if (!target.empty()) id += "-" + target;
  id += "-" + abi;
  if (!archs.requests.empty()) id += "-" + archs.to_string();
  return id;
}

std::string project_name(const recipe::Recipe& recipe, const recipe::Rules& rules) {
  if (!rules.project.empty()) return rules.project;
  return recipe.project.empty() ? recipe.name : recipe.project;
}

// Only one build at a time runs in a folder, so links and logs belong to the folder. Build systems write these paths
// into their configuration, so the name must not change.
void make_editable(BuildSpec& spec) {
  spec.editable = true;
  const std::string folder = (spec.source.folder / spec.subfolder).string();
  spec.identity = fmt::format("{}-editable-{}", spec.package, to_hex(sha256(Bytes(folder))).substr(0, 12));
  (void)env::install_target(spec.python);  // reports an unmodifiable environment before building
}

// Omits variables with a password, because the variables go into scripts.
sys::Environment open_mirrors(const std::map<std::string, std::string>& mirrors) {
  std::map<std::string, std::string> open;
  for (const auto& [from, to] : mirrors) {
    if (fetch::without_credentials(to) == to) open.emplace(from, to);
  }
  return source::Mirrors(open).git_variables();
}

}  // namespace

const Step* Plan::find(std::string_view id) const {
  for (const Step& step : steps) {
    if (step.id() == id) return &step;
  }
  return nullptr;
}

Planner::Planner(const choose::Request& request, const PlanInputs& inputs)
    : m_request(request),
      m_inputs(inputs),
      m_locks(request, inputs),
      m_sources(request, inputs, m_locks, m_notes),
      m_tools(inputs.host),
      m_gpus(toolchain::find_gpus(inputs.host)) {}

Plan Planner::make() {
  if (m_request.packages.empty()) throw RequestError("no package given; name one, or list packages in wheelsmith.toml");
  choose::check_editable(m_request);
  m_notes.add(choose::exported_notes(m_inputs.host.environment));
  const std::vector<toolchain::Python> pythons = choose::choose_pythons(m_request, m_inputs.host);
  for (const std::string& package : m_request.packages) {
    const recipe::Recipe& recipe = m_sources.recipe(package);
    for (const toolchain::Python& python : pythons) add_package(recipe, python);
  }
  std::set<std::string> in_place;
  for (const Step& step : m_plan.steps) {
    if (step.spec.editable && !in_place.insert(step.spec.identity).second)
      throw RequestError(
          fmt::format("--editable builds one variant for one list of architectures, because all files are in one "
                      "folder; select them for {} with --variant and --arch",
                      step.spec.package));
  }
  std::vector<const recipe::Recipe*> built;
  for (const Step& step : m_plan.steps) built.push_back(&m_sources.recipe(step.spec.package));
  m_notes.add(choose::reject_typos(m_request, built, m_inputs.recipes));
  for (const std::string& name : m_request.without) {
    const auto same = [&](const std::string& other) { return pep::same_name(other, name); };
    if (std::none_of(m_left_out.begin(), m_left_out.end(), same))
      throw RequestError(
          fmt::format("--without {}: no package of this build has such an optional dependency", printable(name)));
  }
  m_plan.notes = m_notes.take();
  m_plan.git_variables = open_mirrors(m_inputs.fetcher.options().mirrors);
  return std::move(m_plan);
}

void Planner::add_package(const recipe::Recipe& recipe, const toolchain::Python& python) {
  const auto variants = choose::choose_variants(m_request, recipe, m_gpus);
  m_notes.add(variants.notes);
  for (const recipe::Variant variant : variants.what) {
    (void)recipe.rules(variant, m_request.target);  // throws Error that lists the valid targets
    for (const gpu::ArchList& archs : archs_for(m_request, recipe, variant, python)) {
      const std::string id = add_step(recipe, variant, m_request.target, archs, python);
      m_plan.steps[m_steps.at(id)].closing.asked_for = true;
    }
  }
}

std::vector<gpu::ArchList> Planner::archs_for(const choose::Request& request, const recipe::Recipe& recipe,
                                              recipe::Variant variant, const toolchain::Python& python) {
  std::optional<recipe::Recipe> resolved;
  const std::string& target = request.target;
  const recipe::Rules& rules = recipe.rules(variant, target);
  // Rejects what is never supported before downloading anything.
  const bool refused =
      choose::find_refusal(recipe, rules, {}, choose::chosen_settings(recipe, m_request)).what.has_value();
  if (variant != recipe::Variant::cpu && !refused && recipe.depends_on_conditions(variant, target)) {
    std::vector<std::string> ignored;
    resolved = recipe.resolved_for(variant, target, conditions_without_archs(recipe, variant, target, python), ignored)
                   .with_reads(variant, target, m_sources.reader(recipe, variant, target, python), ignored);
  }
  const auto archs =
      choose::choose_archs(request, resolved ? *resolved : recipe, variant, m_gpus, m_inputs.host.environment);
  m_notes.add(archs.notes);
  return archs.what;
}

std::string Planner::add_step(const recipe::Recipe& given, recipe::Variant variant, const std::string& target,
                              const gpu::ArchList& archs, const toolchain::Python& python, bool optional) {
  const recipe::Rules& given_rules = given.rules(variant, target);
  const std::string id = step_id(given.name, variant, target, python.abi, archs);
  if (m_steps.contains(id)) return id;
  if (m_in_progress.size() >= k_longest_chain)
    throw Error(fmt::format("dependency chain of more than {} packages, at {}", k_longest_chain, id));
  if (!m_in_progress.insert(id).second) throw Error(fmt::format("circular dependency between recipes, at {}", id));
  // An optional step that cannot be planned is skipped, and may be requested again.
  const auto leave = [&](const std::string* one) { m_in_progress.erase(*one); };
  const std::unique_ptr<const std::string, decltype(leave)> in_progress(&id, leave);
  Draft draft;
  BuildSpec& spec = draft.step.spec;
  spec.id = spec.identity = id;
  spec.package = given.name;
  spec.project = project_name(given, given_rules);
  spec.variant = variant;
  spec.target = target;
  spec.archs = archs;
  spec.platform = m_request.platform;
  spec.build_type = m_request.build_type;
  spec.container = m_request.container;
  spec.verbose = m_request.verbose;
  spec.recipe_origin = given.origin;
  spec.python = python;
  draft.step.closing.assumptions = given.assumptions;

  if (refuse(draft, given, given_rules, optional, false)) return add(std::move(draft));
  const PinnedSource& source = m_sources.source(given, variant, target, python);
  spec.source = source.pin;
  spec.version = source.pin.version;
  spec.subfolder = source.subfolder;
  if (spec.source.incremental && choose::is_editable(m_request, given.name, spec.project)) make_editable(spec);
  const std::optional<recipe::Recipe> settled = settle(draft, given, source);
  const recipe::Recipe& recipe = settled ? *settled : given;
  const recipe::Rules& rules = recipe.rules(variant, target);
  if (refuse(draft, recipe, rules, optional, true)) return add(std::move(draft));
  compare_with_source(draft, recipe, rules, source);
  spec.project = project_name(recipe, rules);
  spec.network = m_request.network == "on" || (m_request.network == "recipe" && rules.network);
  if (!rules.requires_versions.python.empty() &&
      !pep::contains(pep::parse_specifiers(rules.requires_versions.python), pep::Version::parse(python.version))) {
    throw Error(fmt::format("{} requires Python {}, but {} is {}", recipe.name, rules.requires_versions.python,
                            python.executable.string(), python.version));
  }
  // The needed submodules may depend on the version.
  if (spec.source.kind == source::Pin::Kind::git && rules.checkout.submodules &&
      spec.source.submodules != rules.checkout.submodules) {
    spec.source.submodules = rules.checkout.submodules;
    spec.source.digest = source::git_digest(spec.source);
  }
  write_out(draft, recipe, rules, source);
  set_key(draft, recipe, source, settled.has_value());
  decide(draft, rules);
  return add(std::move(draft));
}

// Whether the recipe refuses to build the step; an optional step is then skipped.
bool Planner::refuse(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules, bool optional,
                     bool settled) {
  const auto refused = [&](const std::string& why) {
    if (!optional) throw Error(why);
    draft.step.decision.skipped = draft.step.decision.reason = why;
    return true;
  };
  const auto refusal =
      choose::find_refusal(recipe, rules, draft.step.spec.archs, choose::chosen_settings(recipe, m_request));
  m_notes.add(refusal.notes);
  if (refusal.what) return refused(*refusal.what);
  if (!optional && !settled) return false;  // the valid architectures may depend on the source
  try {
    recipe::check_legal(draft.step.spec.archs, rules.archs, recipe.name);
  } catch (const Error& error) {  // an optional step that cannot be built is skipped, with this reason
    if (!optional) throw;
    return refused(error.what());
  }
  return false;
}

std::string Planner::add(Draft draft) {
  if (draft.step.is_skipped()) draft.step.spec.key = draft.step.spec.manifest.key();
  const std::string id = draft.step.id();
  m_steps.emplace(id, m_plan.steps.size());
  m_plan.steps.push_back(std::move(draft.step));
  return id;
}

void Planner::choose_dependencies(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                                  const PinnedSource& source) {
  std::vector<std::string> needed;
  add_needs(draft, recipe, rules, needed);
  BuildSpec& spec = draft.step.spec;
  if (spec.variant == recipe::Variant::rocm) {
    auto rocm = plan_rocm(spec, rules, m_request, m_inputs);
    m_notes.add(rocm.notes);
    spec.tools.rocm = std::move(rocm.what);
  }
  choose_environment(draft, recipe, rules, source, std::move(needed));
}

void Planner::set_key(Draft& draft, const recipe::Recipe& recipe, const PinnedSource& source, bool own_recipe) {
  BuildSpec& spec = draft.step.spec;
  std::string own_text;
  std::string& text = own_recipe ? own_text : m_recipe_texts[recipe.name];
  if (text.empty()) text = recipe.to_toml();
  spec.recipe_text = text;
  std::string& digest = m_recipe_digests[fmt::format("{} {} {} {}", recipe.name, static_cast<int>(spec.variant),
                                                     spec.target, own_recipe ? text : "")];
  if (digest.empty()) digest = recipe_digest(recipe, spec.variant, spec.target);
  KeyInputs inputs{.spec = spec, .recipe_digest = digest};
  inputs.source_files = source.files;
  inputs.tools = m_tools.digests(spec.tools);
  if (spec.variant == recipe::Variant::rocm) {
    for (auto& one : rocm_digests(spec, m_inputs.host)) inputs.tools.push_back(std::move(one));
  }
  if (spec.environment.torch.kind == choose::TorchChoice::Kind::environment) {
    if (const auto torch = toolchain::find_torch(spec.environment.torch.python, false, m_inputs.host))
      inputs.torch = fmt::format("{} {}", torch->version, torch->digest);
  }
  for (const Edge& need : draft.step.needs) {
    if (need.kind != Edge::Kind::environment) continue;
    const BuildSpec& other = step(need.step).spec;
    if (other.editable)
      throw RequestError(
          fmt::format("--editable: {0} needs a wheel of {1}, which an editable install does not produce; install {1} "
                      "first, then build {0} with --no-build-isolation",
                      spec.package, other.package));
    inputs.steps.emplace_back(need.step, other.key);
  }
  inputs.secrets = m_request.environment;
  spec.manifest = make_manifest(inputs);
  spec.key = spec.manifest.key();
}

std::optional<std::vector<EnvironmentWheel>> Planner::environment_wheels(const Step& of) {
  std::vector<EnvironmentWheel> wheels;
  std::set<std::string> seen;
  std::vector<const Step*> left{&of};
  while (!left.empty()) {
    const Step* one = left.back();
    left.pop_back();
    for (const Edge& need : one->needs) {
      if (need.kind != Edge::Kind::environment || !seen.insert(need.step).second) continue;
      const Step& other = step(need.step);
      if (other.is_skipped()) continue;
      const std::string& key = other.decision.kept_key.empty() ? other.spec.key : other.decision.kept_key;
      const auto record = other.decision.cached ? m_inputs.store.find_step(key) : std::nullopt;
      if (!record) return std::nullopt;
      wheels.push_back({other.spec.project, record->wheel_name, record->wheel_sha256});
      left.push_back(&other);
    }
  }
  return wheels;
}

bool Planner::keep_earlier(Draft& draft, std::string& why_not) {
  const BuildSpec& spec = draft.step.spec;
  const auto is_in_environment = [](const Edge& need) { return need.kind == Edge::Kind::environment; };
  if (m_request.exact || std::none_of(draft.step.needs.begin(), draft.step.needs.end(), is_in_environment))
    return false;
  const auto wheels = environment_wheels(draft.step);
  if (!wheels) {
    if (!may_be_kept(spec, m_inputs.store)) return false;
    std::vector<std::string> names;
    for (const Edge& need : draft.step.needs) {
      if (is_in_environment(need) && !step(need.step).decision.cached) names.push_back(step(need.step).spec.package);
    }
    why_not = names.empty() ? "it is kept if the ABI of its dependencies is unchanged"
                            : fmt::format("it is kept if the ABI of {} is unchanged", join(names, ", "));
    return false;
  }
  CutOff found = find_kept(spec, *wheels, m_inputs.store);
  why_not = std::move(found.why_not);
  if (!found.kept) return false;
  Decision& decision = draft.step.decision;
  decision.cached = true;
  decision.kept_key = found.kept->record.key;
  decision.rebuilt = std::move(found.kept->rebuilt);
  decision.reason = kept_reason(spec.package, decision.rebuilt);
  return true;
}

void Planner::decide(Draft& draft, const recipe::Rules& rules) {
  BuildSpec& spec = draft.step.spec;
  Decision& decision = draft.step.decision;
  if (m_inputs.host.described) {
    // Builds on this machine do not apply to another one.
    decision.forecast = estimate(spec.archs, rules.known, m_inputs.host.described->cores);
    decision.reason = fmt::format("planned for {}", m_inputs.host.described->name);
    return;
  }
  decision.forecast = forecast(spec, rules.known, m_inputs.store);
  spec.uncacheable = spec.source.incremental;
  if (spec.uncacheable) decision.reason = "its source is a local folder, which is never cached";
  if (spec.editable) decision.reason = fmt::format("{} is built in place", spec.source.folder.string());
  for (const Edge& need : draft.step.needs) {
    if (need.kind == Edge::Kind::alongside || !step(need.step).spec.uncacheable || spec.uncacheable) continue;
    spec.uncacheable = true;
    decision.reason = fmt::format("it needs {}, whose source is a local folder, which is never cached", need.step);
  }
  if (spec.uncacheable) {
    decision.download = forecast_downloads(spec, m_inputs);
    return;
  }
  if (const auto record = m_inputs.store.find_step(spec.key)) {
    decision.cached = true;
    decision.reason = fmt::format("{} is in the store", record->wheel_name);
    return;
  }
  if (m_inputs.find_remote) {
    if (const auto found = m_inputs.find_remote(spec.key)) {
      decision.cached = true;
      decision.remote = found->url;
      decision.reason = fmt::format("{} is in the remote store {}", found->wheel_name, found->url);
      return;
    }
  }
  std::string why_not;
  if (keep_earlier(draft, why_not)) return;
  decision.download = forecast_downloads(spec, m_inputs);
  const auto last = m_inputs.store.last_try(spec.identity);
  if (!last) {
    decision.reason = "it has never been built here";
    return;
  }
  const std::vector<store::Change> different = store::changes(*last, spec.manifest);
  decision.reason = different.empty() ? "the last build did not finish" : store::reason(different);
  if (!why_not.empty()) decision.reason += "; " + why_not;
}

Plan make_plan(const choose::Request& request, const PlanInputs& inputs) {
  Plan plan = Planner(request, inputs).make();
  if (inputs.remote_notes) {
    for (std::string& note : inputs.remote_notes()) plan.notes.push_back(std::move(note));
  }
  return plan;
}

}  // namespace wheelsmith::plan
