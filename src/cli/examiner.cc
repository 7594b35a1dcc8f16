#include "cli/examiner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "plan/choose.h"
#include "plan/described.h"
#include "plan/planner.h"
#include "plan/source_facts.h"
#include "source/git/git.h"

namespace wheelsmith::cli {

namespace {

using doctor::Check;
using doctor::Facts;

// What a requirement says of torch, where it names one version.
std::optional<toolchain::Torch> pinned_torch(const std::string& text) {
  const pep::Requirement requirement = pep::Requirement::parse(text);
  if (requirement.specifiers.size() != 1 || requirement.specifiers[0].op != "==") return std::nullopt;
  toolchain::Torch torch;
  torch.version = requirement.specifiers[0].version;
  if (torch.version.ends_with(".*")) return std::nullopt;
  env::Lock lock;
  lock.wheels.push_back({"torch", torch.version, "", "", ""});
  torch.cuda = plan::locked_torch(lock).cuda;
  torch.hip = plan::locked_torch(lock).hip;
  return torch;
}

}  // namespace

Examiner::Examiner(Session& session, const plan::Request& request, Facts facts)
    : m_session(session), m_request(request), m_inputs(session.inputs()), m_facts(std::move(facts)) {}

void Examiner::examine(const std::string& package, const toolchain::Python& python) {
  Needed needed;
  examine_one(package, python, std::nullopt, false, needed);
  // needed grows while it is walked; what was seen is not looked at again.
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const Need need = needed[i];
    if (m_seen.insert(need.recipe + "\n" + python.executable.string()).second)
      examine_one(need.recipe, python, need.variant, need.optional, needed);
  }
}

recipe::Recipe Examiner::settled(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                 const gpu::ArchList& archs, const toolchain::Python& python) const {
  if (!recipe.all_rules.contains({variant, target}) && !recipe.all_rules.contains({variant, "default"})) return recipe;
  if (!recipe.depends_on_conditions(variant, target)) return recipe;
  recipe::Conditions now;
  now.ref = plan::ref_of(recipe, m_request);
  // A package that another one pins goes along with it: main with main.
  if (const auto pinning = plan::user_ref(m_request, recipe.source.pinned_by.recipe)) now.ref = *pinning;
  const std::string tag =
      now.ref.substr(now.ref.starts_with(recipe.source.tag_prefix) ? recipe.source.tag_prefix.size() : 0);
  now.version = recipe.source.kind == recipe::Source::Kind::sdist ? recipe.source.version
                : pep::Version::try_parse(tag)                    ? tag
                                                                  : "";
  now.python = python.version;
  now.platform = m_request.platform.empty() ? python.platform : m_request.platform;
  now.build_type = m_request.build_type;
  if (m_facts.compiler) {
    now.compiler_family = m_facts.compiler->family;
    now.compiler_version = m_facts.compiler->version;
  }
  if (m_facts.torch) now.torch = m_facts.torch->version;
  if (m_facts.torch && !m_facts.torch->cuda.empty())
    now.cuda = m_facts.torch->cuda;
  else if (m_facts.cuda)
    now.cuda = m_facts.cuda->version;
  if (m_facts.rocm) now.rocm = m_facts.rocm->version;
  for (const gpu::ArchRequest& request : archs.requests) now.archs.push_back(gpu::to_string(request));
  now.settings = plan::chosen_settings(recipe, m_request);
  std::vector<std::string> reasons;
  return recipe.resolved_for(variant, target, now, reasons);
}

// Whether there is a repository to build from. A network that is not there is what people find out last.
void Examiner::examine_source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& step,
                              bool optional) {
  if (recipe.source.kind != recipe::Source::Kind::git || m_inputs.host.described ||
      plan::choose_source(m_request, recipe.name, recipe.project))
    return;
  const std::string ref = plan::ref_of(recipe, m_request);
  std::string url = recipe.source.url;
  const recipe::Source::Family* family = recipe.source.family(ref, recipe::to_string(variant));
  if (family != nullptr && !family->git.empty()) url = family->git;
  Check check{.id = "source", .wanted = fmt::format("{} {}", fetch::without_credentials(url), ref)};
  check.package = recipe.name;
  check.step = step;
  try {
    source::Repositories repositories = source::repositories_for(m_session.fetcher(), m_session.store());
    check.found = repositories.resolve(url, ref).id;
  } catch (const Error& error) {
    check.state = optional ? doctor::State::unknown : doctor::State::bad;
    check.found = "not to be had";
    check.why = error.what();
    check.fix = fmt::format("name a mirror of it under [mirrors] in wheelsmith.toml, or a checkout: --source {}=FOLDER",
                            recipe.name);
  }
  checks.push_back(std::move(check));
}

void Examiner::examine_one(const std::string& package, const toolchain::Python& python,
                           std::optional<recipe::Variant> forced, bool optional, Needed& needed) {
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
      const recipe::Recipe recipe = settled(*given, variant, target, archs, python);
      m_facts.settings = plan::chosen_settings(recipe, m_request);
      examine_source(recipe, variant, step, optional);
      for (Check& check : doctor::examine(recipe, variant, target, archs, python, m_facts)) {
        check.step = step;
        if (optional && check.state == doctor::State::bad) {
          check.state = doctor::State::unknown;
          check.why += check.why.empty() ? "the rest is built without it" : "; the rest is built without it";
        }
        checks.push_back(std::move(check));
      }
      try {
        for (const recipe::Dependency& need : recipe.rules(variant, target).needs) {
          if (!need.recipe.empty()) needed.push_back({need.recipe, variant, optional || need.optional});
        }
      } catch (const Error&) {  // the check "variant" has said it
      }
    }
  }
}

std::optional<recipe::Recipe> Examiner::recipe_for(const std::string& package, const toolchain::Python& python) {
  if (const recipe::Recipe* known = m_session.recipes().find(package)) return *known;
  // One that is no TOML at all is known by its file only.
  for (const auto& [name, problem] : m_session.recipes().broken()) {
    if (name == package || std::filesystem::path(name).stem() == package) throw UsageError(printable(problem));
  }
  if (!pep::is_valid_name(package)) throw UsageError(fmt::format("{} is no name of a package", printable(package)));
  Check check{.id = "recipe", .found = "none; one is made up from the source", .wanted = "a recipe for " + package};
  check.package = package;
  try {
    recipe::Recipe made = inferred(package, python);
    check.why = join(made.assumptions, " ");
    checks.push_back(check);
    return made;
  } catch (const Error& error) {
    check.state = doctor::State::bad;
    check.found = "none, and its source cannot be looked at";
    check.why = error.what();
    const auto near = nearest(package, m_session.recipes().names());
    check.fix = near ? "did you mean " + *near + "?" : "name a folder or an archive: --source " + package + "=PATH";
    checks.push_back(check);
    return std::nullopt;
  }
}

// As the plan does it: the sdist is fetched and read, and nothing of it is run.
recipe::Recipe Examiner::inferred(const std::string& package, const toolchain::Python& python) {
  recipe::Recipe stand_in;
  stand_in.name = stand_in.project = stand_in.source.project = package;
  std::optional<source::Override> user;
  for (const source::Override& one : m_request.sources) {
    const bool only = one.name.empty() && m_request.packages.size() == 1;
    if (only || pep::same_name(one.name, package)) user = one;
  }
  source::PinOptions options;
  options.python_version = python.version;
  options.offline = m_request.offline;
  options.recipe_folder = m_inputs.recipe_folder;
  options.example_folders = m_inputs.example_folders;
  const source::Pin pin = plan::pin_source(stand_in, user, m_inputs, options);
  recipe::Recipe made = recipe::infer(plan::remembered_facts(pin, "", m_inputs));
  made.name = package;
  return made;
}

std::vector<recipe::Variant> Examiner::variants_of(const recipe::Recipe& recipe,
                                                   std::optional<recipe::Variant> forced) {
  const std::vector<recipe::Variant> all = recipe.variants();
  // A dependency that knows no GPU is built for the CPU.
  if (forced) return {std::find(all.begin(), all.end(), *forced) != all.end() ? *forced : all.front()};
  if (!m_request.variants.empty()) return m_request.variants;
  std::vector<std::string> notes;
  return plan::choose_variants(m_request, recipe, m_facts.gpus, notes);
}

// What the plan would take. What it would refuse is what is to be examined.
std::vector<gpu::ArchList> Examiner::archs_of(const recipe::Recipe& recipe, recipe::Variant variant) {
  if (variant == recipe::Variant::cpu) return {{}};
  std::vector<std::string> notes;
  try {
    return plan::choose_archs(m_request, recipe, variant, m_facts.gpus, m_inputs.host.environment, notes);
  } catch (const Error&) {
    if (!m_request.archs.empty()) return m_request.archs;
    gpu::ArchList here;
    const gpu::Vendor vendor = variant == recipe::Variant::rocm ? gpu::Vendor::amd : gpu::Vendor::nvidia;
    for (const toolchain::Gpu& gpu : m_facts.gpus) {
      if (gpu.arch.vendor == vendor) here.requests.push_back({.arch = gpu.arch, .binary = true, .ptx = false});
    }
    return {here};
  }
}

// The torch that the plan would take, as far as that can be told without asking an index.
void Examiner::find_torch(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                          const toolchain::Python& python) {
  m_facts.torch.reset();
  m_facts.torch_problem.clear();
  if (python.executable.empty()) return;
  try {
    std::vector<std::string> notes;
    plan::TorchChoice choice =
        plan::choose_torch(m_request, recipe.rules(variant, target), variant, python, m_inputs, notes);
    plan::prefer_torch_of_ref(choice, recipe, m_request, notes);
    if (choice.kind == plan::TorchChoice::Kind::environment) {
      doctor::look_at_torch(m_facts, choice.python, m_inputs.host);
      if (!m_facts.torch && m_facts.torch_problem.empty())
        m_facts.torch_problem = choice.python.string() + " has no torch";
    } else if (choice.kind == plan::TorchChoice::Kind::requirement) {
      m_facts.torch = pinned_torch(choice.requirement);
    }
  } catch (const Error& error) {
    m_facts.torch_problem = error.what();
  }
}

}  // namespace wheelsmith::cli
