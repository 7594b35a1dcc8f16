// `doctor`: checks whether this machine can build packages, and describes it for planning elsewhere.

#include "doctor/doctor.h"

#include <algorithm>

#include "base/error.h"
#include "cli/session.h"
#include "doctor/check_cluster.h"
#include "doctor/examine_packages.h"
#include "report/plan/doctor_text.h"
#include "run/slurm/probe.h"
#include "sys/file.h"
#include "toolchain/description.h"

namespace wheelsmith::cli {

namespace {

constexpr double k_patience = 60;  // seconds for a job on a cluster

struct DoctorCommand {
  OutputOptions output;
  SettingOptions settings;
  std::vector<std::string> packages;
  bool describe = false;
};

// A session that works even if the store is unusable: facts are then cached in a temporary folder.
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

doctor::MachineQuery query_for(const DoctorCommand& command, const DoctorSession& opened,
                               const choose::Request& request) {
  const settings::Settings& settings = opened.session->settings();
  const sys::Environment& environment = opened.session->host().environment;
  const auto temporary = environment.find("TMPDIR");
  const bool has_temporary = temporary != environment.end() && !temporary->second.empty();
  doctor::MachineQuery query;
  query.paths = {
      .store = opened.store, .temporary = has_temporary ? temporary->second : "/tmp", .out = settings.text("out")};
  query.store_problem = opened.store_problem;
  if (command.describe || !command.packages.empty())
    query.programs = doctor::recipe_programs(opened.session->recipes());
  query.platform = request.platform;
  query.jobs = number_setting(settings, "jobs", 0);
  query.offline = request.offline;
  query.allow_unsupported_compiler = request.allow_unsupported_compiler;
  return query;
}

// The command to try first: the fix of a bad check, the package in this folder, or an example.
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

// Checks the machine itself. The summary of what it can build is available on that machine only.
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
  const doctor::Facts facts = doctor::machine_facts(session.host(), query_for(command, opened, request));
  if (command.describe) {
    print(toolchain::to_toml(doctor::describe(session.host(), facts)));
    return k_fine;
  }
  if (settings.text("on") == "slurm") {
    sys::install_interrupt_flag();
    slurm::ProgramCommands commands;
    const slurm::SiteOptions site = slurm_options(settings).site_for({});
    const std::vector<doctor::Check> checks =
        doctor::check_cluster(run::probe_cluster(session.store(), commands, site, k_patience));
    print(command.output.json ? report::doctor_json(checks) : report::doctor_text(checks, command.output.style()));
    return doctor::any_bad(checks) ? k_not_fine : k_fine;
  }
  if (command.packages.empty()) return survey(command, session, facts);
  const std::vector<doctor::Check> checks = doctor::examine_packages(request, session.inputs(), facts);
  print(command.output.json ? report::doctor_json(checks) : report::doctor_text(checks, command.output.style()));
  return doctor::any_bad(checks) ? k_not_fine : k_fine;
}

}  // namespace

void add_doctor(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<DoctorCommand>();
  CLI::App* sub = app.add_subcommand("doctor", "Check whether this machine can build a package, and print fixes");
  sub->footer(
      "Without PACKAGE, describes the machine, what it can build now, and the command to try first. Builds nothing and "
      "runs no code from recipes or sources. Exit status: 0 if no check is bad, 1 otherwise. A check is \"unknown\" if "
      "only the build can tell, or if only some packages need the item.\n\n"
      "Examples:\n"
      "  wheelsmith doctor\n"
      "  wheelsmith doctor flash-attn --gpu H100\n"
      "  wheelsmith doctor texture --python 3.11,3.12 --platform manylinux_2_28 --json\n"
      "  wheelsmith doctor --on slurm --slurm partition=build\n"
      "  wheelsmith doctor --describe > node.toml    (on the other machine)\n"
      "  wheelsmith doctor flash-attn --machine node.toml");
  sub->add_option("PACKAGE", command->packages,
                  "Recipe or package name, folder, archive, or git+URL@REF; default: check the machine itself");
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
                                  "on",
                                  "out",
                                  "platform",
                                  "python",
                                  "recipes",
                                  "rocm",
                                  "rocm-index",
                                  "slurm",
                                  "source",
                                  "store",
                                  "sysroot",
                                  "target",
                                  "torch",
                                  "torch-index",
                                  "variant",
                                  "without"});
  CLI::Option* describe = sub->add_flag("--describe", command->describe,
                                        "Print a description of this machine, to be used with --machine elsewhere");
  command->output.add_to(*sub);
  describe->excludes("PACKAGE")->excludes("--json");
  sub->callback([command, &outcome] { outcome = [command] { return doctor_command(*command); }; });
}

}  // namespace wheelsmith::cli
