// One step, from its source to a wheel in the store. run_phases() lists the phases in order.

#include "run/step/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/text.h"
#include "diagnose/diagnose.h"
#include "run/deliver.h"
#include "run/machine_facts.h"
#include "run/step/phases.h"
#include "run/step/tool_runner.h"
#include "run/wheel_tests.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::run {

namespace {

toolchain::Host host_with_memory(store::Store& store) {
  toolchain::Host host;
  host.environment = sys::current_environment();
  host.memo.find = [&store](std::string_view kind, std::string_view subject, std::string_view fingerprint) {
    return store.remembered(kind, subject, fingerprint);
  };
  host.memo.keep = [&store](std::string_view kind, std::string_view subject, std::string_view fingerprint,
                            std::string_view facts) { store.remember(kind, subject, fingerprint, facts); };
  return host;
}

fetch::FetchOptions fetch_options(const Job& job) {
  fetch::FetchOptions options;
  options.index = fetch::read_pip_settings(sys::current_environment(), job.spec.python.prefix);
  options.offline = job.offline;
  options.python = job.spec.python.executable;
  options.mirrors = job.mirrors;
  options.stop = [] { return sys::interrupted(); };
  options.on_progress = [](const fetch::Progress& progress) {
    if (progress.total == 0) return;
    Reporter::tell({.kind = Event::Kind::progress,
                    .step = "",
                    .text = progress.what,
                    .done = progress.done,
                    .total = progress.total});
  };
  return options;
}

// Python byte code goes into the step's own tree, new for each run. Environments are shared, and a process that runs
// out of disk space would leave partial files in them. The location does not affect the result, so it is not part of
// the key.
Job with_own_bytecode(Job job, store::Store& store) {
  const std::filesystem::path folder = store.tree(job.spec.identity) / "tmp" / "pycache";
  sys::remove_tree(folder);
  job.spec.variables.loose.emplace_back("PYTHONPYCACHEPREFIX", folder.string());
  return job;
}

// Detects changes by a build script, or a faulty disk, in the folders that all builds share.
void refuse_changed_environment(const store::Store& store) {
  const std::string changed = store.changed_in_use();
  if (changed.empty()) return;
  throw WheelRefused(fmt::format(
      "the build environment changed while it was in use ({}); rerun the same command to recreate it", changed));
}

// Keeps the rejected wheel if requested, in a separate folder from which nothing is delivered or indexed.
std::filesystem::path keep_refused(const Job& job, const FinishedWheel& wheel, const StepServices& services) {
  if (job.keep_failed.empty()) return {};
  try {
    sys::make_folders(job.keep_failed);
    const std::filesystem::path kept = job.keep_failed / wheel.path.filename();
    sys::copy_file(wheel.path, kept);
    return kept;
  } catch (const Error& error) {  // the rejection matters more
    services.report.log_line(error.what());
    return {};
  }
}

void run_phases(const Job& job, const recipe::Recipe& recipe, const StepServices& services, StepOutcome& outcome) {
  const auto started = std::chrono::steady_clock::now();
  const plan::BuildSpec& spec = job.spec;
  const recipe::Rules& rules = recipe.rules(spec.variant, spec.target);
  SourceTree tree = get_source(job, services);
  const bool resumed = tree.prepared;  // what was compiled before does not report again what it has read
  BuildEnvironment environment = make_environment(job, tree, services);
  ToolRunner tools(job, rules, tree, environment, services);
  try {
    prepare(job, rules, tree, environment, tools, services);
    if (spec.editable) {
      const std::filesystem::path built = build_in_place(job, tree, environment, tools, services);
      outcome.cache = tools.finish(true);
      install_in_place(job, tree, built, services);
      test(job, rules, tree, {built, {}, {}}, environment, outcome, services);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
      services.store.note_cost(spec.identity, {taken.count(), 0, 0});
      return;
    }
    const std::filesystem::path built = build(job, recipe, tree, tools, services);
    outcome.cache = tools.finish(true);
    const FinishedWheel wheel = finish({spec, rules, built, environment, tools.confinement()}, services);
    if (!job.rebuild) {
      try {
        check(spec, rules, wheel, environment.torch, outcome.findings, services);
        test(job, rules, tree, wheel, environment, outcome, services);
      } catch (const WheelRefused&) {  // rethrown; the user may examine the wheel
        outcome.refused_wheel = keep_refused(job, wheel, services);
        throw;
      }
    }
    refuse_changed_environment(services.store);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started;
    BuildView view{.headers_read = {}, .may_copy_libraries = rules.repair.enabled};
    if (!resumed) view.headers_read = tools.files_read();
    outcome.artifact = publish(job, wheel, outcome.tests, passed.count(), view, services);
  } catch (const CommandFailed& failed) {  // record the command while its environment is known
    outcome.failure = failed.failure;
    outcome.repeat_script = tools.write_repeat_script(failed);
    outcome.cache = tools.finish(false);
    throw;
  } catch (const Error&) {  // the log of a failure gets the governor's summary, too
    outcome.cache = tools.finish(false);
    throw;
  }
}

// Without network access, a build's log reads like that of a machine without a network.
void explain_closed_network(diagnose::Cause& cause) {
  cause.what = "The build tried to use the network, which is disabled unless the recipe or --network enables it.";
  cause.fixes = {"rerun the same command with --network on",
                 "or add to its recipe: [build] network = true and network-why = \"…\""};
}

// Whether prepare commands had network access although the build has none.
bool has_downloads(const Job& job) {
  return !job.offline && std::any_of(job.spec.actions.begin(), job.spec.actions.end(), [](const plan::Action& action) {
    const auto* command = std::get_if<plan::RunCommand>(&action.what);
    return command != nullptr && command->network;
  });
}

// A failed command's log says more than its exit status.
void diagnose_failure(StepOutcome& outcome, bool network) {
  if (outcome.outcome != Outcome::failed || !outcome.failure || outcome.log.empty()) return;
  try {
    diagnose::Diagnoser diagnoser(diagnose::builtin_knowledge());
    sys::read_pieces(outcome.log, [&](std::string_view piece) { diagnoser.feed(piece); });
    outcome.diagnosis = diagnoser.finish(machine_for_remedies(diagnose::Audience::build)).cause;
    if (!network && outcome.phase != plan::Phase::test && outcome.diagnosis && outcome.diagnosis->kind == "network")
      explain_closed_network(*outcome.diagnosis);
  } catch (const Error&) {  // the failure itself matters more
  }
}

// Messages name files as the compiler saw them, in the step's tree. Users know the folder given with --source, or the
// path in the package.
void show_own_paths(StepOutcome& outcome, const Job& job) {
  if (!outcome.failure && !outcome.diagnosis) return;
  const std::string tree =
      (store::Store(job.store, job.store_options()).tree(job.spec.identity) / "source").string() + "/";
  const bool folder = !job.spec.source.folder.empty();
  const std::string own = folder ? std::filesystem::absolute(job.spec.source.folder).lexically_normal().string() : "";
  const std::string instead = !folder ? "" : own.ends_with('/') ? own : own + "/";
  if (outcome.failure) replace_all(outcome.failure->output, tree, instead);
  if (!outcome.diagnosis) return;
  for (diagnose::Quote& quote : outcome.diagnosis->why) replace_all(quote.text, tree, instead);
  replace_all(outcome.diagnosis->what, tree, instead);
  for (std::string& fix : outcome.diagnosis->fixes) replace_all(fix, tree, instead);
}

// A build that filled the disk must not prevent the next one from starting.
void make_room(const Job& job, const store::Store& store, StepOutcome& outcome, Reporter& report) {
  const std::filesystem::path tree = store.tree(job.spec.identity);
  if (!sys::is_nearly_full(tree)) return;
  sys::remove_tree(tree);
  outcome.repeat_script.clear();
  report.log_line("the disk is full: removed the build tree");
}

StepOutcome run_job(const Job& given, store::Store& store) {
  const auto started = std::chrono::steady_clock::now();
  const Job job = with_own_bytecode(given, store);
  StepOutcome outcome;
  outcome.log = job.log;
  outcome.reason = job.reason;
  Reporter report(job.log);
  try {
    store.note_try(job.spec.identity, job.spec.manifest);
    const toolchain::Host host = host_with_memory(store);
    fetch::Fetcher fetcher(store, fetch_options(job));
    const recipe::Recipe recipe = recipe::parse_recipe(job.spec.recipe_text, job.spec.recipe_origin);
    run_phases(job, recipe, {store, fetcher, host, report}, outcome);
    outcome.outcome = Outcome::built;
    if (!job.spec.uncacheable || job.rebuild) sys::remove_tree(store.tree(job.spec.identity));
  } catch (const Error& error) {  // the error becomes the step's outcome
    outcome.outcome = Outcome::failed;
    outcome.cause = sys::interrupted() ? "interrupted; run the same command to resume" : error.what();
    report.log_line("failed in phase " +
                    std::string(report.current_phase() ? plan::to_string(*report.current_phase()) : "none") + ": " +
                    outcome.cause);
    make_room(job, store, outcome, report);
  }
  outcome.phase = report.current_phase();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return outcome;
}

// The wheel that another job has built and checked, on a machine with a GPU: its tests, and then it is published.
void test_and_publish(const Job& job, store::Store& store, Reporter& report, StepOutcome& outcome) {
  report.phase(plan::Phase::test);
  store::StepRecord record =
      store::StepRecord::from_value(document::parse_json(sys::read_file(job.held), job.held.string()));
  const auto blob = store.blob(record.wheel_sha256);
  if (record.key != job.spec.key || !blob || !store.has_sha256(*blob, record.wheel_sha256))
    throw Error("the wheel to test is no longer in the store; run the same command to rebuild it");
  const std::filesystem::path folder = store.temporary() / "held";
  sys::make_folders(folder);
  const std::filesystem::path wheel = folder / std::filesystem::path(record.wheel_name).filename();
  sys::copy_file(*blob, wheel);
  const toolchain::Host host = host_with_memory(store);
  fetch::Fetcher fetcher(store, fetch_options(job));
  const WheelTest result = test_wheel(wheel, job.spec.python, store, fetcher, host, job.sandbox, job.offline);
  sys::remove_tree(folder);
  if (!result.error.empty()) throw Error(result.error);
  for (const TestOutcome& test : result.tests) {
    report.note(
        fmt::format("test {}: {}{}", test.id, to_string(test.outcome), test.why.empty() ? "" : " (" + test.why + ")"));
    if (test.outcome == TestResult::fail) throw WheelRefused(fmt::format("the test {} failed: {}", test.id, test.why));
  }
  // What could not run here, without the source, has run where it was built.
  StepOutcome built;
  built.tests = StepOutcome::from_value(
                    document::Table(std::vector<document::Member>{{"outcome", "built"}, {"tests", record.tests}}))
                    .tests;
  for (TestOutcome& before : built.tests) {
    for (const TestOutcome& now : result.tests) {
      if (now.id == before.id && now.outcome != TestResult::not_run) before = now;
    }
  }
  outcome.tests = built.tests;
  record.tests = built.to_value()["tests"];
  report.phase(plan::Phase::publish);
  store.put_step(record);
  outcome.artifact = Artifact{record.wheel_name, record.wheel_sha256, record.wheel_size};
}

StepOutcome run_held(const Job& job, store::Store& store) {
  const auto started = std::chrono::steady_clock::now();
  StepOutcome outcome;
  outcome.log = job.log;
  outcome.reason = job.reason;
  Reporter report(job.log);
  try {
    test_and_publish(job, store, report, outcome);
    outcome.outcome = Outcome::built;
  } catch (const Error& error) {  // one step becomes an outcome
    outcome.outcome = Outcome::failed;
    outcome.cause = sys::interrupted() ? "interrupted; run the same command to resume" : error.what();
    report.log_line("failed: " + outcome.cause);
  }
  outcome.phase = report.current_phase();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return outcome;
}

// One process at a time per tree and log, regardless of its coordinator. Another coordinator may have built the step
// during the wait.
StepOutcome run_alone(const Job& job) {
  store::Store store(job.store, job.store_options());
  const auto tell_wait = [](const std::string& holder) {
    Reporter::tell({.kind = Event::Kind::phase,
                    .step = "",
                    .text = fmt::format("waiting for another build of the same step: {}", holder)});
  };
  const store::Lock tree = store.lock(store::tree_lock(job.spec.identity), tell_wait);
  // Trees are local to a machine; results belong to all machines that share the store.
  const store::Lock step = store.lock(store::step_lock(job.spec.key), tell_wait);
  if (!job.spec.uncacheable && !job.rebuild) {
    if (auto artifact = find_artifact(job.spec.key, store)) {
      StepOutcome outcome;
      outcome.outcome = Outcome::cached;
      outcome.artifact = std::move(artifact);
      return outcome;
    }
  }
  return job.test_held ? run_held(job, store) : run_job(job, store);
}

std::string read_input() {
  std::string text;
  sys::read_pieces("-", [&text](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

int run_step(const std::filesystem::path& job_file) {
  sys::become_subreaper(true);
  sys::install_interrupt_flag();
  StepOutcome outcome;
  std::optional<Job> job;
  try {
    const std::string text = job_file == "-" ? read_input() : sys::read_file(job_file);
    job = Job::from_value(document::parse_json(text, "job"));
    outcome = run_alone(*job);
  } catch (const std::filesystem::filesystem_error& error) {  // disk errors, or another process in our folders
    outcome.cause = error.what();
  } catch (const Error& error) {  // the error becomes the step's outcome
    outcome.cause = error.what();
  }
  sys::kill_descendants();
  const bool network = !job || job->spec.network || (outcome.phase == plan::Phase::prepare && has_downloads(*job));
  diagnose_failure(outcome, network);
  if (job) show_own_paths(outcome, *job);
  Reporter::tell({.kind = Event::Kind::finished, .step = "", .text = "", .done = 0, .total = 0, .outcome = &outcome});
  return outcome.outcome == Outcome::failed ? 1 : 0;
}

}  // namespace wheelsmith::run
