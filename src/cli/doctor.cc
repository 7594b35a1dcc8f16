// `doctor`: whether this machine can build packages, and its description for planning elsewhere.

#include "doctor/doctor.h"

#include <algorithm>

#include "base/error.h"
#include "cli/session.h"
#include "doctor/examine_packages.h"
#include "report/plan/doctor_text.h"
#include "sys/file.h"
#include "toolchain/description.h"

namespace wheelsmith::cli {

namespace {

struct DoctorCommand {
  OutputOptions output;
  SettingOptions settings;
  std::vector<std::string> packages;
  bool describe = false;
};

// A session also where the store cannot be used: facts are then remembered in a temporary folder.
struct DoctorSession {
  std::optional<sys::TempDir> spare;
  std::unique_ptr<Session> session;
  std::string store_problem;
  std::filesystem::path store;

  explicit DoctorSession(settings::Settings settings) {
    store = settings.folder("store");
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

doctor::MachineQuestion question_for(const DoctorCommand& command, const DoctorSession& opened,
                                     const choose::Request& request) {
  const settings::Settings& settings = opened.session->settings();
  const sys::Environment& environment = opened.session->host().environment;
  const auto temporary = environment.find("TMPDIR");
  const bool has_temporary = temporary != environment.end() && !temporary->second.empty();
  doctor::MachineQuestion question;
  question.paths = {
      .store = opened.store, .temporary = has_temporary ? temporary->second : "/tmp", .out = settings.text("out")};
  question.store_problem = opened.store_problem;
  if (command.describe || !command.packages.empty())
    question.programs = doctor::recipe_programs(opened.session->recipes());
  question.platform = request.platform;
  question.jobs = number_setting(settings, "jobs", 0);
  question.offline = request.offline;
  question.allow_unsupported_compiler = request.allow_unsupported_compiler;
  return question;
}

// The one command to try first: the fix of what is bad, the package of this folder, or an example.
std::string first_command(const std::vector<doctor::Check>& checks, Session& session) {
  for (const doctor::Check& check : checks) {
    if (check.state == doctor::State::bad && !check.fix.empty()) return check.fix;
  }
  std::error_code ignored;
  for (const char* file : {"pyproject.toml", "setup.py"}) {
    if (std::filesystem::exists(file, ignored)) return "wheelsmith build .";
  }
  const std::vector<std::filesystem::path> folders = session.inputs().example_folders;
  for (const std::string& name : session.recipes().names()) {
    const recipe::Source& source = session.recipes().find(name)->source;
    const auto has = [&](const std::filesystem::path& folder) { return sys::is_folder(folder / source.folder); };
    if (source.kind == recipe::Source::Kind::folder && std::ranges::any_of(folders, has))
      return "wheelsmith build " + name;
  }
  return "wheelsmith recipes";
}

// The machine by itself. What another machine can build is asked there.
int survey(const DoctorCommand& command, Session& session, doctor::Facts facts) {
  facts.rocm_index = session.settings().text("rocm-index");
  const std::vector<doctor::Check> checks = doctor::survey_machine(session.host(), facts);
  std::optional<report::MachineSummary> summary;
  if (!session.host().described)
    summary = {doctor::find_abilities(toolchain::find_pythons(session.host()), facts), first_command(checks, session)};
  if (command.output.json) {
    print(report::doctor_json(checks, summary ? &*summary : nullptr));
  } else {
    const report::Style style = command.output.style();
    print(report::doctor_text(checks, style) + (summary ? report::summary_text(*summary, style) : ""));
  }
  return doctor::any_bad(checks) ? k_not_fine : k_fine;
}

int doctor_command(const DoctorCommand& command) {
  const settings::Settings settings = command.settings.read(command.packages);
  if (const auto status = run_in_container(settings)) return *status;
  const DoctorSession opened(settings);
  Session& session = *opened.session;
  const choose::Request request = session.request();
  const doctor::Facts facts = doctor::look_at_machine(session.host(), question_for(command, opened, request));
  if (command.describe) {
    print(toolchain::to_toml(doctor::describe(session.host(), facts)));
    return k_fine;
  }
  if (command.packages.empty()) return survey(command, session, facts);
  const std::vector<doctor::Check> checks = doctor::examine_packages(request, session.inputs(), facts);
  print(command.output.json ? report::doctor_json(checks) : report::doctor_text(checks, command.output.style()));
  return doctor::any_bad(checks) ? k_not_fine : k_fine;
}

}  // namespace

void add_doctor(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<DoctorCommand>();
  CLI::App* sub =
      app.add_subcommand("doctor", "Check whether this machine can build a package, and how to fix it if not");
  sub->footer(
      "Without PACKAGE it describes the machine, what it can build now, and what to try first. Nothing is built, and "
      "no "
      "code of a recipe or a source is run. Exit status 0 when nothing is bad, 1 when something is. \"unknown\": only "
      "the "
      "build can tell, or only some packages need it.\n\n"
      "Examples:\n"
      "  wheelsmith doctor\n"
      "  wheelsmith doctor flash-attn --gpu H100\n"
      "  wheelsmith doctor texture --python 3.11,3.12 --platform manylinux_2_28 --json\n"
      "  wheelsmith doctor --describe > node.toml    (there)\n"
      "  wheelsmith doctor flash-attn --machine node.toml    (here)");
  sub->add_option("PACKAGE", command->packages,
                  "Recipe, package of the package index, folder, archive, or git+URL@REF; default: the machine itself");
  command->settings.add_to(*sub, {"allow-unsupported-compiler",
                                  "arch",
                                  "build-type",
                                  "ref",
                                  "set",
                                  "cc",
                                  "conda",
                                  "cuda",
                                  "container",
                                  "container-engine",
                                  "container-options",
                                  "cxx",
                                  "gpu",
                                  "jobs",
                                  "machine",
                                  "mirrors",
                                  "offline",
                                  "out",
                                  "platform",
                                  "python",
                                  "recipes",
                                  "rocm",
                                  "rocm-index",
                                  "source",
                                  "store",
                                  "sysroot",
                                  "target",
                                  "torch",
                                  "torch-index",
                                  "variant",
                                  "without"});
  CLI::Option* describe =
      sub->add_flag("--describe", command->describe, "Print a description of this machine for --machine elsewhere");
  command->output.add_to(*sub);
  describe->excludes("PACKAGE")->excludes("--json");
  sub->callback([command, &outcome] { outcome = [command] { return doctor_command(*command); }; });
}

}  // namespace wheelsmith::cli
