#include "cli/examiner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "plan/choose.h"
#include "plan/described.h"
#include "plan/source_facts.h"

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
    : m_session(session), m_request(request), m_workshop(session.workshop()), m_facts(std::move(facts)) {}

void Examiner::examine(const std::string& package, const toolchain::Python& python) {
  Needed needed;
  examine_one(package, python, std::nullopt, needed);
  // needed grows while it is walked; what was seen is not looked at again.
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const auto [name, variant] = needed[i];
    if (m_seen.insert(name + "\n" + python.executable.string()).second) examine_one(name, python, variant, needed);
  }
}

void Examiner::examine_one(const std::string& package, const toolchain::Python& python,
                           std::optional<recipe::Variant> forced, Needed& needed) {
  const std::optional<recipe::Recipe> recipe = recipe_for(package, python);
  if (!recipe) return;
  for (const recipe::Variant variant : variants_of(*recipe, forced)) {
    const std::string target = forced ? "" : m_request.target;
    for (const gpu::ArchList& archs : archs_of(*recipe, variant)) {
      find_torch(*recipe, variant, target, python);
      std::string step =
          fmt::format("{}-{}{}", recipe->name, recipe::to_string(variant), target.empty() ? "" : "-" + target);
      if (!python.abi.empty()) step += "-" + python.abi;
      if (!archs.requests.empty()) step += "-" + archs.to_string();
      for (Check& check : doctor::examine(*recipe, variant, target, archs, python, m_facts)) {
        check.step = step;
        checks.push_back(std::move(check));
      }
    }
    try {
      for (const recipe::Need& need : recipe->rules(variant, target).needs) {
        if (!need.recipe.empty()) needed.emplace_back(need.recipe, variant);
      }
    } catch (const Error&) {  // the check "variant" has said it
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
    recipe::Recipe made = made_up(package, python);
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
recipe::Recipe Examiner::made_up(const std::string& package, const toolchain::Python& python) {
  recipe::Recipe stand_in;
  stand_in.name = stand_in.project = stand_in.source.project = package;
  std::optional<source::Override> user;
  for (const source::Override& one : m_request.sources) {
    const bool only = one.name.empty() && m_request.packages.size() == 1;
    if (only || pep::normalized_name(one.name) == pep::normalized_name(package)) user = one;
  }
  source::PinOptions options;
  options.python_version = python.version;
  options.offline = m_request.offline;
  options.recipe_folder = m_workshop.recipe_folder;
  options.example_folders = m_workshop.example_folders;
  const source::Pin pin = plan::pin_source(stand_in, user, m_workshop, options);
  recipe::Recipe made = recipe::make_up(plan::remembered_facts(pin, "", m_workshop));
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
    return plan::choose_archs(m_request, recipe, variant, m_facts.gpus, m_workshop.surroundings.environment, notes);
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
    const plan::TorchChoice choice =
        plan::choose_torch(m_request, recipe.rules(variant, target), variant, python, m_workshop, notes);
    if (choice.kind == plan::TorchChoice::Kind::environment) {
      doctor::look_at_torch(m_facts, choice.python, m_workshop.surroundings);
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
