#include "run/slurm/slurm_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "run/deliver.h"
#include "run/slurm/farm_task.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/files.h"

// A step's life as seen from here:
//
//   waiting    until the throttle lets sbatch be called; steps of the same shape wait a moment for each other and go as
//              one array
//   submitted  the job is in the queue or runs; its report is read as it grows
//   ended      the report has its last line, or Slurm says that the job is over
//
// The report in the store decides, Slurm's state comes second: a published wheel is good even if the node died
// afterwards, and steps finish while the controller is away. If the report ends badly or not at all, Slurm's state
// tells whether more memory, more time or another node would help.

namespace wheelsmith::run {

namespace {

constexpr std::size_t k_most_in_array = 500;
constexpr double k_gather_seconds = 0.3;
// Attributes are cached by network file systems: a report may be read late.
constexpr double k_report_grace = 15;
// A job that Slurm does not know any more, and that has said nothing for so long, is gone.
constexpr double k_silence = 90;
constexpr double k_lock_patience = 15;

class SlurmExecutor final : public Executor {
 public:
  SlurmExecutor(store::Store& store, slurm::Commands& commands, SlurmOptions options)
      : m_store(store), m_commands(commands), m_options(std::move(options)), m_throttle(m_options.limits.per_minute) {
    prune_farm(store);
  }

  [[nodiscard]] std::size_t room() const override {
    return m_options.limits.most_queued - std::min<std::size_t>(m_options.limits.most_queued, m_tasks.size());
  }

  void submit(Submission submission) override {
    FarmTask task{.ticket = submission.ticket,
                  .job = std::move(submission.job),
                  .resources = submission.resources,
                  .folder = FarmFolder(std::filesystem::path()),
                  .site = {},
                  .limits = {},
                  .one = {}};
    task.job.limits.governed = m_options.governed;
    task.site = m_options.site_for(task.job.spec);
    // All nodes of a step see its tree. A folder for each step: nothing but claims on keys is safe between machines.
    if (task.site.nodes > 1 && m_store.is_shared())
      task.job.scratch = m_store.root() / "farm" / "trees" / task.job.spec.key.substr(0, 16);
    task.folder = FarmFolder(m_store, task.job);
    // Another coordinator may have built it since the plan was made.
    if (!task.job.spec.uncacheable && !task.job.rebuild) {
      if (auto artifact = find_artifact(task.job.spec.key, m_store)) {
        StepOutcome outcome;
        outcome.outcome = Outcome::cached;
        outcome.artifact = std::move(artifact);
        task.outcome = std::move(outcome);
        task.submitted = true;
      }
    }
    task.waiting_since = now();
    if (m_options.cancel && !task.submitted) {
      task.cancelled = true;
      if (const auto last = task.folder.last(); last && !last->taken && last->id) {
        task.one = *last;
        task.submitted = true;
        m_to_cancel.push_back(task.ticket);
      }
    }
    m_tasks.emplace(task.ticket, std::move(task));
  }

  std::vector<Report> wait() override {
    std::vector<Report> reports;
    submit_waiting(reports);
    // A file server serves others, too.
    const double interval = std::clamp(static_cast<double>(m_tasks.size()) * 0.02, 0.2, 5.0);
    for (auto& [ticket, task] : m_tasks) {
      if (!task.submitted || now() < task.read_at) continue;
      task.read_at = now() + interval;
      read_report(task, now(), reports);
    }
    ask_queue(reports);
    for (auto task = m_tasks.begin(); task != m_tasks.end();) {
      if (judge(task->second, reports))
        task = m_tasks.erase(task);
      else
        ++task;
    }
    if (reports.empty()) m_options.pause(m_tasks.size() > 100 ? 0.5 : 0.1);
    return reports;
  }

  void cancel(std::size_t ticket) override {
    const auto task = m_tasks.find(ticket);
    if (task == m_tasks.end()) return;
    task->second.cancelled = true;
    m_to_cancel.push_back(ticket);
  }

  [[nodiscard]] bool outlives_coordinator() const override { return true; }

  [[nodiscard]] std::string place(std::size_t ticket) const override {
    const auto task = m_tasks.find(ticket);
    if (task == m_tasks.end() || !task->second.one.id) return "";
    return fmt::format("Slurm job {}{}", slurm::to_string(*task->second.one.id),
                       task->second.node.empty() ? "" : " on " + task->second.node);
  }

 private:
  [[nodiscard]] double now() const { return m_options.now(); }

  // --- Submitting ---

  // What the step asks for the first time.
  slurm::Request first_request(const FarmTask& task) {
    slurm::Known known;
    if (const auto cost = last_farm_cost(m_store, task.job.spec.identity)) {
      known.wall_seconds = cost->seconds;
      known.wall_cpus = cost->cores;
      known.wall_nodes = cost->nodes;
      known.peak_memory = cost->memory;
    }
    if (const auto units = last_unit_cost(m_store, task.job.spec)) {
      known.unit_memory = units->largest;
      known.core_seconds = units->seconds;
    }
    if (known.core_seconds == 0) known.core_seconds = task.resources.core_seconds;
    known.memory_per_compile = task.resources.memory;
    const unsigned most = task.job.limits.most_jobs;
    slurm::Request request =
        slurm::estimate(known, task.limits, task.site.cpus != 0 ? task.site.cpus : most, task.site.nodes);
    if (task.site.cpus != 0) request.cpus = task.site.cpus;
    if (task.site.memory != 0) request.memory = task.site.memory;
    if (task.site.seconds != 0) request.seconds = task.site.seconds;
    return request;
  }

  // Nodes go down and come back while a build runs.
  const std::vector<slurm::Node>& nodes() {
    if (now() >= m_ask_nodes_at) {
      slurm::Nodes answer = slurm::nodes(m_commands);
      if (answer.reply.answer == slurm::Answer::good) m_nodes = std::move(answer.nodes);
      m_ask_nodes_at = now() + (m_nodes.empty() ? 10 : 300);
    }
    return m_nodes;
  }

  // Takes over a try of another coordinator, or prepares the next one. False: try again later.
  bool prepare(FarmTask& task, std::vector<Report>& reports) {
    const std::optional<Try> last = task.folder.last();
    if (last && !last->taken && last->number >= task.one.number) {
      task.one = *last;
      if (last->id || has_report(task)) {
        task.submitted = true;
        task.heard = now();
        note(reports, task,
             last->id ? fmt::format("found as Slurm job {}", slurm::to_string(*last->id)) : "found as a job of Slurm");
        return true;
      }
      // A coordinator died between writing the try and reading sbatch's answer: the queue shows whether the job exists.
      // One answer for all steps that are prepared together.
      if (!m_queue) m_queue = slurm::queue(m_commands);
      const slurm::Queue& queue = *m_queue;
      if (queue.reply.answer != slurm::Answer::good) {
        task.one = {};
        away(queue.reply.errors);
        m_submit_at = now() + slurm::back_off(m_failures);
        return false;
      }
      const std::size_t colon = task.one.name.find(':');
      const std::string name = task.one.name.substr(0, colon);
      const auto place = colon == std::string::npos ? std::nullopt : to_number(task.one.name.substr(colon + 1));
      for (const slurm::QueuedJob& job : queue.jobs) {
        if (job.name != name || (place && job.id.task && *job.id.task != *place)) continue;
        task.one.id = job.id;
        task.folder.write(task.one);
        task.submitted = true;
        task.heard = now();
        return true;
      }
      task.one.name = next_name(task);
      return true;
    }
    if (!task.one.name.empty()) {  // the next of several
      if (last && last->number >= task.one.number) task.one.number = last->number + 1;
      return true;
    }
    task.limits = slurm::limits_of(nodes(), task.site.partition, false);
    if (has_gpu_tests(task)) task.one.stage = Try::Stage::build;
    if (task.one.stage == Try::Stage::build && is_held(task)) {
      task.one.stage = Try::Stage::test;
      task.one.request = test_request(task);
    } else {
      task.one.request = first_request(task);
    }
    task.one.number = last ? last->number + 1 : 1;
    task.one.attempt = 1;
    task.one.name = next_name(task);
    return true;
  }

  // --- Tests that need a GPU ---

  slurm::NodeLimits gpu_limits(const FarmTask& task) {
    return slurm::limits_of(nodes(), task.site.gpu_partition.empty() ? task.site.partition : task.site.gpu_partition,
                            true);
  }

  // Tests that no node could run are reported as not run, as on a machine without a GPU.
  bool has_gpu_tests(const FarmTask& task) {
    const plan::BuildSpec& spec = task.job.spec;
    if (spec.variant == recipe::Variant::cpu || task.job.no_test || spec.uncacheable || task.job.rebuild) return false;
    const recipe::Recipe recipe = recipe::parse_recipe(spec.recipe_text, spec.recipe_origin);
    const std::vector<recipe::Test>& tests = recipe.rules(spec.variant, spec.target).tests;
    return std::any_of(tests.begin(), tests.end(), [](const recipe::Test& test) { return test.gpu; }) &&
           gpu_limits(task).cpus != 0;
  }

  // Whether a job has built it and no job has tested it yet.
  [[nodiscard]] bool is_held(const FarmTask& task) const {
    const auto text = sys::read_file_if_possible(task.folder.held_file());
    const auto value = text ? document::try_parse_json(*text) : std::nullopt;
    return value && m_store.blob((*value)["wheel_sha256"].text_or()).has_value();
  }

  slurm::Request test_request(const FarmTask& task) {
    const slurm::NodeLimits limits = gpu_limits(task);
    slurm::Request request{.cpus = std::min(4u, std::max(1u, limits.cpus)), .memory = 16ull << 30, .gpus = 1};
    if (limits.memory != 0) request.memory = std::min(request.memory, limits.memory / 10 * 9);
    if (limits.memory_unset) request.memory = 0;
    return request;
  }

  void submit_waiting(std::vector<Report>& reports) {
    const double time = now();
    if (time < m_submit_at) return;
    std::vector<FarmTask*> ready;
    bool gathering = false;
    for (auto& [ticket, task] : m_tasks) {
      if (task.submitted || task.cancelled) continue;
      gathering = gathering || time - task.waiting_since < k_gather_seconds;
      ready.push_back(&task);
    }
    if (ready.empty() || gathering) return;
    m_queue.reset();
    // Who holds the lock of a folder looks and submits; another coordinator that has it submits for us.
    std::vector<decltype(m_store.try_lock(""))> locks;
    std::vector<FarmTask*> mine;
    std::vector<slurm::Shape> shapes;
    for (FarmTask* task : ready) {
      auto lock = m_store.try_lock(task->folder.lock_name());
      if (lock)
        task->locked_since = 0;
      else if (task->locked_since == 0)
        task->locked_since = time;
      else if (time - task->locked_since > k_lock_patience)  // of a machine that died: waiting tells
        lock = m_store.lock(task->folder.lock_name());
      if (!lock || !prepare(*task, reports) || task->submitted) {
        if (m_submit_at > now()) return;
        continue;
      }
      locks.push_back(std::move(lock));
      mine.push_back(task);
      shapes.push_back({task->one.request, task->site});  // with a GPU or without
    }
    for (const std::vector<std::size_t>& places : slurm::group(shapes, m_most_in_array)) {
      if (!m_throttle.take(now())) break;
      std::vector<FarmTask*> together;
      for (const std::size_t place : places) together.push_back(mine[place]);
      if (!submit_together(together, reports)) break;
    }
  }

  // False: nothing more for now.
  bool submit_together(const std::vector<FarmTask*>& tasks, std::vector<Report>& reports) {
    const FarmTask& first = *tasks.front();
    slurm::Batch batch;
    batch.name = tasks.size() == 1 ? first.one.name
                                   : fmt::format("ws-array-{}-{}", first.job.spec.key.substr(0, 8),
                                                 sys::unix_nanoseconds() / 1'000'000);
    batch.tasks = tasks.size();
    batch.request = first.one.request;
    batch.site = first.site;
    if (m_program.empty()) m_program = program_for_nodes(m_store);
    batch.program = m_program;
    FarmBatch farm{.governed = m_options.governed, .tries = {}};
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      FarmTask& task = *tasks[i];
      task.one.name = tasks.size() == 1 ? batch.name : fmt::format("{}:{}", batch.name, i);
      task.one.submitted = sys::unix_seconds();
      task.one.id.reset();
      task.folder.write(task.one);
      farm.tries.push_back(task.folder.try_file(task.one.number));
    }
    const std::filesystem::path folder = m_store.folder("farm") / "batches";
    sys::make_folders(folder);
    const std::filesystem::path file = folder / (batch.name + ".json");
    sys::write_file(file, document::to_json(farm.to_value()));
    batch.arguments = {"node", file.string()};
    batch.errors = tasks.size() == 1 ? first.folder.output_file(first.one.number) : folder / (batch.name + ".out");

    const slurm::Submitted submitted = slurm::submit(m_commands, batch);
    switch (submitted.reply.answer) {
      case slurm::Answer::good: break;
      case slurm::Answer::away:
        // The job may exist anyway: the queue shows it when the controller is back.
        for (FarmTask* task : tasks) task->one = {};
        away(submitted.reply.errors);
        m_submit_at = now() + slurm::back_off(m_failures);
        return false;
      case slurm::Answer::later:
        for (FarmTask* task : tasks) task->one.name.clear();
        // An array counts as all of its tasks: one that is larger than a limit for jobs would never be accepted.
        if (tasks.size() > 1) m_most_in_array = tasks.size() / 2;
        if (now() - m_told_later > 300) {
          m_told_later = now();
          m_options.on_note("Slurm takes no more jobs for now: " + submitted.reply.errors);
        }
        m_submit_at = now() + 10;
        return false;
      case slurm::Answer::refused:
      case slurm::Answer::no_job:
        // MaxArraySize of slurm.conf.
        if (tasks.size() > 1 && submitted.reply.errors.find("array") != std::string::npos) {
          for (FarmTask* task : tasks) task->one.name.clear();
          m_most_in_array = m_largest_array = tasks.size() / 2;
          return false;
        }
        for (FarmTask* task : tasks) refuse(*task, submitted.reply.errors);
        return true;
    }
    back();
    m_most_in_array = std::min(m_largest_array, m_most_in_array * 2);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      FarmTask& task = *tasks[i];
      task.one.id = slurm::JobId{submitted.job};
      if (tasks.size() > 1) task.one.id->task = static_cast<std::uint32_t>(i);
      task.folder.write(task.one);
      task.submitted = true;
      task.heard = now();
      tell(reports, task, {.kind = Event::Kind::queued, .text = fmt::format("job {}", slurm::to_string(*task.one.id))});
    }
    return true;
  }

  // --- The controller ---

  void away(const std::string& why) {
    if (m_failures++ == 0) m_away_since = now();
    if (m_failures == 3 || (m_failures > 3 && now() - m_told_away > 60)) {
      m_told_away = now();
      m_options.on_note(fmt::format("Slurm's controller has not answered for {:.0f} s ({}); trying again",
                                    now() - m_away_since, why));
    }
  }

  void back() {
    if (m_failures >= 3) m_options.on_note("Slurm's controller answers again");
    m_failures = 0;
  }

  void ask_queue(std::vector<Report>& reports) {
    send_cancels();
    const double time = now();
    const bool any =
        std::any_of(m_tasks.begin(), m_tasks.end(), [](const auto& item) { return item.second.submitted; });
    if (!any || time < m_ask_at) return;
    const slurm::Queue queue = slurm::queue(m_commands);
    const double took = now() - time;
    if (queue.reply.answer != slurm::Answer::good) {
      away(queue.reply.errors);
      m_ask_at = now() + slurm::back_off(m_failures);
      return;
    }
    back();
    // At most a twentieth of the controller's time for us.
    m_ask_at = now() + std::clamp(took * 20, 2.0, 60.0);
    std::map<slurm::JobId, const slurm::QueuedJob*> jobs;
    for (const slurm::QueuedJob& job : queue.jobs) jobs.emplace(job.id, &job);
    std::map<std::string, std::vector<slurm::JobId>> stuck;
    for (auto& [ticket, task] : m_tasks) {
      if (!task.submitted || !task.one.id || task.ended) continue;
      const auto found = jobs.find(*task.one.id);
      const bool active = found != jobs.end() && slurm::is_active(found->second->state);
      if (active) {
        task.absent = 0;
        show(task, *found->second, reports);
        if (found->second->state == slurm::JobState::pending && !slurm::stuck_because(found->second->reason).empty())
          stuck[found->second->reason].push_back(*task.one.id);
      } else if (task.absent == 0) {
        task.absent = now();
      }
    }
    tell_stuck(stuck);
  }

  // Once for each reason, and again after a while: a job that waits for an administrator looks like one that waits for
  // its turn.
  void tell_stuck(const std::map<std::string, std::vector<slurm::JobId>>& stuck) {
    for (const auto& [reason, ids] : stuck) {
      const auto told = m_told_stuck.find(reason);
      if (told != m_told_stuck.end() && now() - told->second < 1800) continue;
      m_told_stuck[reason] = now();
      m_options.on_note(fmt::format("{} ({}) may never start: {}: {}", counted(ids.size(), "job"),
                                    slurm::to_string(ids.front()), printable(reason), slurm::stuck_because(reason)));
    }
  }

  void send_cancels() {
    if (m_to_cancel.empty() || now() < m_ask_at) return;
    std::vector<slurm::JobId> ids;
    for (const std::size_t ticket : m_to_cancel) {
      const auto task = m_tasks.find(ticket);
      if (task != m_tasks.end() && task->second.one.id) ids.push_back(*task->second.one.id);
    }
    if (!ids.empty() && slurm::cancel(m_commands, ids).answer == slurm::Answer::away) {
      away("scancel");
      m_ask_at = now() + slurm::back_off(m_failures);
      return;
    }
    m_to_cancel.clear();
    m_ask_at = 0;
  }

  // --- The end ---

  // Whether the step is over: reported, or handed back to be submitted again.
  bool judge(FarmTask& task, std::vector<Report>& reports) {
    if (task.cancelled && !task.submitted) return finish(task, cancelled_outcome(task), reports);
    if (!task.submitted) return false;
    if (task.outcome && (task.outcome->made() || !task.disturbed || task.one.taken)) {
      if (task.one.stage == Try::Stage::build && task.outcome->outcome == Outcome::built && !task.cancelled) {
        note(reports, task, "built; its tests need a GPU and follow as a job of their own");
        again(task, test_request(task));
        task.one.stage = Try::Stage::test;
        task.one.attempt = 1;
        return false;
      }
      return finish(task, std::move(*task.outcome), reports);
    }
    if (task.absent == 0 && !task.ended) return false;
    if (!task.ended) ask_end(task);
    if (!task.ended) return false;
    // The last lines may come later than Slurm's word.
    const bool complete = task.outcome || !task.lost.empty();
    if (!complete && now() - task.ended_at < k_report_grace && task.ended->state != slurm::JobState::node_fail)
      return false;
    return end_badly(task, reports);
  }

  void ask_end(FarmTask& task) {
    const double time = now();
    if (time < m_ask_end_at) return;
    if (!task.one.id) {
      if (time - task.heard > k_silence) vanish(task);
      return;
    }
    const slurm::Ended answer = slurm::ended(m_commands, *task.one.id);
    if (answer.reply.answer == slurm::Answer::away) {
      away(answer.reply.errors);
      m_ask_end_at = now() + slurm::back_off(m_failures);
      return;
    }
    back();
    if (!answer.job) {
      if (time - task.heard > k_silence || task.outcome || !task.lost.empty()) vanish(task);
      return;
    }
    if (slurm::is_active(answer.job->state)) {
      task.absent = 0;
      return;
    }
    task.ended = answer.job;
    task.ended_at = time;
  }

  void vanish(FarmTask& task) {
    task.ended = slurm::EndedJob{.id = task.one.id.value_or(slurm::JobId{}), .node = task.node};
    task.ended_at = now() - k_report_grace;
  }

  bool end_badly(FarmTask& task, std::vector<Report>& reports) {
    slurm::Ending ending{.state = task.ended->state,
                         // Of several, the one that the step ran on.
                         .node = task.ended->node.empty() || (task.one.request.nodes > 1 && !task.node.empty())
                                     ? task.node
                                     : task.ended->node,
                         .seconds = task.ended->seconds,
                         .time_limit = task.ended->time_limit,
                         .silent = true,
                         .never_began = task.offset == 0,
                         .disk_full = task.disk_full};
    // The kernel killed a part of it, and Slurm did not notice.
    if (task.memory_killed && ending.state == slurm::JobState::failed) ending.state = slurm::JobState::out_of_memory;
    if (task.limits.cpus == 0) task.limits = slurm::limits_of(nodes(), task.site.partition, false);
    slurm::Retry retry = slurm::after(ending, task.one.request, task.one.attempt, task.limits);
    const std::string printed = output_of(task);
    if (retry.again && !task.cancelled) {
      note(reports, task,
           fmt::format("job {}: {}; submitting it again{}", task.one.id ? slurm::to_string(*task.one.id) : "?",
                       retry.why,
                       retry.request.memory > task.one.request.memory ? " with " + human_bytes(retry.request.memory)
                       : retry.request.seconds > task.one.request.seconds
                           ? fmt::format(" with {} min", retry.request.seconds / 60)
                           : ""));
      again(task, std::move(retry.request));
      return false;
    }
    StepOutcome outcome = task.outcome ? std::move(*task.outcome) : StepOutcome();
    outcome.outcome = Outcome::failed;
    if (outcome.log.empty()) outcome.log = task.job.log;
    const std::string job = task.one.id ? "Slurm job " + slurm::to_string(*task.one.id) : "its job";
    if (ending.state == slurm::JobState::cancelled) {
      if (task.cancelled) outcome.outcome = Outcome::skipped;
      outcome.cause = fmt::format("{} was cancelled", job);
    } else {
      outcome.cause = fmt::format("{}: {}{}", job, retry.why,
                                  !task.lost.empty() ? ": " + task.lost
                                  : printed.empty()  ? ""
                                                     : ": " + printable(printed));
    }
    return finish(task, std::move(outcome), reports);
  }

  store::Store& m_store;
  slurm::Commands& m_commands;
  SlurmOptions m_options;
  slurm::Throttle m_throttle;
  std::map<std::size_t, FarmTask> m_tasks;
  std::vector<std::size_t> m_to_cancel;
  std::vector<slurm::Node> m_nodes;
  std::filesystem::path m_program;
  std::optional<slurm::Queue> m_queue;
  std::size_t m_largest_array = k_most_in_array, m_most_in_array = k_most_in_array;
  std::map<std::string, double> m_told_stuck;
  double m_ask_nodes_at = 0, m_submit_at = 0, m_ask_at = 0, m_ask_end_at = 0;
  unsigned m_failures = 0;
  double m_away_since = 0, m_told_away = 0, m_told_later = -1000;
};

}  // namespace

std::unique_ptr<Executor> make_slurm_executor(store::Store& store, slurm::Commands& commands,
                                              const SlurmOptions& options) {
  return std::make_unique<SlurmExecutor>(store, commands, options);
}

}  // namespace wheelsmith::run
