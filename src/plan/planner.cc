#include "plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "plan/choose.h"
#include "plan/described.h"
#include "plan/manifest_inputs.h"
#include "plan/rocm.h"
#include "plan/source_facts.h"
#include "plan/variables.h"
#include "source/git/git.h"
#include "source/git/mirrors.h"
#include "toolchain/description.h"

namespace wheelsmith::plan {

namespace {

std::string step_id(const std::string& package, recipe::Variant variant, const std::string& target,
                    const std::string& abi, const gpu::ArchList& archs) {
  std::string id = fmt::format("{}-{}", package, recipe::to_string(variant));
  if (!target.empty()) id += "-" + target;
  id += "-" + abi;
  if (!archs.requests.empty()) id += "-" + archs.to_string();
  return id;
}

}  // namespace

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
}

Planner::Planner(const Request& request, const PlanInputs& inputs)
    : m_request(request), m_inputs(inputs), m_gpus(toolchain::find_gpus(inputs.host)) {}

void Planner::note(const std::string& sentence) { add_once(m_plan.notes, sentence); }

Plan Planner::make() {
  if (m_request.packages.empty())
    throw RequestError("nothing to build: name a package, or list packages in wheelsmith.toml");
  const std::vector<toolchain::Python> pythons = choose_pythons(m_request, m_inputs);
  for (const std::string& package : m_request.packages) {
    const recipe::Recipe& recipe = recipe_for(package);
    for (const toolchain::Python& python : pythons) add_package(recipe, python);
  }
  reject_typos();
  std::map<std::string, std::string> open;
  for (const auto& [from, to] : m_inputs.fetcher.options().mirrors) {
    if (fetch::without_credentials(to) == to) open.emplace(from, to);
  }
  m_plan.git_variables = source::Mirrors(open).git_variables();
  return std::move(m_plan);
}

// A project's file may hold words for packages that are not built this time; a name that is almost one of those that
// are is a slip, and would build something else than was meant.
void Planner::reject_typos() {
  std::vector<std::string> packages, settings;
  for (const Step& step : m_plan.steps) {
    add_once(packages, step.package);
    for (const recipe::Setting& setting : recipe_for(step.package).settings) add_once(settings, setting.name);
  }
  const auto look = [&](const std::string& option, const std::string& name, const std::vector<std::string>& known) {
    const auto same = [&](const std::string& other) { return other == name || pep::same_name(other, name); };
    if (std::any_of(known.begin(), known.end(), same)) return;
    const auto near = nearest(name, known);
    if (near && name.size() > 4 && m_inputs.recipes.find(name) == nullptr)
      throw RequestError(
          fmt::format("{} {}: nothing here has that name; did you mean {}?", option, printable(name), *near));
    note(fmt::format("{} {} is not used: nothing here has that name", option, printable(name)));
  };
  for (const source::Override& user : m_request.sources) {
    if (!user.name.empty()) look("--source", user.name, packages);
    if (user.name.empty() && user.project.empty() && m_request.packages.size() > 1)
      throw RequestError("--source: several packages are built; say which one it is of: --source NAME=PLACE");
  }
  // A project's file may set words of recipes that are not built now; a word of no recipe at all is a slip.
  std::vector<std::string> of_any = settings;
  for (const std::string& name : m_inputs.recipes.names()) {
    for (const recipe::Setting& setting : m_inputs.recipes.find(name)->settings) add_once(of_any, setting.name);
  }
  for (const auto& [name, value] : m_request.set) {
    if (std::find(of_any.begin(), of_any.end(), name) == of_any.end()) {
      const auto near = nearest(name, settings.empty() ? of_any : settings);
      throw RequestError(fmt::format("--set {}: no recipe has such a setting; {}", printable(name),
                                     near               ? "did you mean " + *near + "?"
                                     : settings.empty() ? "those that are built have none"
                                                        : "there are " + join(settings, ", ")));
    }
    look("--set", name, settings);
  }
}

void Planner::add_package(const recipe::Recipe& recipe, const toolchain::Python& python) {
  for (const recipe::Variant variant : choose_variants(m_request, recipe, m_gpus, m_plan.notes)) {
    (void)recipe.rules(variant, m_request.target);  // says what is legal
    for (const gpu::ArchList& archs : archs_for(recipe, variant, python)) {
      m_plan.steps[m_steps.at(add_step(recipe, variant, m_request.target, archs, python))].asked_for = true;
    }
  }
  std::vector<std::string> unique;
  for (const std::string& sentence : m_plan.notes) add_once(unique, sentence);
  m_plan.notes = std::move(unique);
}

// A recipe's own list may depend on the toolkit, which is not chosen before the list is: what can be known by then is
// the toolkit of torch, or of the machine.
std::vector<gpu::ArchList> Planner::archs_for(const recipe::Recipe& recipe, recipe::Variant variant,
                                              const toolchain::Python& python) {
  std::optional<recipe::Recipe> under;
  if (m_request.archs.empty() && variant != recipe::Variant::cpu &&
      recipe.depends_on_conditions(variant, m_request.target)) {
    Step step;
    step.package = recipe.name;
    step.python = python;
    step.variant = variant;
    step.build_type = m_request.build_type;
    step.platform = m_request.platform;
    if (variant == recipe::Variant::rocm) {
      if (const auto rocm = toolchain::find_rocm(m_inputs.host)) step.rocm_version = rocm->version;
    } else if (!m_cuda_looked_for) {
      m_cuda_looked_for = true;
      m_cuda = toolchain::find_cuda(m_inputs.host);
    }
    const recipe::Rules& rules = recipe.rules(variant, m_request.target);
    if (variant == recipe::Variant::cuda) step.cuda_version = torch_before(recipe, rules, variant, python).cuda;
    if (step.cuda_version.empty() && m_cuda) step.cuda_version = m_cuda->version;
    std::vector<std::string> reasons;
    under = recipe.resolved_for(variant, m_request.target, conditions(step, recipe), reasons);
  }
  return choose_archs(m_request, under ? *under : recipe, variant, m_gpus, m_inputs.host.environment, m_plan.notes);
}

const recipe::Recipe& Planner::recipe_for(const std::string& package) {
  if (const recipe::Recipe* known = m_inputs.recipes.find(package)) return *known;
  // One that could not even be read is known by its file.
  for (const auto& [name, problem] : m_inputs.recipes.broken()) {
    if (pep::same_name(name, package) || pep::same_name(std::filesystem::path(name).stem().string(), package))
      throw RequestError(problem);
  }
  const auto made = m_inferred.find(package);
  if (made != m_inferred.end()) return made->second;
  if (!pep::is_valid_name(package))
    throw RequestError(
        fmt::format("{} is no name of a package (a folder to build from is given by --source)", printable(package)));

  // A stand-in that says no more than where the source is; what is in it makes the real one.
  m_inputs.on_progress(fmt::format("{} has no recipe; looking at its source", package));
  recipe::Recipe stand_in;
  stand_in.name = stand_in.project = package;
  stand_in.source.kind = recipe::Source::Kind::sdist;
  stand_in.source.project = package;
  const Known& known = source_for(stand_in, recipe::Variant::cpu, "", choose_pythons(m_request, m_inputs).front());
  recipe::Recipe recipe = recipe::infer(known.facts);
  recipe.name = package;
  recipe.source = stand_in.source;
  recipe.source.version = known.pin.version;
  for (const std::string& assumption : recipe.assumptions)
    note(fmt::format("{} has no recipe; assumed: {}", package, assumption));
  return m_inferred.emplace(package, std::move(recipe)).first->second;
}

std::string Planner::add_step(const recipe::Recipe& given, recipe::Variant variant, const std::string& target,
                              const gpu::ArchList& archs, const toolchain::Python& python, bool optional) {
  (void)given.rules(variant, target);  // says what is legal
  Step step;
  step.id = step_id(given.name, variant, target, python.abi, archs);
  if (m_steps.contains(step.id)) return step.id;
  if (!m_in_progress.insert(step.id).second)
    throw Error(fmt::format("the recipes need each other in a circle, at {}", step.id));
  step.identity = step.id;
  step.package = given.name;
  step.variant = variant;
  step.target = target;
  step.archs = archs;
  step.recipe_origin = given.origin;
  step.assumptions = given.assumptions;
  step.python = python;
  step.platform = m_request.platform;
  step.build_type = m_request.build_type;
  step.verbose = m_request.verbose;
  if (!m_compiler) m_compiler = toolchain::find_compiler(m_inputs.host);

  if (refuse(step, given, given.rules(variant, target), optional)) return add_skipped(std::move(step), given);
  const Known& known = source_for(given, variant, target, python);
  step.source = known.pin;
  step.version = known.pin.version;

  // What a recipe says may depend on what it makes us choose (the torch, the toolkit): then it is asked again.
  const bool depends = given.depends_on_conditions(variant, target);
  std::optional<recipe::Recipe> under;
  std::vector<std::string> reasons;
  if (depends) under = given.resolved_for(variant, target, conditions(step, given), reasons);
  const auto current = [&]() -> const recipe::Recipe& { return under ? *under : given; };
  if (known.pin.kind != source::Pin::Kind::program) {
    const Step before = step;
    choose_what_it_needs(step, current().rules(variant, target), known);
    if (depends) {
      reasons.clear();
      recipe::Recipe later = given.resolved_for(variant, target, conditions(step, given), reasons);
      if (later.document != under->document) {
        under = std::move(later);
        step = before;
        choose_what_it_needs(step, under->rules(variant, target), known);
      }
    }
  }
  for (const std::string& reason : reasons) note(fmt::format("{}: {}", given.name, reason));

  const recipe::Recipe& recipe = current();
  const recipe::Rules& rules = recipe.rules(variant, target);
  if (depends && refuse(step, recipe, rules, optional)) return add_skipped(std::move(step), recipe);
  step.project = !rules.project.empty() ? rules.project : recipe.project.empty() ? recipe.name : recipe.project;
  std::string own_text;
  std::string& text = depends ? own_text : m_recipe_texts[recipe.name];
  if (text.empty()) text = recipe.to_toml();
  step.recipe_text = text;
  step.network = m_request.network == "on" || (m_request.network == "recipe" && rules.network);
  if (!rules.requires_versions.python.empty() &&
      !pep::contains(pep::parse_specifiers(rules.requires_versions.python), pep::Version::parse(python.version))) {
    throw Error(fmt::format("{} wants Python {}, but {} is {}", recipe.name, rules.requires_versions.python,
                            python.executable.string(), python.version));
  }
  // Which submodules are needed may depend on the version.
  if (step.source.kind == source::Pin::Kind::git && rules.checkout.submodules &&
      step.source.submodules != rules.checkout.submodules) {
    step.source.submodules = rules.checkout.submodules;
    step.source.digest = source::git_digest(step.source);
  }
  step.patches = read_patches(recipe, known.patchset, m_inputs);
  if (known.pin.incremental && !step.patches.empty()) {
    step.patches.clear();
    note(fmt::format("{} is built from {} as it is, without the recipe's patches", recipe.name,
                     known.pin.folder.string()));
  }
  if (known.pin.kind != source::Pin::Kind::program) {
    add_fetches(step, rules);
    choose_tools(step, rules);
    set_variables(step, recipe, rules, m_request, m_inputs);
    const bool asks = std::any_of(rules.environment.begin(), rules.environment.end(),
                                  [](const auto& pair) { return pair.second.find("{version") != std::string::npos; });
    if (step.version.empty() && !step.source.git_commit.empty() && asks)
      note(fmt::format("{}: commit {} is no release, and is called 0.0.dev0; --ref a tag, or --env, gives it another",
                       step.package, step.source.git_commit.substr(0, 8)));
  }
  fill_manifest(step, recipe, known, depends);
  look_up(step, rules);
  return add(std::move(step));
}

std::string Planner::add_skipped(Step step, const recipe::Recipe& recipe) {
  step.project = recipe.project.empty() ? recipe.name : recipe.project;
  step.reason = step.skipped;
  step.key = step.manifest.key();
  return add(std::move(step));
}

std::string Planner::add(Step step) {
  m_in_progress.erase(step.id);
  m_steps.emplace(step.id, m_plan.steps.size());
  m_plan.steps.push_back(std::move(step));
  return m_plan.steps.back().id;
}

void Planner::fill_manifest(Step& step, const recipe::Recipe& recipe, const Known& known, bool depends) {
  ManifestInputs inputs(step, m_request.environment);
  std::string& digest = m_recipe_digests[fmt::format("{} {} {} {}", recipe.name, static_cast<int>(step.variant),
                                                     step.target, depends ? step.recipe_text : "")];
  if (digest.empty()) digest = recipe_digest(recipe, step.variant, step.target);
  inputs.add_recipe(digest);
  inputs.add_source(known.files);
  if (m_compiler && !step.cc.empty()) inputs.add_tools(m_compiler->digests);
  if (m_cuda && !step.cuda_root.empty()) inputs.add_tools(m_cuda->digests);
  if (step.variant == recipe::Variant::rocm) inputs.add_tools(rocm_inputs(step, m_inputs));
  for (const auto& [name, path] : step.programs)
    inputs.add_tools({{name, m_programs.at(path).version + " " + m_programs.at(path).digest}});
  if (step.torch.kind == TorchChoice::Kind::environment) {
    if (const auto torch = toolchain::find_torch(step.torch.python, false, m_inputs.host)) inputs.add_torch(*torch);
  }
  // A companion is no part of what it is built with: another one makes no other wheel.
  for (const std::string& id : step.needs) {
    if (std::find(step.companions.begin(), step.companions.end(), id) == step.companions.end())
      inputs.add_need(m_plan.steps[m_steps.at(id)]);
  }
  step.manifest = inputs.take();
  step.key = step.manifest.key();
}

void Planner::look_up(Step& step, const recipe::Rules& rules) {
  if (m_inputs.host.described) {
    // What was built here says nothing of another machine.
    step.forecast = known_forecast(step, rules, m_inputs.host.described->cores);
    step.reason = fmt::format("it is planned for {}", m_inputs.host.described->name);
    return;
  }
  step.forecast = forecast(step, rules, m_inputs.store);
  step.uncacheable = step.source.incremental;
  if (step.uncacheable) step.reason = "its source is a folder that is being worked on";
  for (const std::string& id : step.needs) {
    const bool beside = std::find(step.companions.begin(), step.companions.end(), id) != step.companions.end();
    if (beside || !m_plan.steps[m_steps.at(id)].uncacheable || step.uncacheable) continue;
    step.uncacheable = true;
    step.reason = fmt::format("it needs {}, whose source is a folder that is being worked on", id);
  }
  if (step.uncacheable) return;
  if (const auto record = m_inputs.store.find_step(step.key)) {
    step.cached = true;
    step.reason = fmt::format("{} is in the store", record->wheel_name);
    return;
  }
  const auto last = m_inputs.store.last_try(step.identity);
  if (!last) {
    step.reason = "it has never been built here";
    return;
  }
  const std::vector<store::Change> different = store::changes(*last, step.manifest);
  step.reason = different.empty() ? "the last try did not finish" : store::reason(different);
}

Plan make_plan(const Request& request, const PlanInputs& inputs) { return Planner(request, inputs).make(); }

}  // namespace wheelsmith::plan
