#include "report/build/build.h"

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "base/parallel.h"
#include "base/secret.h"
#include "base/text.h"
#include "build/build.h"
#include "cli/session.h"
#include "report/plan/doctor_text.h"
#include "run/sandbox.h"
#include "sys/process/own_process.h"

namespace wheelsmith::cli {

namespace {

struct BuildCommand {
  OutputOptions output;
  SettingOptions settings;
  std::vector<std::string> packages;
  bool upgrade = false, exact = false, clean = false, install = false, editable = false, despite_doctor = false,
       quiet = false;
  bool no_test = false, keep_failed = false, cancel = false, push = false;
  std::string into, sign, only, token_file;
  std::string expected_plan;  // from `attach`: another plan is not the one that was meant
};

// Redraws the status lines between events, so that their clocks advance.
class Redrawer {
 public:
  Redrawer(report::BuildStatus& status, std::mutex& mutex)
      : m_thread([this, &status, &mutex] {
          while (!m_done) {
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
            const std::lock_guard guard(mutex);
            if (!m_done) print_status(status.redraw());
          }
        }) {}
  ~Redrawer() {
    m_done = true;
    m_thread.join();
  }
  Redrawer(const Redrawer&) = delete;
  Redrawer& operator=(const Redrawer&) = delete;

 private:
  std::atomic<bool> m_done = false;
  std::thread m_thread;
};

// Sets the compile cache; returns the reason if it cannot be used.
std::string set_cache(build::BuildOptions& options, const settings::Settings& settings, const store::Store& store) {
  if (settings.text("cache") != "on") return "";
  options.run.cache = cache_options(settings, store);
  if (!options.local.governed) return "the compile cache needs the governor, which is off";
  return "";
}

// Paths that the user names explicitly (variables, recipe settings, the sysroot) are readable in the sandbox.
run::SandboxOptions build_sandbox(const settings::Settings& settings, const choose::Request& request) {
  run::SandboxOptions options = sandbox_options(settings);
  std::string named = settings.text("sysroot");
  for (const auto& [name, value] : request.environment) named += "\n" + value;
  for (const auto& [name, value] : request.set) named += "\n" + value;
  for (const std::filesystem::path& path : run::paths_in(named)) options.open.push_back(path);
  return options;
}

attest::Signer read_signer(const std::string& text) {
  try {
    return attest::parse_signer(text);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

build::BuildOptions build_options(const BuildCommand& command, const Session& session, const choose::Request& request) {
  const settings::Settings& settings = session.settings();
  build::BuildOptions options;
  const unsigned steps = number_setting(settings, "steps", std::max(1u, usable_threads() / 4));
  options.local.steps_at_once = steps;
  options.local.governed = settings.text("governor") != "off";
  run::RunOptions& run = options.run;
  run.out = settings.text("out");
  run.keep_going = settings.flag("keep-going");
  run.clean = command.clean;
  run.exact = command.exact;
  run.no_test = command.no_test;
  run.keep_failed = command.keep_failed;
  run.offline = request.offline;
  run.mirrors = session.fetch_options().mirrors;
  run.gpu_parts = settings.text("gpu-parts") == "on";
  run.sandbox = build_sandbox(settings, request);
  run.jobs = number_setting(settings, "jobs", 0);
  run.silence_seconds = number_setting(settings, "timeout", 0);
  if (const std::string memory = settings.text("memory"); !memory.empty()) run.memory = parse_size("memory", memory);
  options.examination = {.paths = {.store = session.store().local_root(), .temporary = {}, .out = run.out},
                         .platform = request.platform,
                         .jobs = run.jobs,
                         .offline = request.offline,
                         .cuda_named = !settings.text("cuda").empty(),
                         .allow_unsupported_compiler = request.allow_unsupported_compiler,
                         .settings = request.set};
  options.despite_doctor = command.despite_doctor;
  options.only = command.only;
  options.install = command.install || command.editable;
  options.into = command.into;
  if (!command.sign.empty()) options.signer = read_signer(command.sign);
  return options;
}

void show_plan(const plan::Plan& plan, const report::Style& style) {
  for (const std::string& note : plan.notes) print_status(style.dim(printable(note)) + "\n");
  for (const plan::Step& step : plan.steps) {
    if (!step.decision.cached)
      print_status(fmt::format("{} {}: {}\n", style.cyan(step.is_skipped() ? "skip" : "build"), step.id(),
                               step.decision.reason));
  }
}

// For scripts: --quiet prints the paths of the wheels.
std::string wheel_paths(const std::vector<run::StepOutcome>& outcomes) {
  std::string text;
  for (const run::StepOutcome& outcome : outcomes) {
    if (!outcome.wheel.empty()) text += printable(outcome.wheel.string()) + "\n";
  }
  return text;
}

// The command as `attach` repeats it. Secrets never reach the store: a command that has one is not recorded, and a
// variable that has one must be set again.
document::Table about_command(const sys::Environment& environment) {
  document::Table about;
  document::Array words;
  const std::vector<std::string> arguments = sys::own_arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--cancel") continue;
    if (argument == "--expect-plan") {
      ++i;
      continue;
    }
    const std::string_view assigned = std::string_view(argument).substr(argument.starts_with("--env=") ? 6 : 0);
    const std::size_t equals = assigned.find('=');
    const std::string_view value = equals == std::string_view::npos ? assigned : assigned.substr(equals + 1);
    if ((equals != std::string_view::npos && names_a_secret(assigned.substr(0, equals))) || looks_secret(value)) {
      return about;
    }
    words.emplace_back(argument);
  }
  about["command"] = std::move(words);
  std::error_code ignored;
  about["folder"] = std::filesystem::current_path(ignored).string();
  document::Table variables;
  for (const auto& [name, value] : environment) {
    if (name.starts_with("WHEELSMITH_") && !names_a_secret(name) && !looks_secret(value)) variables[name] = value;
  }
  about["environment"] = std::move(variables);
  return about;
}

void set_slurm(const BuildCommand& command, const settings::Settings& settings, build::BuildOptions& options) {
  if (settings.text("on") != "slurm") {
    if (command.cancel) throw UsageError("--cancel requires --on slurm: only cluster jobs can be cancelled");
    if (!settings.text("nodes").empty())
      throw UsageError("--nodes requires --on slurm: only cluster jobs have several nodes");
    return;
  }
  options.slurm = slurm_options(settings);
  options.slurm->cancel = command.cancel;
  if (command.cancel) options.run.keep_going = true;
}

// The remote stores in the settings, for --push.
std::vector<remote::RemoteStore> push_targets(const BuildCommand& command, const Session& session) {
  std::vector<remote::RemoteStore> targets;
  const std::string token = remote::read_token(command.token_file);
  for (const std::string& url : session.settings().urls("store"))
    targets.emplace_back(url, session.fetch_options(), token);
  if (targets.empty()) throw UsageError("--push: no remote store is set; add one, such as --store https://host/store");
  return targets;
}

// Copies every wheel that was built, even if other steps failed. Returns "" or why a wheel was not copied.
std::string push_results(const std::vector<run::StepOutcome>& outcomes, std::vector<remote::RemoteStore>& targets,
                         const store::Store& store) {
  std::string problem;
  for (remote::RemoteStore& target : targets) {
    for (const run::StepOutcome& outcome : outcomes) {
      if (outcome.outcome != run::Outcome::built) continue;
      try {
        // A step that later builds may not reuse (--source, --no-test) has no record.
        if (const auto record = store.find_step(outcome.key)) target.push(*record, store);
      } catch (const Error& error) {  // reported at the end; the wheels are built
        problem = fmt::format("built, but not pushed: {}", error.what());
      }
    }
  }
  return problem;
}

int build(const BuildCommand& command) {
  const settings::Settings settings = command.settings.read(command.packages);
  if (settings.text("on") == "slurm" && command.editable)
    throw UsageError("--editable cannot be combined with --on slurm: the folder is built in place on this machine");
  if (settings.text("on") == "slurm" && !settings.text("container").empty())
    throw UsageError("--container cannot be combined with --on slurm: jobs run directly on the nodes");
  if (!settings.text("machine").empty())
    throw UsageError(
        "--machine: a plan for another machine cannot be built here; use --machine with `plan` and `doctor`");
  if (!command.into.empty() && !command.install && !command.editable)
    throw UsageError("--into requires --install or --editable");
  if (!command.sign.empty() && command.editable)
    throw UsageError("--sign cannot be combined with --editable: an editable install produces no wheel to sign");
  if (command.clean && command.editable)
    throw UsageError(
        "--clean cannot be combined with --editable: wheelsmith deletes nothing in your source folder; remove its "
        "build folder yourself");
  if ((command.install || command.editable) && !settings.text("container").empty())
    throw UsageError(fmt::format(
        "--{} cannot be combined with --container: the wheel is built for the image; install it from the wheelhouse",
        command.editable ? "editable" : "install"));
  if (!command.sign.empty() && !settings.text("container").empty())
    throw UsageError(
        "--sign cannot be combined with --container: the container has no access to your keys; sign the wheels in the "
        "wheelhouse afterwards");
  if (const auto status = run_in_container(settings)) return *status;
  // Of jobs in a cluster the first Ctrl-C leaves, the second cancels.
  sys::install_interrupt_counter(settings.text("on") == "slurm" ? 3 : 1);
  Session session(settings, command.upgrade);
  choose::Request request = session.build_request();
  request.exact = command.exact;
  request.editable = command.editable;
  request.into = command.into;
  if (request.platform.starts_with("win") || request.platform.starts_with("macosx"))
    throw UsageError(
        fmt::format("--platform {}: wheelsmith builds on Linux only; `wheelsmith plan` shows the recipe's settings for "
                    "this platform",
                    printable(request.platform)));
  const bool live = sys::standard_error_is_terminal() && !command.quiet;
  const report::Style style = command.output.style();
  plan::PlanInputs inputs = session.inputs();
  build::BuildOptions options = build_options(command, session, request);
  set_slurm(command, settings, options);
  if (options.slurm) options.run.about = about_command(session.host().environment);
  const std::string without_cache = set_cache(options, settings, session.store());
  std::optional<report::BuildStatus> status;
  std::optional<Redrawer> redrawer;
  std::mutex mutex;
  build::Watcher watcher;
  watcher.on_bad_checks = [&](const std::vector<doctor::Check>& bad) { print_status(report::doctor_text(bad, style)); };
  if (!command.quiet) {
    inputs.on_progress = [](const std::string& text) { print_status(text + "\n"); };
    options.local.on_note = [&](const std::string& text) { print_status(style.dim(printable(text)) + "\n"); };
    if (options.slurm) options.slurm->on_note = options.local.on_note;
    options.run.on_message = [](const std::string& text) { print_status("wheelsmith: " + text + "\n"); };
    watcher.on_plan = [&](const plan::Plan& plan) {
      show_plan(plan, style);
      if (!without_cache.empty()) print_status(style.dim(without_cache) + "\n");
      status.emplace(plan, style, live, request.verbose, sys::standard_error_width);
    };
    watcher.on_installed = [](const std::string& text) { print_status(text + "\n"); };
    options.run.on_event = [&](const run::Event& event) {
      const std::lock_guard guard(mutex);
      if (live && !redrawer) redrawer.emplace(*status, mutex);
      print_status(status->on_event(event));
    };
  }
  std::string plan_id;
  watcher.on_start = [&](const std::string& id) {
    plan_id = id;
    if (!command.expected_plan.empty() && id != command.expected_plan)
      throw Error(
          fmt::format("the command now gives plan {}, not {}: its inputs have changed; run `wheelsmith build` again "
                      "instead of `attach`",
                      id, printable(command.expected_plan)));
    if (options.slurm && !command.quiet) print_status(style.dim("plan " + id) + "\n");
  };
  options.pull = [&](const plan::Step& step) {
    if (!command.quiet) print_status(fmt::format("copying {} from {}\n", step.id(), step.decision.remote));
    return session.remotes().pull(step.spec.key, session.store());
  };
  std::vector<remote::RemoteStore> targets;
  if (command.push) targets = push_targets(command, session);
  build::BuildResult result = build::build(request, inputs, options, watcher);
  redrawer.reset();
  if (live && status) print_status(status->clear());
  std::string not_pushed = push_results(result.outcomes, targets, session.store());
  const report::Closing closing{result.checklist, result.runtime,
                                settings::read_price(session.settings().text("price-per-core-hour"))};
  if (command.output.json) {
    std::vector<std::string> notes = result.plan.notes;
    if (!without_cache.empty()) notes.push_back(without_cache);
    for (const std::string* failure : {&result.not_attested, &result.not_installed, &not_pushed}) {
      if (!failure->empty()) notes.push_back(*failure);
    }
    print(report::build_json(result.outcomes, notes, closing));
  } else {
    print(command.quiet && result.good()
              ? wheel_paths(result.outcomes)
              : report::build_text(result.outcomes, style) + report::closing_text(result.outcomes, closing, style));
  }
  for (const std::string* failure : {&result.not_attested, &result.not_installed, &not_pushed}) {
    if (!failure->empty()) print_status(fmt::format("wheelsmith: error: {}\n", printable(*failure)));
  }
  if (sys::interrupted()) {
    print_status(options.slurm && sys::interruptions() > 1 ? "wheelsmith: interrupted; the jobs are cancelled\n"
                 : options.slurm ? fmt::format("wheelsmith: interrupted; to continue: wheelsmith attach {}\n", plan_id)
                                 : "wheelsmith: interrupted; run the same command to resume\n");
    return k_interrupted;
  }
  return (result.good() && not_pushed.empty()) || command.cancel ? k_fine : k_not_fine;
}

}  // namespace

void add_build(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<BuildCommand>();
  CLI::App* sub = app.add_subcommand("build", "Build packages from source into checked, tested wheels");
  sub->footer(
      "Wheels are written to the wheelhouse (--out) only after they pass their checks and tests. If a build is "
      "interrupted, run the same command again to resume it.\n\n"
      "Most options can also be set in wheelsmith.toml or by an environment variable WHEELSMITH_NAME; `wheelsmith "
      "config show` lists them with their effective values. A wheelsmith.toml that names programs, paths or servers "
      "must be trusted first: "
      "`wheelsmith trust`.\n\n"
      "Examples:\n"
      "  wheelsmith build .\n"
      "  wheelsmith build flash-attn --gpu H100 --platform manylinux_2_34 -o wheels\n"
      "  wheelsmith build torch-scatter==2.1.2 --torch 2.13.0 --python 3.11,3.12\n"
      "  wheelsmith build texture --arch \"8.0;9.0\"\n"
      "  wheelsmith build git+https://github.com/example/package.git@v1.2\n"
      "  wheelsmith build ./pytorch --editable --no-build-isolation --into ENV");
  sub->add_option("PACKAGE", command->packages,
                  "Recipe or package name (NAME, NAME==1.2), folder (. or ./dir), archive, or git+URL@REF; default: "
                  "the packages in wheelsmith.toml");
  command->settings.add_to(*sub);
  sub->add_flag("--upgrade", command->upgrade,
                "Choose versions of sources and build requirements again instead of reusing earlier choices")
      ->group("Source");
  sub->add_flag("--clean", command->clean, "Start from an empty build tree")->group("Advanced");
  sub->add_flag("--exact", command->exact, k_exact_help)->group("Advanced");
  sub->add_flag("--despite-doctor", command->despite_doctor, "Build even if `doctor` reports that this machine cannot")
      ->group("Advanced");
  sub->add_flag("--no-test", command->no_test,
                "Skip the recipe's tests; the wheel is written to --out, but later builds do not reuse it")
      ->group("Output");
  sub->add_flag("--keep-failed", command->keep_failed,
                "Keep a wheel that fails a check or a test, in the folder failed/ of --out")
      ->group("Output");
  sub->add_flag("--cancel", command->cancel, "With --on slurm: cancel the jobs of this build instead of building")
      ->group("Resources");
  sub->add_option("--expect-plan", command->expected_plan, "Refuse any other plan")->group("");
  sub->add_option("--only", command->only,
                  "Build one step of the plan, by its id or package; its dependencies must be in a store")
      ->type_name("STEP")
      ->group("Advanced");
  sub->add_flag("--push", command->push, "Copy the built wheels to the remote stores of --store")->group("Output");
  sub->add_option("--token-file", command->token_file,
                  "With --push: file that contains the token of the remote stores; default: $WHEELSMITH_STORE_TOKEN")
      ->type_name("FILE")
      ->group("Output");
  sub->add_flag("--install", command->install, "Install the finished wheels")->group("Output");
  sub->add_flag("-e,--editable", command->editable, k_editable_help)->group("Output");
  sub->add_option("--into", command->into,
                  "With --install or --editable: the environment (folder or interpreter); default: the one that the "
                  "wheel was built for")
      ->type_name("ENV")
      ->group("Output");
  sub->add_option("--sign", command->sign,
                  "Sign each wheel and its in-toto statement: gpg[:KEY], ssh:KEYFILE or cosign[:KEY]")
      ->type_name("METHOD[:KEY]")
      ->group("Output");
  sub->add_flag("-q,--quiet", command->quiet, "Print only errors and the paths of the wheels")->group("Output");
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return build(*command); }; });
}

}  // namespace wheelsmith::cli
