#include "doctor/doctor.h"

#include "base/error.h"
#include "choose/python.h"
#include "cli/session.h"
#include "doctor/examiner.h"
#include "report/doctor_text.h"
#include "sys/file.h"
#include "toolchain/description.h"

namespace wheelsmith::cli {

namespace {

using doctor::Check;
using doctor::Facts;

struct DoctorCommand {
  OutputOptions output;
  SettingWords settings;
  std::vector<std::string> packages;
  bool describe = false;
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

Facts look(const Clinic& clinic, const choose::Request& request, const std::vector<std::string>& programs) {
  const toolchain::Host& where = clinic.session->host();
  const settings::Settings& settings = clinic.session->settings();
  Facts facts = doctor::look_around(where,
                                    {.store = clinic.store_problem.empty() ? clinic.store : std::filesystem::path(),
                                     .temporary = variable(where.environment, "TMPDIR", "/tmp"),
                                     .out = settings.text("out")},
                                    programs);
  if (!clinic.store_problem.empty() && !where.described)
    facts.places.insert(facts.places.begin(), {"store", clinic.store, 0, clinic.store_problem});
  facts.platform = request.platform;
  facts.offline = request.offline;
  facts.jobs = number_setting(settings, "jobs", 0);
  return facts;
}

// Each that was asked for; one without an executable, and why, for what is not found.
std::vector<std::pair<toolchain::Python, std::string>> find_pythons(const choose::Request& request,
                                                                    const toolchain::Host& host) {
  std::vector<std::string> wanted = request.pythons;
  if (wanted.empty()) wanted.emplace_back();
  std::vector<std::pair<toolchain::Python, std::string>> found;
  for (const std::string& text : wanted) {
    choose::Request one = request;
    one.pythons.clear();
    if (!text.empty()) one.pythons.push_back(text);
    try {
      for (toolchain::Python& python : choose::choose_pythons(one, host)) found.emplace_back(std::move(python), "");
    } catch (const Error& error) {
      found.emplace_back(toolchain::Python(), error.what());
    }
  }
  return found;
}

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
  const choose::Request request = clinic.session->request();
  const bool all_programs = command.describe || !command.packages.empty();
  Facts facts =
      look(clinic, request, all_programs ? programs_of(clinic.session->recipes()) : std::vector<std::string>());
  if (command.describe) {
    print(toolchain::to_toml(doctor::describe(clinic.session->host(), facts)));
    return k_fine;
  }
  std::vector<Check> checks;
  if (command.packages.empty()) {
    const std::vector<toolchain::Python> pythons = toolchain::find_pythons(clinic.session->host());
    if (!pythons.empty()) doctor::look_at_torch(facts, pythons.front().executable, clinic.session->host());
    checks = doctor::survey(pythons, facts);
  } else {
    const plan::PlanInputs inputs = clinic.session->inputs();
    for (const auto& [python, problem] : find_pythons(request, inputs.host)) {
      facts.python_problem = problem;
      facts.rocm_index = request.rocm_index;
      doctor::look_at_rocm(facts, python, clinic.session->host());
      doctor::Examiner examiner(request, inputs, facts);
      for (const std::string& package : command.packages) examiner.examine(package, python);
      for (Check& check : examiner.take_checks()) checks.push_back(std::move(check));
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
      "  wheelsmith doctor texture --python 3.11,3.12 --platform manylinux_2_28 --json\n"
      "  wheelsmith doctor --describe > node.toml    (there)\n"
      "  wheelsmith doctor flash-attn --machine node.toml    (here)");
  sub->add_option("NAME", command->packages, "Recipes, or projects of the registry");
  command->settings.add_to(
      *sub, {"arch",       "build-type", "ref",     "set",     "cc",     "conda",    "cuda",        "cxx",     "gpu",
             "jobs",       "machine",    "mirrors", "offline", "out",    "platform", "python",      "recipes", "rocm",
             "rocm-index", "source",     "store",   "sysroot", "target", "torch",    "torch-index", "variant"});
  CLI::Option* describe = sub->add_flag("--describe", command->describe,
                                        "Print the machine as a description that --machine takes elsewhere");
  command->output.add_to(*sub);
  describe->excludes("NAME")->excludes("--json");
  sub->callback([command, &outcome] { outcome = [command] { return doctor_command(*command); }; });
}

}  // namespace wheelsmith::cli
