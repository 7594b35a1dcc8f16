// Connects the scheduler, which decides; the executor, which runs steps; the store, which caches their wheels; and the
// wheelhouse, which receives them.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "base/error.h"
#include "base/parallel.h"
#include "plan/cutoff.h"
#include "run/build_list.h"
#include "run/deliver.h"
#include "run/run.h"
#include "run/scheduler.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/process/own_process.h"

namespace wheelsmith::run {

namespace {

// The reason of the plan, with what has changed in the wheels that were rebuilt since.
std::string with_difference(const std::string& reason, const std::string& difference) {
  if (difference.empty() || reason.ends_with(difference)) return reason;
  return fmt::format("{}; {}", reason.substr(0, reason.find("; ")), difference);
}

constexpr const char* k_interrupted = "interrupted; run the same command to resume";

// A plan's graph, with steps as indices.
class Graph {
 public:
  explicit Graph(const plan::Plan& plan) : m_plan(plan), m_optional(plan.steps.size(), true) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) m_places.emplace(plan.steps[i].id(), i);
    std::vector<bool> needed(plan.steps.size());
    for (const plan::Step& step : plan.steps) {
      for (const plan::Edge& need : step.needs) {
        needed[place(need.step)] = true;
        if (!need.optional) m_optional[place(need.step)] = false;
      }
    }
    // The user did not request it by name, and every step that depends on it can be built without it.
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      m_optional[i] = m_optional[i] && needed[i] && !plan.steps[i].closing.asked_for;
  }

  [[nodiscard]] std::size_t place(const std::string& id) const { return m_places.at(id); }
  [[nodiscard]] bool is_optional(std::size_t step) const { return m_optional[step]; }

  [[nodiscard]] std::vector<Scheduler::Node> nodes() const {
    const std::vector<double> urgency = plan::critical_seconds(m_plan);
    std::vector<Scheduler::Node> result;
    for (std::size_t i = 0; i < m_plan.steps.size(); ++i) {
      const plan::Step& step = m_plan.steps[i];
      Scheduler::Node node;
      for (const plan::Edge& need : step.needs) node.needs.push_back({place(need.step), need.optional});
      node.urgency = urgency[i];
      node.cached = step.decision.cached;
      node.skipped = step.is_skipped();
      node.optional = m_optional[i];
      result.push_back(std::move(node));
    }
    return result;
  }

  // The steps whose wheels are in a step's environment, and their dependencies in turn, since a wheel may require its
  // build dependencies at run time. Index, and whether the step depends on it directly.
  [[nodiscard]] std::map<std::size_t, bool> environment_of(std::size_t step) const {
    std::map<std::size_t, bool> result;
    std::vector<std::size_t> left;
    const auto add = [&](std::size_t one, bool direct) {
      for (const plan::Edge& need : m_plan.steps[one].needs) {
        if (need.kind != plan::Edge::Kind::environment) continue;
        if (result.try_emplace(place(need.step), direct).second) left.push_back(place(need.step));
      }
    };
    add(step, true);
    while (!left.empty()) {
      const std::size_t one = left.back();
      left.pop_back();
      add(one, false);
    }
    return result;
  }

 private:
  const plan::Plan& m_plan;
  std::unordered_map<std::string, std::size_t> m_places;
  std::vector<bool> m_optional;
};

// The progress of a build, in a file of the store. `report` reads it after this process has exited.
class History {
 public:
  History(const plan::Plan& plan, const store::Store& store, document::Table about)
      : m_plan(plan), m_about(std::move(about)) {
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    m_began = std::chrono::duration<double>(time).count();
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    m_file = store.folder("logs") / fmt::format("build-{}-{}.json", milliseconds, ::getpid());
  }

  // A plan of many steps is not written with each of them.
  void write(const std::vector<StepOutcome>& outcomes, const std::vector<bool>& ended,
             const std::map<std::string, std::string>& running, bool last, bool left) {
    const auto now = std::chrono::steady_clock::now();
    if (!last && now < m_next) return;
    document::Table table = m_about;
    table["schema"] = 1;
    table["started"] = m_began;
    table["host"] = sys::host_name();
    table["pid"] = ::getpid();
    table["ended"] = last && !left;
    table["written"] = sys::unix_seconds();
    document::Table places;
    for (const auto& [id, place] : running) places[id] = place;
    table["running"] = std::move(places);
    document::Array planned, steps;
    document::Table keys;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      planned.emplace_back(m_plan.steps[i].id());
      keys[m_plan.steps[i].id()] = m_plan.steps[i].spec.key;
      if (ended[i]) steps.push_back(outcomes[i].to_value());
    }
    table["planned"] = std::move(planned);
    table["keys"] = std::move(keys);
    table["steps"] = std::move(steps);
    try {
      sys::write_file(m_file, document::to_json(table));
    } catch (const Error&) {  // a read-only or full store fails in the steps themselves
    }
    const auto took = std::chrono::steady_clock::now() - now;
    m_next = took < std::chrono::milliseconds(20) ? now : now + 50 * took;
  }

 private:
  const plan::Plan& m_plan;
  document::Table m_about;
  std::chrono::steady_clock::time_point m_next{};
  double m_began;
  std::filesystem::path m_file;
};

class Coordinator {
 public:
  Coordinator(const plan::Plan& plan, store::Store& store, Executor& executor, const RunOptions& options)
      : m_plan(plan),
        m_store(store),
        m_executor(executor),
        m_options(options),
        m_graph(plan),
        m_scheduler(m_graph.nodes(), {.keep_going = options.keep_going, .most_losses = options.most_losses}),
        m_history(plan, store, options.about),
        m_outcomes(plan.steps.size()),
        m_ended(plan.steps.size()),
        m_running(plan.steps.size()) {
    write_history(false);
  }

  std::vector<StepOutcome> run() {
    for (;;) {
      if (sys::interrupted() && stop()) break;
      while (const auto decision = m_scheduler.next(m_executor.room())) carry_out(*decision);
      if (m_scheduler.done()) break;
      for (Report& report : m_executor.wait()) take(report);
    }
    drop_uncacheable();
    write_history(true);
    return std::move(m_outcomes);
  }

 private:
  // Whether it is time to end although steps run.
  bool stop() {
    const auto now = std::chrono::steady_clock::now();
    if (!std::exchange(m_stopping, true)) {
      m_scheduler.cancel();
      m_leave_at = now + std::chrono::milliseconds(static_cast<int>(k_second_chance * 1000));
      const auto running = static_cast<std::size_t>(std::count(m_running.begin(), m_running.end(), true));
      if (m_executor.outlives_coordinator() && running != 0)
        m_options.on_message(
            fmt::format("interrupted: {} in the cluster; press Ctrl-C again within {:.0f} s to cancel {}",
                        running == 1 ? "1 job continues" : fmt::format("{} jobs continue", running), k_second_chance,
                        running == 1 ? "it" : "them"));
      else
        cancel();
    }
    if (!m_executor.outlives_coordinator() || m_cancelled) return false;
    if (sys::interruptions() > 1) {
      m_options.on_message("cancelling the jobs");
      cancel();
      return false;
    }
    if (now < m_leave_at) return false;
    leave();
    m_left = true;
    return true;
  }

  // The jobs go on; the rest is not started by us.
  void leave() {
    while (const auto decision = m_scheduler.next(0)) carry_out(*decision);
    for (std::size_t i = 0; i < m_running.size(); ++i) {
      if (!m_running[i]) continue;
      StepOutcome outcome;
      outcome.outcome = Outcome::skipped;
      outcome.log = m_outcomes[i].log;
      const std::string place = m_executor.place(i);
      outcome.cause = place.empty() ? "interrupted" : "left running: " + place;
      end(i, std::move(outcome));
    }
  }

  void write_history(bool last) {
    std::map<std::string, std::string> running;
    for (std::size_t i = 0; i < m_running.size(); ++i) {
      if (m_running[i]) running.emplace(m_plan.steps[i].id(), m_executor.place(i));
    }
    m_history.write(m_outcomes, m_ended, running, last, m_left);
  }

  void cancel() {
    m_cancelled = true;
    m_scheduler.cancel();
    for (std::size_t i = 0; i < m_running.size(); ++i) {
      if (m_running[i]) m_executor.cancel(i);
    }
  }

  // Wheels of editable folders and untested wheels were in the store only for the steps that depend on them; the
  // wheelhouse has the only lasting copy.
  void drop_uncacheable() {
    for (std::size_t i = 0; i < m_outcomes.size(); ++i) {
      const bool untested = m_options.no_test && m_outcomes[i].outcome == Outcome::built;
      if ((m_plan.steps[i].spec.uncacheable || untested) && m_outcomes[i].artifact)
        m_store.drop_blob(m_outcomes[i].artifact->sha256);
    }
  }

  void carry_out(const Scheduler::Decision& decision) {
    switch (decision.kind) {
      case Scheduler::Decision::Kind::skip: skip(decision); break;
      case Scheduler::Decision::Kind::take_cached: take_cached(decision.step); break;
      case Scheduler::Decision::Kind::start: start(decision.step); break;
    }
  }

  void skip(const Scheduler::Decision& decision) {
    StepOutcome outcome;
    outcome.outcome = Outcome::skipped;
    switch (decision.cause) {
      case Scheduler::Cause::planned: outcome.cause = m_plan.steps[decision.step].decision.skipped; break;
      case Scheduler::Cause::need_failed:
        outcome.cause = fmt::format("it depends on {}, which was not built", m_plan.steps[decision.culprit].id());
        break;
      case Scheduler::Cause::another_failed:
        outcome.cause = "another step failed (use --keep-going to build the rest)";
        break;
      case Scheduler::Cause::cancelled: outcome.cause = "interrupted"; break;
    }
    end(decision.step, std::move(outcome));
  }

  // The early cut-off: the wheels that the step needs are finished, so that what it sees of them can be compared.
  // `why_not` gets what changed.
  bool keep_earlier(std::size_t index, std::string& why_not) {
    const plan::Step& step = m_plan.steps[index];
    if (m_options.exact || m_options.rebuild || step.spec.uncacheable || step.spec.editable) return false;
    std::vector<plan::EnvironmentWheel> wheels;
    for (const auto& [need, direct] : m_graph.environment_of(index)) {
      if (const auto& artifact = m_outcomes[need].artifact)
        wheels.push_back({m_plan.steps[need].spec.project, artifact->file_name, artifact->sha256});
    }
    plan::CutOff found = plan::find_kept(step.spec, wheels, m_store);
    why_not = std::move(found.why_not);
    if (!found.kept) return false;
    const store::StepRecord& record = found.kept->record;
    StepOutcome outcome;
    outcome.outcome = Outcome::cached;
    outcome.artifact = Artifact{record.wheel_name, record.wheel_sha256, record.wheel_size};
    outcome.kept_key = record.key;
    outcome.rebuilt = std::move(found.kept->rebuilt);
    outcome.reason = plan::kept_reason(step.spec.package, outcome.rebuilt);
    tell({.kind = Event::Kind::note, .step = step.id(), .text = outcome.reason});
    finish(index, std::move(outcome));
    return true;
  }

  void take_cached(std::size_t step) {
    if (!m_plan.steps[step].decision.kept_key.empty()) {
      std::string why_not;
      if (!keep_earlier(step, why_not)) m_scheduler.not_cached(step);
      return;
    }
    auto artifact = find_artifact(m_plan.steps[step].spec.key, m_store);
    if (!artifact) {
      m_scheduler.not_cached(step);
      return;
    }
    StepOutcome outcome;
    outcome.outcome = Outcome::cached;
    outcome.artifact = std::move(artifact);
    finish(step, std::move(outcome));
  }

  void start(std::size_t index) {
    const plan::Step& step = m_plan.steps[index];
    std::string why_not;
    if (keep_earlier(index, why_not)) return;
    Submission submission;
    submission.ticket = index;
    submission.resources.memory = step.decision.forecast.memory_per_job;
    submission.resources.seconds = step.decision.forecast.seconds;
    if (step.decision.forecast.from == plan::Forecast::From::recipe)
      submission.resources.core_seconds = step.decision.forecast.seconds * usable_threads();
    Job& job = submission.job;
    job.spec = step.spec;
    job.reason = with_difference(step.decision.reason, why_not);
    job.store = m_store.root();
    job.scratch = m_store.options().scratch;
    job.claim_timeout =
        static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(m_store.options().claim_timeout).count());
    job.log = log_path(m_store, step.id(), step.spec.key);
    job.cache = m_options.cache;
    job.limits.parts = m_options.gpu_parts;
    job.sandbox = m_options.sandbox;
    job.limits.most_jobs = m_options.jobs;
    job.limits.memory = m_options.memory;
    job.limits.silence_seconds = m_options.silence_seconds;
    job.clean = m_options.clean;
    job.no_test = m_options.no_test;
    if (m_options.keep_failed) job.keep_failed = std::filesystem::absolute(m_options.out) / "failed";
    job.offline = m_options.offline;
    job.mirrors = m_options.mirrors;
    job.rebuild = m_options.rebuild;
    for (const auto& [need, direct] : m_graph.environment_of(index)) {
      const plan::BuildSpec& other = m_plan.steps[need].spec;
      if (const auto& artifact = m_outcomes[need].artifact)
        job.needs.push_back({other.project, other.version, *artifact, direct});
    }
    m_outcomes[index].log = job.log;
    m_running[index] = true;
    const std::string log = job.log.string();
    m_executor.submit(std::move(submission));
    tell({.kind = Event::Kind::started, .step = step.id(), .text = log});
  }

  void take(Report& report) {
    const std::size_t step = report.ticket;
    switch (report.kind) {
      case Report::Kind::event:
        report.event.step = m_plan.steps[step].id();
        if (report.event.kind == Event::Kind::queued || report.event.kind == Event::Kind::placed) write_history(false);
        tell(report.event);
        return;
      case Report::Kind::finished:
        m_running[step] = false;
        finish(step, std::move(report.outcome));
        return;
      case Report::Kind::lost: break;
    }
    m_running[step] = false;
    if (m_scheduler.lost(step)) {
      tell({.kind = Event::Kind::note, .step = m_plan.steps[step].id(), .text = report.why + "; retrying"});
      return;
    }
    StepOutcome outcome;
    outcome.outcome = Outcome::failed;
    outcome.log = m_outcomes[step].log;
    outcome.cause = sys::interrupted() ? k_interrupted : report.why;
    end(step, std::move(outcome));
  }

  // Failing to deliver a wheel fails its step, even though the wheel is in the store.
  void finish(std::size_t step, StepOutcome outcome) {
    try {
      if (outcome.artifact) {
        const Delivered delivered = deliver(*outcome.artifact, m_options.out, m_store);
        outcome.wheel = delivered.path;
        outcome.replaced = delivered.replaced;
      }
    } catch (const Error& error) {  // the error becomes the step's outcome
      outcome.outcome = Outcome::failed;
      outcome.cause = error.what();
      outcome.phase = plan::Phase::publish;
    }
    if (outcome.made())
      m_scheduler.succeeded(step);
    else
      m_scheduler.failed(step);
    end(step, std::move(outcome));
  }

  void end(std::size_t index, StepOutcome outcome) {
    const plan::Step& step = m_plan.steps[index];
    outcome.id = step.id();
    outcome.package = step.spec.package;
    outcome.key = step.spec.key;
    if (outcome.reason.empty()) outcome.reason = step.decision.reason;
    outcome.optional = m_graph.is_optional(index);
    outcome.editable = step.spec.editable;
    m_outcomes[index] = std::move(outcome);
    m_ended[index] = true;
    write_history(false);
    const StepOutcome& kept = m_outcomes[index];
    tell({.kind = Event::Kind::finished, .step = step.id(), .text = "", .outcome = &kept});
    if (kept.replaced)
      tell({.kind = Event::Kind::note,
            .step = step.id(),
            .text = fmt::format("replaced a different {} in the wheelhouse", kept.wheel.filename().string())});
  }

  void tell(const Event& event) const { m_options.on_event(event); }

  const plan::Plan& m_plan;
  store::Store& m_store;
  Executor& m_executor;
  const RunOptions& m_options;
  Graph m_graph;
  Scheduler m_scheduler;
  History m_history;
  std::vector<StepOutcome> m_outcomes;
  std::vector<bool> m_ended, m_running;
  bool m_stopping = false, m_cancelled = false, m_left = false;
  std::chrono::steady_clock::time_point m_leave_at{};
};

}  // namespace

std::vector<StepOutcome> run_plan(const plan::Plan& plan, store::Store& store, Executor& executor,
                                  const RunOptions& options) {
  return Coordinator(plan, store, executor, options).run();
}

}  // namespace wheelsmith::run
