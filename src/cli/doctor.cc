#include "doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "pep/wheel_name.h"
#include "plan/choose.h"
#include "report/doctor_text.h"
#include "sys/file.h"

namespace wheelsmith::cli {

namespace {

using doctor::Check;
using doctor::Facts;

struct DoctorCommand {
  OutputOptions output;
  SettingWords settings;
  std::vector<std::string> packages;
};

// A session also where the store is what is bad: facts are then remembered in a folder that goes with us.
struct Clinic {
  std::optional<sys::TempDir> spare;
  std::unique_ptr<Session> session;
  std::string store_problem;
  std::filesystem::path store;

  explicit Clinic(settings::Settings settings) {
    store = settings.text("store");
    try {
      if (store.empty()) store = store::Store::default_root();
      session = std::make_unique<Session>(settings);
    } catch (const Error& error) {
      store_problem = error.what();
      spare.emplace();
      settings.set_from_command_line("store", spare->path().string());
      session = std::make_unique<Session>(settings);
    }
  }
};

std::string variable(const sys::Environment& environment, const std::string& name, const std::string& fallback) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.empty() ? fallback : found->second;
}

Facts look(const Clinic& clinic, const plan::Request& request, const std::vector<std::string>& programs) {
  const toolchain::Surroundings& where = clinic.session->surroundings();
  const settings::Settings& settings = clinic.session->settings();
  Facts facts = doctor::look_around(where,
                                    {.store = clinic.store_problem.empty() ? clinic.store : std::filesystem::path(),
                                     .temporary = variable(where.environment, "TMPDIR", "/tmp"),
                                     .out = settings.text("out")},
                                    programs);
  if (!clinic.store_problem.empty())
    facts.places.insert(facts.places.begin(), {"store", clinic.store, 0, clinic.store_problem});
  facts.platform = request.platform;
  facts.offline = request.offline;
  facts.jobs = number_setting(settings, "jobs", 0);
  return facts;
}

// Each that was asked for; one without an executable, and why, for what is not found.
std::vector<std::pair<toolchain::Python, std::string>> find_pythons(const plan::Request& request,
                                                                    const plan::Workshop& workshop) {
  std::vector<std::string> wanted = request.pythons;
  if (wanted.empty()) wanted.emplace_back();
  std::vector<std::pair<toolchain::Python, std::string>> found;
  for (const std::string& text : wanted) {
    plan::Request one = request;
    one.pythons.clear();
    if (!text.empty()) one.pythons.push_back(text);
    try {
      for (toolchain::Python& python : plan::choose_pythons(one, workshop)) found.emplace_back(std::move(python), "");
    } catch (const Error& error) {
      found.emplace_back(toolchain::Python(), error.what());
    }
  }
  return found;
}

class Examiner {
 public:
  Examiner(Clinic& clinic, const plan::Request& request, Facts facts)
      : m_session(*clinic.session),
        m_request(request),
        m_workshop(clinic.session->workshop()),
        m_facts(std::move(facts)) {}

  // A package and all the recipes it needs, for each of its variants and arch lists.
  void examine(const std::string& package, const toolchain::Python& python) {
    std::vector<std::pair<std::string, recipe::Variant>> needed;
    examine_one(package, python, std::nullopt, needed);
    // needed grows while it is walked; what was seen is not looked at again.
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const auto [name, variant] = needed[i];
      if (m_seen.insert(name + "\n" + python.executable.string()).second) examine_one(name, python, variant, needed);
    }
  }

  std::vector<Check> checks;

 private:
  void examine_one(const std::string& package, const toolchain::Python& python, std::optional<recipe::Variant> forced,
                   std::vector<std::pair<std::string, recipe::Variant>>& needed) {
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

  std::optional<recipe::Recipe> recipe_for(const std::string& package, const toolchain::Python& python) {
    if (const recipe::Recipe* known = m_session.recipes().find(package)) return *known;
    const auto& broken = m_session.recipes().broken();
    if (const auto found = broken.find(package); found != broken.end()) throw UsageError(printable(found->second));
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
  recipe::Recipe made_up(const std::string& package, const toolchain::Python& python) {
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
    const source::Pin pin = source::pin(stand_in, user, m_session.fetcher(), m_session.store(), options);
    recipe::Recipe made = recipe::make_up(source::look_into(pin, m_session.fetcher(), m_session.store()));
    made.name = package;
    return made;
  }

  std::vector<recipe::Variant> variants_of(const recipe::Recipe& recipe, std::optional<recipe::Variant> forced) {
    const std::vector<recipe::Variant> all = recipe.variants();
    // A dependency that knows no GPU is built for the CPU.
    if (forced) return {std::find(all.begin(), all.end(), *forced) != all.end() ? *forced : all.front()};
    if (!m_request.variants.empty()) return m_request.variants;
    std::vector<std::string> notes;
    return plan::choose_variants(m_request, recipe, m_facts.gpus, notes);
  }

  // What the plan would take. What it would refuse is what is to be examined.
  std::vector<gpu::ArchList> archs_of(const recipe::Recipe& recipe, recipe::Variant variant) {
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
  void find_torch(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
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

  static std::optional<toolchain::Torch> pinned_torch(const std::string& text) {
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

  Session& m_session;
  const plan::Request& m_request;
  plan::Workshop m_workshop;
  Facts m_facts;
  std::set<std::string> m_seen;
};

// Programs that the recipes name, whatever the variant: finding one is cheap.
std::vector<std::string> programs_of(const recipe::Library& recipes) {
  std::vector<std::string> programs;
  for (const std::string& name : recipes.names()) {
    const recipe::Recipe& recipe = *recipes.find(name);
    for (const recipe::Variant variant : recipe.variants()) {
      for (const std::string& target : recipe.targets(variant)) {
        const std::vector<std::string>& more = recipe.rules(variant, target).requires_versions.programs;
        programs.insert(programs.end(), more.begin(), more.end());
      }
    }
  }
  return programs;
}

int doctor_command(const DoctorCommand& command) {
  Clinic clinic(command.settings.read(command.packages));
  const plan::Request request = clinic.session->request();
  Facts facts = look(clinic, request,
                     command.packages.empty() ? std::vector<std::string>() : programs_of(clinic.session->recipes()));
  std::vector<Check> checks;
  if (command.packages.empty()) {
    const std::vector<toolchain::Python> pythons = toolchain::find_pythons(clinic.session->surroundings());
    if (!pythons.empty()) doctor::look_at_torch(facts, pythons.front().executable, clinic.session->surroundings());
    checks = doctor::survey(pythons, facts);
  } else {
    for (const auto& [python, problem] : find_pythons(request, clinic.session->workshop())) {
      facts.python_problem = problem;
      Examiner examiner(clinic, request, facts);
      for (const std::string& package : command.packages) examiner.examine(package, python);
      checks.insert(checks.end(), examiner.checks.begin(), examiner.checks.end());
    }
  }
  print(command.output.json ? report::doctor_json(checks) : report::doctor_text(checks, command.output.style()));
  return doctor::any_bad(checks) ? k_not_fine : k_fine;
}

}  // namespace

void add_doctor(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<DoctorCommand>();
  CLI::App* sub =
      app.add_subcommand("doctor", "Say whether this machine can build a package, and what mends it if not");
  sub->footer(
      "Without NAME it describes the machine. Nothing is built, and nothing is run that a recipe or a source brings.\n"
      "Exit status 0 when nothing is bad, 1 when something is. \"unknown\" is what only the build can tell, or what\n"
      "only some packages need.\n\n"
      "Examples:\n"
      "  wheelsmith doctor\n"
      "  wheelsmith doctor flash-attn --variant cuda --gpu H100\n"
      "  wheelsmith doctor texture --python 3.11,3.12 --platform manylinux_2_28 --json");
  sub->add_option("NAME", command->packages, "Recipes, or projects of the registry");
  command->settings.add_to(*sub, {"arch",    "cc",      "conda",   "cuda",     "cxx",    "gpu",         "jobs",
                                  "mirrors", "offline", "out",     "platform", "python", "recipes",     "rocm",
                                  "source",  "store",   "sysroot", "target",   "torch",  "torch-index", "variant"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return doctor_command(*command); }; });
}

}  // namespace wheelsmith::cli
