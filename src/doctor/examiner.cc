#include "doctor/examiner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "choose/recipe.h"
#include "choose/source.h"
#include "choose/torch.h"
#include "choose/variants.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "plan/sources.h"
#include "source/git/git.h"
#include "source/worktree/checkout_state.h"
#include "sys/file.h"

namespace wheelsmith::doctor {

namespace {

// The version of torch in a requirement, if it names exactly one.
std::optional<toolchain::Torch> pinned_torch(const std::string& text) {
  const pep::Requirement requirement = pep::Requirement::parse(text);
  if (requirement.specifiers.size() != 1 || requirement.specifiers[0].op != "==") return std::nullopt;
  toolchain::Torch torch;
  torch.version = requirement.specifiers[0].version;
  if (torch.version.ends_with(".*")) return std::nullopt;
  const choose::TorchBuild build = choose::torch_of_version(torch.version);
  torch.cuda = build.cuda;
  torch.hip = build.hip;
  return torch;
}

}  // namespace

Examiner::Examiner(const choose::Request& request, const plan::PlanInputs& inputs, Facts facts)
    : m_request(request), m_inputs(inputs), m_facts(std::move(facts)) {}

void Examiner::examine(const std::string& package, const toolchain::Python& python) {
  std::vector<Wanted> needed;
  examine_one(package, python, std::nullopt, false, needed);
  // The list grows during the loop; each recipe is examined once.
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const Wanted need = needed[i];
    if (m_seen.insert(need.recipe + "\n" + python.executable.string()).second)
      examine_one(need.recipe, python, need.variant, need.optional, needed);
  }
}

recipe::Recipe Examiner::resolved(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                  const gpu::ArchList& archs, const toolchain::Python& python) const {
  if (!recipe.all_rules.contains({variant, target}) && !recipe.all_rules.contains({variant, "default"})) return recipe;
  if (!recipe.depends_on_conditions(variant, target)) return recipe;
  recipe::Conditions now = choose::first_conditions(m_request, recipe, python, archs, m_facts.compiler);
  now.ref = ref_of(recipe, variant);
  // A pinned package follows the package that pins it: main with main.
  if (const auto pinning = choose::user_ref(m_request, recipe.source.pinned_by.recipe)) now.ref = *pinning;
  now.version = recipe.source.kind == recipe::Source::Kind::sdist
                    ? recipe.source.version
                    : choose::source_version(recipe, now.ref, std::nullopt);
  read_folder(recipe, now);
  if (m_facts.torch) now.torch = m_facts.torch->version;
  if (m_facts.torch && !m_facts.torch->cuda.empty())
    now.cuda = m_facts.torch->cuda;
  else if (m_facts.cuda)
    now.cuda = m_facts.cuda->version;
  if (m_facts.rocm) now.rocm = m_facts.rocm->version;
  std::vector<std::string> reasons;
  return recipe.resolved_for(variant, target, now, reasons);
}

choose::SourceChoice Examiner::choose_source(const recipe::Recipe& recipe, recipe::Variant variant) const {
  return choose::choose_source(
      {.recipe = recipe,
       .variant = variant,
       .ref = choose::user_ref(m_request, recipe.name).value_or(""),
       .origin = "",
       .torch_named = !m_request.torch.empty(),
       .torch_series = [&] { return m_facts.torch ? choose::torch_series(m_facts.torch->version) : std::string(); }});
}

// The ref that would be built, if it is known without network access.
std::string Examiner::ref_of(const recipe::Recipe& recipe, recipe::Variant variant) const {
  try {
    if (recipe.source.kind == recipe::Source::Kind::git) return choose_source(recipe, variant).ref;
  } catch (const Error&) {  // reported by the check "source"
  }
  return choose::ref_of(recipe, m_request);
}

// A folder given by the user has its own ref and version.
void Examiner::read_folder(const recipe::Recipe& recipe, recipe::Conditions& now) const {
  const auto user = choose::source_override(m_request, recipe.name, recipe.project);
  if (!user || !sys::is_folder(user->path)) return;
  const auto state = source::checkout_state(user->path, recipe.project, recipe.source.tag_prefix);
  const auto file = recipe.source.version_file.empty()
                        ? std::nullopt
                        : sys::read_file_if_there(user->path / recipe.source.version_file, 1 << 20);
  now.ref = state ? state->ref : "";
  now.version = state && !state->tag.empty() ? state->version : choose::source_version(recipe, "", file);
  if (now.version.empty() && state) now.version = state->version;
}

// Whether the repository is reachable. Users often notice a missing network last.
void Examiner::examine_source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& step,
                              bool optional) {
  if (recipe.source.kind != recipe::Source::Kind::git || m_inputs.host.described ||
      choose::source_override(m_request, recipe.name, recipe.project))
    return;
  Check check{.id = "source", .wanted = fetch::without_credentials(recipe.source.url)};
  check.package = recipe.name;
  check.step = step;
  try {
    const choose::SourceChoice choice = choose_source(recipe, variant);
    check.wanted = fmt::format("{} {}", fetch::without_credentials(choice.url), choice.ref);
    source::Repositories repositories = source::repositories_for(m_inputs.fetcher, m_inputs.store);
    check.found = repositories.resolve(choice.url, choice.ref).id;
  } catch (const RequestError& error) {
    check.state = optional ? State::unknown : State::bad;
    check.found = "no release for this torch";
    check.why = error.what();
    check.fix = "--torch VERSION, or --ref TAG";
  } catch (const Error& error) {
    check.state = optional ? State::unknown : State::bad;
    check.found = "not reachable";
    check.why = error.what();
    check.fix = fmt::format("add a mirror under [mirrors] in wheelsmith.toml, or use a checkout: --source {}=FOLDER",
                            recipe.name);
  }
  m_checks.push_back(std::move(check));
}

void Examiner::examine_one(const std::string& package, const toolchain::Python& python,
                           std::optional<recipe::Variant> forced, bool optional, std::vector<Wanted>& needed) {
  const std::optional<recipe::Recipe> given = recipe_for(package, python);
  if (!given) return;
  for (const recipe::Variant variant : variants_of(*given, forced)) {
    const std::string target = forced ? "" : m_request.target;
    for (const gpu::ArchList& archs : archs_of(*given, variant)) {
      find_torch(*given, variant, target, python);
      std::string step =
          fmt::format("{}-{}{}", given->name, recipe::to_string(variant), target.empty() ? "" : "-" + target);
      if (!python.abi.empty()) step += "-" + python.abi;
      if (!archs.requests.empty()) step += "-" + archs.to_string();
      const recipe::Recipe recipe = resolved(*given, variant, target, archs, python);
      m_facts.settings = choose::chosen_settings(recipe, m_request);
      find_required_libraries(recipe, variant, target, python);
      examine_source(recipe, variant, step, optional);
      for (Check& check : doctor::examine(recipe, variant, target, archs, python, m_facts)) {
        check.step = step;
        if (optional && check.state == State::bad) {
          check.state = State::unknown;
          check.why += check.why.empty() ? "the other packages are built without it"
                                         : "; the other packages are built without it";
        }
        m_checks.push_back(std::move(check));
      }
      try {
        for (const recipe::Dependency& need : recipe.rules(variant, target).needs) {
          if (!need.recipe.empty() && !is_left_out(need))
            needed.push_back({need.recipe, variant, optional || need.optional});
        }
      } catch (const Error&) {  // reported by the check "variant"
      }
    }
  }
}

void Examiner::find_required_libraries(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                       const toolchain::Python& python) {
  std::vector<std::filesystem::path> sites;
  if (!m_request.isolated)
    sites = python.sites;
  else if (m_facts.torch && !m_facts.torch->folder.empty())
    sites = {m_facts.torch->folder.parent_path()};
  try {
    doctor::find_required_libraries(m_facts, recipe.rules(variant, target), variant, sites, m_inputs.host);
  } catch (const Error&) {  // reported by the check "variant"
    m_facts.libraries.clear();
  }
}

bool Examiner::is_left_out(const recipe::Dependency& need) const {
  const auto same = [&](const std::string& name) { return pep::same_name(name, need.recipe); };
  return need.optional && std::any_of(m_request.without.begin(), m_request.without.end(), same);
}

std::optional<recipe::Recipe> Examiner::recipe_for(const std::string& package, const toolchain::Python& python) {
  if (const recipe::Recipe* known = choose::find_recipe(m_inputs.recipes, package)) return *known;
  Check check{.id = "recipe", .found = "none; one is inferred from the source", .wanted = "a recipe for " + package};
  check.package = package;
  try {
    recipe::Recipe inferred = plan::infer_recipe(package, m_request, m_inputs, python);
    check.why = join(inferred.assumptions, " ");
    m_checks.push_back(check);
    return inferred;
  } catch (const Error& error) {  // one package becomes a check that is bad
    check.state = State::bad;
    check.found = "none, and its source cannot be read";
    check.why = error.what();
    const auto near = nearest(package, m_inputs.recipes.names());
    check.fix = near ? "did you mean " + *near + "?" : "give a folder or an archive: --source " + package + "=PATH";
    m_checks.push_back(check);
    return std::nullopt;
  }
}

std::vector<recipe::Variant> Examiner::variants_of(const recipe::Recipe& recipe,
                                                   std::optional<recipe::Variant> forced) {
  if (forced) return {choose::dependency_variant(recipe, *forced)};
  return choose::choose_variants(m_request, recipe, m_facts.gpus).what;
}

// The architectures that the plan would use, including those that it would reject.
std::vector<gpu::ArchList> Examiner::archs_of(const recipe::Recipe& recipe, recipe::Variant variant) {
  if (variant == recipe::Variant::cpu) return {{}};
  try {
    return choose::choose_archs(m_request, recipe, variant, m_facts.gpus, m_inputs.host.environment).what;
  } catch (const Error&) {  // reported by the check "archs"
    if (!m_request.archs.empty()) return m_request.archs;
    gpu::ArchList here;
    const gpu::Vendor vendor = variant == recipe::Variant::rocm ? gpu::Vendor::amd : gpu::Vendor::nvidia;
    const auto add = [&](const gpu::Arch& arch) {
      if (arch.vendor == vendor) here.requests.push_back({.arch = arch, .binary = true, .ptx = false});
    };
    for (const gpu::Device& device : m_request.devices) add(device.arch);
    if (m_request.devices.empty()) {
      for (const toolchain::Gpu& gpu : m_facts.gpus) add(gpu.arch);
    }
    return {here};
  }
}

// The torch that the plan would use, if it is known without querying an index.
void Examiner::find_torch(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                          const toolchain::Python& python) {
  m_facts.torch.reset();
  m_facts.torch_problem.clear();
  if (python.executable.empty()) return;
  try {
    const choose::TorchChoice choice =
        choose::choose_torch(m_request, recipe, recipe.rules(variant, target), variant, python, m_inputs.host).what;
    if (choice.kind == choose::TorchChoice::Kind::environment) {
      doctor::find_torch_of(m_facts, choice.python, m_inputs.host);
      if (!m_facts.torch && m_facts.torch_problem.empty())
        m_facts.torch_problem = choice.python.string() + " has no torch";
    } else if (choice.kind == choose::TorchChoice::Kind::requirement) {
      m_facts.torch = pinned_torch(choice.requirement);
    }
  } catch (const Error& error) {  // reported by the check "torch"
    m_facts.torch_problem = error.what();
  }
}

std::vector<Check> examine_plan(const plan::Plan& plan, const PlanExamination& examination,
                                const toolchain::Host& host) {
  std::vector<Check> bad;
  std::optional<Facts> facts;
  std::vector<std::string> programs;
  for (const plan::Step& step : plan.steps) {
    for (const auto& [name, path] : step.spec.tools.programs) programs.push_back(name);
  }
  for (const plan::Step& step : plan.steps) {
    const plan::BuildSpec& spec = step.spec;
    if (step.decision.cached || step.is_skipped() || spec.source.kind == source::Pin::Kind::program) continue;
    if (!facts) {
      facts = collect_facts(host, examination.paths, programs);
      facts->offline = examination.offline;
      facts->allow_unsupported_compiler = examination.allow_unsupported_compiler;
      facts->platform = examination.platform;
      facts->jobs = examination.jobs;
      facts->cuda_named = examination.cuda_named;
      facts->settings = examination.settings;
    }
    facts->registry_cuda = spec.tools.cuda.index_version;
    facts->registry_rocm = spec.tools.rocm.index_version;
    if (spec.variant == recipe::Variant::rocm) find_rocm_of(*facts, spec.python, host);
    facts->torch.reset();
    if (const choose::TorchBuild& torch = spec.environment.torch_build; !torch.version.empty()) {
      facts->torch.emplace();
      facts->torch->version = torch.version;
      facts->torch->cuda = torch.cuda;
      facts->torch->hip = torch.hip;
    }
    facts->libraries.clear();
    for (const toolchain::Library& library : spec.tools.libraries) facts->libraries.emplace(library.name, library);
    const recipe::Recipe recipe = recipe::parse_recipe(spec.recipe_text, spec.recipe_origin);
    for (Check& check : examine(recipe, spec.variant, spec.target, spec.archs, spec.python, *facts)) {
      if (check.state != State::bad) continue;
      check.step = spec.id;
      bad.push_back(std::move(check));
    }
  }
  return bad;
}

}  // namespace wheelsmith::doctor
