// Steps in processes of their own, started as soon as what they need is there, the longest chain first.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "governor/governor.h"
#include "run/deliver.h"
#include "run/job.h"
#include "run/run.h"
#include "sys/file.h"

namespace wheelsmith::run {

namespace {

Event::Kind event_kind(std::string_view name) {
  if (name == "phase") return Event::Kind::phase;
  if (name == "progress") return Event::Kind::progress;
  if (name == "output") return Event::Kind::output;
  if (name == "memory") return Event::Kind::memory;
  return Event::Kind::note;
}

// As many compilers as cores, but no more than memory holds.
unsigned jobs_for(const plan::Step& step, const RunOptions& options, std::size_t steps_left) {
  const auto at_once =
      static_cast<unsigned>(std::clamp<std::size_t>(steps_left, 1, std::max(1u, options.steps_at_once)));
  unsigned jobs = std::max(1u, usable_threads() / at_once);
  const std::uint64_t each = step.forecast.memory_per_job;
  if (each != 0) {
    const std::uint64_t room = sys::memory().available / 10 * 9 / at_once / each;
    jobs = static_cast<unsigned>(std::clamp<std::uint64_t>(room, 1, jobs));
  }
  return options.jobs == 0 ? jobs : std::min(jobs, options.jobs);
}

std::filesystem::path log_path(const store::Store& store, const plan::Step& step) {
  return store.folder("logs") / fmt::format("{}-{}.log", store::slug(step.id), step.key.substr(0, 12));
}

class Runner {
 public:
  Runner(const plan::Plan& plan, store::Store& store, const RunOptions& options)
      : m_plan(plan), m_store(store), m_options(options), m_urgency(plan::critical_seconds(plan)) {
    m_outcomes.resize(plan.steps.size());
    m_states.resize(plan.steps.size(), State::waiting);
    m_optional.resize(plan.steps.size());
    for (std::size_t i = 0; i < plan.steps.size(); ++i) m_optional[i] = is_optional(plan.steps[i]);
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    m_began = std::chrono::duration<double>(time).count();
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    m_outcomes_file = store.folder("logs") / fmt::format("build-{}-{}.json", milliseconds, ::getpid());
    keep_outcomes();
  }

  std::vector<StepOutcome> run();

 private:
  enum class State { waiting, running, done };
  struct Running {
    std::size_t index;
    sys::Process process;
    std::filesystem::path job_file;
    std::string partial;
    std::string strange;  // what was no event: a crash's last words
    bool reported = false;
  };

  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view id) const;
  [[nodiscard]] bool is_ready(std::size_t index) const;
  [[nodiscard]] bool is_optional(const plan::Step& step) const;
  [[nodiscard]] std::size_t steps_left() const;
  [[nodiscard]] std::map<std::string, bool> all_needs(const plan::Step& step) const;
  bool take_cached(std::size_t index);
  void skip_hopeless();
  void start_ready();
  void start_governor();
  void start(std::size_t index);
  void read_events(Running& running);
  void take_event(Running& running, std::string_view line);
  void finish(Running& running, const sys::Exit& exit);
  void finished(std::size_t index, StepOutcome outcome);
  void keep_outcomes() const;
  void wait_a_little();

  const plan::Plan& m_plan;
  store::Store& m_store;
  const RunOptions& m_options;
  std::map<std::string, double> m_urgency;
  std::vector<StepOutcome> m_outcomes;
  std::vector<State> m_states;
  std::vector<bool> m_optional;
  double m_began;
  std::filesystem::path m_outcomes_file;
  std::vector<Running> m_running;
  bool m_failed = false;
  bool m_stopping = false;
  bool m_tried_governor = false;
  std::optional<governor::GovernedBuild> m_governor;
};

std::optional<std::size_t> Runner::index_of(std::string_view id) const {
  for (std::size_t i = 0; i < m_plan.steps.size(); ++i) {
    if (m_plan.steps[i].id == id) return i;
  }
  return std::nullopt;
}

bool names(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Nobody asked for it by name, and whoever needs it does without it if need be: its failure is no failure.
bool Runner::is_optional(const plan::Step& step) const {
  if (step.asked_for) return false;
  bool needed = false;
  for (const plan::Step& other : m_plan.steps) {
    if (!names(other.needs, step.id)) continue;
    if (!names(other.optional, step.id)) return false;
    needed = true;
  }
  return needed;
}

// Steps that are still to be compiled, this one and the running ones included.
std::size_t Runner::steps_left() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < m_states.size(); ++i) {
    if (m_states[i] != State::done && !m_plan.steps[i].cached) ++count;
  }
  return count;
}

bool Runner::is_ready(std::size_t index) const {
  if (m_states[index] != State::waiting) return false;
  return std::all_of(m_plan.steps[index].needs.begin(), m_plan.steps[index].needs.end(), [&](const std::string& id) {
    const auto need = index_of(id);
    return need && m_states[*need] == State::done;
  });
}

// What it needs, and what that needs, since a wheel may require at run time what it was built with: id, and whether the
// step itself asks for it.
std::map<std::string, bool> Runner::all_needs(const plan::Step& step) const {
  std::map<std::string, bool> result;
  std::vector<std::string> left;
  const auto add = [&](const plan::Step& one, bool direct) {
    for (const std::string& id : one.needs) {
      const bool built = !m_outcomes[*index_of(id)].wheel.empty();
      if (!built || names(one.companions, id)) continue;
      if (result.try_emplace(id, direct).second) left.push_back(id);
    }
  };
  add(step, true);
  while (!left.empty()) {
    const std::string id = left.back();
    left.pop_back();
    add(*m_plan.find(id), false);
  }
  return result;
}

void Runner::finished(std::size_t index, StepOutcome outcome) {
  const plan::Step& step = m_plan.steps[index];
  outcome.id = step.id;
  outcome.package = step.package;
  outcome.key = step.key;
  if (outcome.reason.empty()) outcome.reason = step.reason;
  outcome.optional = m_optional[index];
  m_failed = m_failed || (outcome.outcome == "failed" && !outcome.optional);
  m_states[index] = State::done;
  m_outcomes[index] = std::move(outcome);
  keep_outcomes();
  Event event;
  event.kind = Event::Kind::finished;
  event.step = step.id;
  event.outcome = &m_outcomes[index];
  m_options.on_event(event);
  if (!m_outcomes[index].replaced) return;
  event.kind = Event::Kind::note;
  event.outcome = nullptr;
  event.text = fmt::format("another {} was there and is replaced", m_outcomes[index].wheel.filename().string());
  m_options.on_event(event);
}

// For `report`, which comes when we are gone: what has become of this build so far.
void Runner::keep_outcomes() const {
  document::Table table;
  table["schema"] = 1;
  table["started"] = m_began;
  document::Array planned, steps;
  for (std::size_t i = 0; i < m_states.size(); ++i) {
    planned.emplace_back(m_plan.steps[i].id);
    if (m_states[i] == State::done) steps.push_back(m_outcomes[i].to_value());
  }
  table["planned"] = std::move(planned);
  table["steps"] = std::move(steps);
  try {
    sys::write_file(m_outcomes_file, document::to_json(table));
  } catch (const Error&) {  // a store that is read-only or full fails where it matters
  }
}

// A step whose wheel is in the store: put into the wheelhouse without starting anything.
bool Runner::take_cached(std::size_t index) {
  const plan::Step& step = m_plan.steps[index];
  std::optional<StepOutcome> outcome;
  if (step.cached) outcome = take_from_store(step.key, m_options.out, m_store);
  if (!outcome) return false;
  finished(index, std::move(*outcome));
  return true;
}

void Runner::skip_hopeless() {
  for (std::size_t i = 0; i < m_states.size(); ++i) {
    if (m_states[i] != State::waiting) continue;
    std::string cause = m_plan.steps[i].skipped;
    for (const std::string& id : m_plan.steps[i].needs) {
      const auto need = index_of(id);
      if (names(m_plan.steps[i].optional, id)) continue;
      if (need && m_states[*need] == State::done &&
          (m_outcomes[*need].outcome == "failed" || m_outcomes[*need].outcome == "skipped"))
        cause = fmt::format("it needs {}, which was not built", id);
    }
    if (cause.empty() && m_stopping) cause = "interrupted";
    if (cause.empty() && m_failed && !m_options.keep_going)
      cause = "another step failed (--keep-going builds the rest)";
    if (cause.empty()) continue;
    StepOutcome outcome;
    outcome.outcome = "skipped";
    outcome.cause = cause;
    finished(i, std::move(outcome));
  }
}

void Runner::start_ready() {
  for (;;) {
    skip_hopeless();
    std::size_t next = m_states.size();
    bool took_one = false;
    for (std::size_t i = 0; i < m_states.size(); ++i) {
      if (!is_ready(i)) continue;
      if (take_cached(i))
        took_one = true;
      else if (next == m_states.size() || m_urgency[m_plan.steps[i].id] > m_urgency[m_plan.steps[next].id])
        next = i;
    }
    if (took_one) continue;  // what waited for it may be ready now
    if (next == m_states.size() || m_running.size() >= m_options.steps_at_once) return;
    start(next);
  }
}

// The governor is ours for as long as steps run: one that a step started would end with the step.
void Runner::start_governor() {
  if (!m_options.governed || m_governor || m_tried_governor) return;
  m_tried_governor = true;
  try {
    governor::Options options;
    options.record = m_store.temporary() / "governor.jsonl";
    m_governor.emplace(m_store, options);
  } catch (const Error& error) {
    Event event;
    event.text = fmt::format("compilers are not governed: {}", error.what());
    m_options.on_event(event);
  }
}

void Runner::start(std::size_t index) {
  start_governor();
  const plan::Step& step = m_plan.steps[index];
  Job job;
  job.step = step;
  job.store = m_store.root();
  job.out = std::filesystem::absolute(m_options.out);
  job.log = log_path(m_store, step);
  job.jobs = jobs_for(step, m_options, steps_left());
  job.cache = m_options.cache;
  job.governed = m_governor.has_value();
  job.most_jobs = m_options.jobs;
  job.memory = m_options.memory;
  job.silence_seconds = m_options.silence_seconds;
  job.clean = m_options.clean;
  job.offline = m_options.offline;
  job.mirrors = m_options.fetch.mirrors;
  for (const auto& [id, direct] : all_needs(step)) {
    const plan::Step& other = *m_plan.find(id);
    job.needs.push_back(
        {other.project, other.version, std::filesystem::absolute(m_outcomes[*index_of(id)].wheel), direct});
  }
  const std::filesystem::path file = m_store.temporary() / (store::slug(step.id) + ".json");
  sys::write_file(file, document::to_json(job.to_value()));
  sys::Command command;
  command.argv = {sys::own_executable().string(), "step", file.string()};
  if (!m_options.cache.remote.empty()) {
    command.environment = sys::current_environment();
    (*command.environment)[k_cache_remote_variable] = m_options.cache.remote;
  }
  m_states[index] = State::running;
  m_running.push_back({index, sys::Process(command), file, "", "", false});
  m_outcomes[index].log = job.log;
  Event event;
  event.kind = Event::Kind::started;
  event.step = step.id;
  event.text = job.log.string();
  m_options.on_event(event);
}

void Runner::take_event(Running& running, std::string_view line) {
  document::Value value;
  try {
    value = document::parse_json(line, "a step's report");
  } catch (const Error&) {
    if (running.strange.size() < 4096) running.strange += std::string(line) + "\n";
    return;
  }
  const std::string name = value["event"].text_or();
  if (name == "finished") {
    running.reported = true;
    finished(running.index, StepOutcome::from_value(value["outcome"]));
    return;
  }
  Event event;
  event.kind = event_kind(name);
  event.step = m_plan.steps[running.index].id;
  event.text = value["text"].text_or();
  event.done = static_cast<std::uint64_t>(value["done"].integer_or(0));
  event.total = static_cast<std::uint64_t>(value["total"].integer_or(0));
  m_options.on_event(event);
}

void Runner::read_events(Running& running) {
  for (;;) {
    const std::optional<std::string> text = running.process.read();
    if (!text || text->empty()) return;
    running.partial += *text;
    std::size_t start = 0;
    for (std::size_t end = running.partial.find('\n'); end != std::string::npos;
         end = running.partial.find('\n', start)) {
      take_event(running, std::string_view(running.partial).substr(start, end - start));
      start = end + 1;
    }
    running.partial.erase(0, start);
  }
}

void Runner::finish(Running& running, const sys::Exit& exit) {
  std::error_code ignored;
  std::filesystem::remove(running.job_file, ignored);
  if (running.reported) return;
  StepOutcome outcome;
  outcome.outcome = "failed";
  outcome.log = m_outcomes[running.index].log;
  outcome.cause = fmt::format("the step's process ended without a report: {}{}", sys::to_string(exit),
                              running.strange.empty() ? "" : "\n" + printable(running.strange));
  if (sys::interrupted()) outcome.cause = "interrupted; the same command goes on from here";
  finished(running.index, std::move(outcome));
}

void Runner::wait_a_little() {
  std::vector<pollfd> fds;
  for (const Running& running : m_running) {
    if (running.process.output_fd() >= 0) fds.push_back({running.process.output_fd(), POLLIN, 0});
  }
  (void)::poll(fds.data(), fds.size(), fds.empty() ? 20 : 200);
}

std::vector<StepOutcome> Runner::run() {
  for (;;) {
    if (sys::interrupted() && !m_stopping) {
      m_stopping = true;
      for (Running& running : m_running) running.process.kill(SIGINT);
    }
    start_ready();
    if (m_running.empty()) break;
    wait_a_little();
    if (m_governor) (void)m_governor->status();
    for (std::size_t i = 0; i < m_running.size();) {
      read_events(m_running[i]);
      const std::optional<sys::Exit> exit = m_running[i].process.poll();
      if (!exit) {
        ++i;
        continue;
      }
      read_events(m_running[i]);
      finish(m_running[i], *exit);
      m_running.erase(m_running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return std::move(m_outcomes);
}

}  // namespace

std::vector<StepOutcome> run_plan(const plan::Plan& plan, store::Store& store, const RunOptions& options) {
  return Runner(plan, store, options).run();
}

}  // namespace wheelsmith::run
