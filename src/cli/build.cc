#include "report/build.h"

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/checklist.h"
#include "cli/session.h"
#include "doctor/doctor.h"
#include "env/env.h"
#include "report/doctor_text.h"
#include "run/cache_relay.h"
#include "run/run.h"

namespace wheelsmith::cli {

namespace {

struct BuildCommand {
  OutputOptions output;
  SettingWords settings;
  std::vector<std::string> packages;
  bool upgrade = false, clean = false, install = false, despite_doctor = false;
  std::string into;
};

// Status goes to standard error: standard output is for the answer.
void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// The interpreter of --into, which is one or an environment's folder.
std::filesystem::path environment_python(const std::string& into) {
  std::error_code ignored;
  const std::filesystem::path python = std::filesystem::path(into) / "bin" / "python";
  if (!into.empty() && std::filesystem::exists(python, ignored)) return std::filesystem::absolute(python);
  return into;
}

// What the finished wheels are installed into: an environment's folder, an interpreter, or the one they were built for.
void install_wheels(const std::vector<run::StepOutcome>& outcomes, const plan::Plan& plan, const std::string& into,
                    Session& session) {
  for (const run::StepOutcome& outcome : outcomes) {
    if (outcome.wheel.empty()) continue;
    toolchain::Python python = plan.find(outcome.id)->python;
    if (!into.empty()) python = toolchain::find_python(environment_python(into).string(), session.host());
    env::install_wheel(outcome.wheel, env::install_target(python), true, usable_threads());
    say(fmt::format("installed {} into {}\n", outcome.wheel.filename().string(), python.prefix.string()));
  }
}

// What doctor says of the steps that are to be built, with what the plan has chosen.
std::vector<doctor::Check> examine(const plan::Plan& plan, Session& session) {
  std::vector<doctor::Check> bad;
  const settings::Settings& settings = session.settings();
  std::optional<doctor::Facts> facts;
  std::vector<std::string> programs;
  for (const plan::Step& step : plan.steps) {
    for (const auto& [name, path] : step.programs) programs.push_back(name);
  }
  for (const plan::Step& step : plan.steps) {
    if (step.cached || !step.skipped.empty() || step.source.kind == source::Pin::Kind::program) continue;
    if (!facts) {
      facts = doctor::look_around(
          session.host(), {.store = session.store().root(), .temporary = {}, .out = settings.text("out")}, programs);
      facts->offline = settings.flag("offline");
      facts->platform = settings.text("platform");
      facts->jobs = number_setting(settings, "jobs", 0);
      facts->cuda_named = !settings.text("cuda").empty();
    }
    facts->registry_cuda = step.registry_cuda;
    facts->registry_rocm = step.registry_rocm;
    if (step.variant == recipe::Variant::rocm) doctor::look_at_rocm(*facts, step.python, session.host());
    facts->torch.reset();
    if (!step.torch_version.empty()) {
      facts->torch.emplace();
      facts->torch->version = step.torch_version;
      facts->torch->cuda = step.torch_cuda;
      facts->torch->hip = step.torch_hip;
    }
    const recipe::Recipe recipe = recipe::parse_recipe(step.recipe_text, step.recipe_origin);
    facts->settings = session.settings().table("set");
    for (doctor::Check& check : doctor::examine(recipe, step.variant, step.target, step.archs, step.python, *facts)) {
      if (check.state != doctor::State::bad) continue;
      check.step = step.id;
      bad.push_back(std::move(check));
    }
  }
  return bad;
}

bool all_good(const std::vector<run::StepOutcome>& outcomes) {
  for (const run::StepOutcome& outcome : outcomes) {
    if (outcome.outcome != "built" && outcome.outcome != "cached" && !outcome.optional) return false;
  }
  return true;
}

// Keeps the status lines' clocks going while nothing happens.
class Redrawer {
 public:
  Redrawer(report::BuildStatus& status, std::mutex& mutex)
      : m_thread([this, &status, &mutex] {
          while (!m_done) {
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
            const std::lock_guard guard(mutex);
            if (!m_done) say(status.redraw());
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

int build(const BuildCommand& command) {
  const settings::Settings settings = command.settings.read(command.packages);
  if (!settings.text("machine").empty())
    throw UsageError("--machine: a plan for another machine cannot be built here; `plan` and `doctor` take it");
  sys::install_interrupt_flag();
  const unsigned steps = number_setting(settings, "steps", std::max(1u, usable_threads() / 4));
  const unsigned jobs = number_setting(settings, "jobs", 0);
  const unsigned silence = number_setting(settings, "timeout", 0);
  if (steps == 0) throw UsageError("steps 0: then nothing would ever start");
  Session session(settings, command.upgrade);
  const plan::Request request = session.build_request();
  if (request.platform.starts_with("win") || request.platform.starts_with("macosx"))
    throw UsageError(fmt::format("--platform {}: builds run on Linux; `plan` shows what the recipe knows of it",
                                 printable(request.platform)));
  const bool live = sys::standard_error_is_terminal() && !command.output.json;
  const report::Style style = command.output.style();
  plan::PlanInputs inputs = session.inputs();
  if (!command.output.json) inputs.on_progress = [](const std::string& text) { say(text + "\n"); };
  const plan::Plan plan = plan::make_plan(request, inputs);
  if (!command.output.json) {
    for (const std::string& note : plan.notes) say(style.dim(printable(note)) + "\n");
    for (const plan::Step& step : plan.steps) {
      if (!step.cached)
        say(fmt::format("{} {}: {}\n", style.cyan(step.skipped.empty() ? "build" : "skip"), step.id, step.reason));
    }
  }
  const std::vector<doctor::Check> bad = command.despite_doctor ? std::vector<doctor::Check>() : examine(plan, session);
  if (!bad.empty()) {
    if (!command.output.json) say(report::doctor_text(bad, style));
    throw Error(fmt::format(
        "this machine cannot build it yet: {}{} (wheelsmith doctor says more; --despite-doctor builds all the same)",
        bad.front().found.empty() ? bad.front().id : bad.front().id + ": " + bad.front().found,
        bad.size() > 1 ? fmt::format(" and {} more", bad.size() - 1) : ""));
  }
  run::RunOptions options;
  options.out = settings.text("out");
  options.keep_going = settings.flag("keep-going");
  options.clean = command.clean;
  options.governed = settings.text("governor") != "off";
  std::vector<std::string> notes = plan.notes;
  if (settings.text("cache") == "on") {
    options.cache = cache_options(settings, session.store());
    const std::string without = !options.governed ? "the compile cache works behind the governor, which is off"
                                : options.cache.program.empty()
                                    ? "without a compile cache: there is no ccache here (apt-get install ccache)"
                                    : "";
    if (!without.empty()) notes.push_back(without);
    if (!without.empty() && !command.output.json) say(style.dim(without) + "\n");
  }
  if (const std::string memory = settings.text("memory"); !memory.empty())
    options.memory = parse_size("memory", memory);
  options.steps_at_once = steps;
  options.jobs = jobs;
  options.silence_seconds = silence;
  options.offline = request.offline;
  options.fetch = session.fetch_options();
  report::BuildStatus status(plan, style, live, request.verbose);
  std::mutex mutex;
  if (!command.output.json) {
    options.on_event = [&](const run::Event& event) {
      const std::lock_guard guard(mutex);
      say(status.on_event(event));
    };
  }
  std::vector<run::StepOutcome> outcomes;
  {
    std::optional<Redrawer> redrawer;
    if (live) redrawer.emplace(status, mutex);
    outcomes = run::run_plan(plan, session.store(), options);
  }
  say(live ? status.clear() : "");
  // Wheels that are built are told of even if they cannot be installed.
  std::string not_installed;
  try {
    if (command.install && all_good(outcomes)) install_wheels(outcomes, plan, command.into, session);
  } catch (const Error& error) {
    not_installed = fmt::format("built, but not installed: {}", printable(error.what()));
  }
  report::Closing closing;
  if (all_good(outcomes) && not_installed.empty()) {
    closing.checklist = closing_checklist(plan, outcomes, command.install, environment_python(command.into), session);
    for (const plan::Step& step : plan.steps) {
      if (step.asked_for) closing.runtime.insert(closing.runtime.end(), step.runtime.begin(), step.runtime.end());
    }
  }
  if (command.output.json) {
    if (!not_installed.empty()) notes.push_back(not_installed);
    print(report::build_json(outcomes, notes, closing));
  } else {
    print(report::build_text(outcomes, style) + report::closing_text(closing, style));
  }
  if (!not_installed.empty()) say(fmt::format("wheelsmith: error: {}\n", not_installed));
  if (sys::interrupted()) return k_interrupted;
  const bool good = all_good(outcomes) && not_installed.empty() && !doctor::any_bad(closing.checklist);
  return good ? k_fine : k_not_fine;
}

}  // namespace

void add_build(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<BuildCommand>();
  CLI::App* sub = app.add_subcommand("build", "Build packages from source into wheels that are checked and tested");
  sub->footer(
      "NAME is a recipe (see `wheelsmith recipes`) or any project of the registry that has an sdist. Wheels go into "
      "the\n"
      "wheelhouse (--out) only when they have passed their checks and tests. Killed at any moment, the same command "
      "goes on.\n"
      "Every option is also a line of wheelsmith.toml and a variable WHEELSMITH_NAME; `config show` says which one "
      "holds.\n\n"
      "Examples:\n"
      "  wheelsmith build texture --variant cuda --arch \"8.0;9.0\"\n"
      "  wheelsmith build torch-scatter --torch 2.13.0 --python 3.11,3.12\n"
      "  wheelsmith build flash-attn --gpu H100 --platform manylinux_2_34 --out wheels\n"
      "  wheelsmith build mypackage --source mypackage=. --install");
  sub->add_option("NAME", command->packages, "What to build; default: the packages of wheelsmith.toml");
  command->settings.add_to(*sub);
  sub->add_flag("--upgrade", command->upgrade, "Choose versions of sources and build requirements anew");
  sub->add_flag("--clean", command->clean, "Start from an empty build tree");
  sub->add_flag("--despite-doctor", command->despite_doctor, "Build although this machine does not seem to be able to");
  CLI::Option* install = sub->add_flag("--install", command->install, "Install what was built");
  sub->add_option("--into", command->into,
                  "With --install: environment's folder or interpreter; default: the one built for")
      ->needs(install);
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return build(*command); }; });
}

// Not for people: the runner starts one for each step.
void add_step(CLI::App& app, Outcome& outcome) {
  auto job = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("step", "Run one step of a plan from its job file");
  sub->group("");
  sub->add_option("JOB", *job, "Job file")->required();
  sub->callback([job, &outcome] { outcome = [job] { return run::run_step(*job); }; });

  // Nor this: the end of a way out that a step's command is started by.
  struct RelayCommand {
    std::string socket;
    std::vector<std::string> command;
  };
  auto relay = std::make_shared<RelayCommand>();
  CLI::App* inner = app.add_subcommand("relay", "Run a command with a way to the compile cache's server");
  inner->group("");
  inner->add_option("--socket", relay->socket, "The other end")->required();
  inner->add_option("command", relay->command, "The command and its words, after --")->required();
  inner->positionals_at_end();
  inner->callback([relay, &outcome] { outcome = [relay] { return run::run_relay(relay->socket, relay->command); }; });
}

}  // namespace wheelsmith::cli
