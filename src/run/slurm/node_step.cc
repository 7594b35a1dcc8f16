#include "run/slurm/node_step.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "run/local_executor.h"
#include "run/slurm/farm.h"
#include "slurm/commands.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/own_process.h"

// A job's process is the local executor for one step, and copies its reports into a file of the store. The coordinator
// also needs the node, the memory, and whether the step ended by itself or was ended: by Slurm, with a signal, or by
// the kernel, for lack of memory.

namespace wheelsmith::run {

namespace {

constexpr auto k_look_every = std::chrono::seconds(2);
constexpr int k_looks_per_line = 5;
constexpr auto k_signal_grace = std::chrono::seconds(2);
// A line for each second of compiling is for a pipe; a network file system gets fewer.
constexpr auto k_compiling_every = std::chrono::seconds(5);

std::string value_of(const sys::Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::string node_name(const sys::Environment& environment) {
  if (std::string name = value_of(environment, "SLURMD_NODENAME"); !name.empty()) return name;
  return sys::host_name();
}

std::string job_of(const sys::Environment& environment) {
  const std::string array = value_of(environment, "SLURM_ARRAY_JOB_ID");
  return array.empty() ? value_of(environment, "SLURM_JOB_ID")
                       : array + "_" + value_of(environment, "SLURM_ARRAY_TASK_ID");
}

// The kernel's count of processes that it has killed for lack of memory in the cgroups of this job.
std::uint64_t memory_kills() {
  const auto number_behind = [](const std::string& text, std::string_view name) -> std::uint64_t {
    for (const std::string_view line : lines(text)) {
      if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ')
        return to_number(trim(line.substr(name.size()))).value_or(0);
    }
    return 0;
  };
  const std::string cgroups = sys::read_file_if_possible("/proc/self/cgroup", 1 << 20).value_or("");
  std::uint64_t kills = 0;
  for (const std::string_view line : lines(cgroups)) {
    const std::vector<std::string_view> parts = split(line, ':');
    if (parts.size() < 3) continue;
    const bool version_2 = line.starts_with("0::");
    if (!version_2 && parts[1] != "memory") continue;
    std::filesystem::path path(version_2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    path += parts[2];
    // Slurm limits the job, and may limit the step: both are above the task.
    for (int level = 0; level < 4 && path.has_relative_path(); ++level, path = path.parent_path()) {
      const std::string text =
          sys::read_file_if_possible(path / (version_2 ? "memory.events" : "memory.oom_control"), 1 << 16).value_or("");
      kills = std::max(kills, number_behind(text, "oom_kill"));
      if (path.filename().string().starts_with("job_")) break;
    }
  }
  return kills;
}

class NodeReport {
 public:
  NodeReport(std::filesystem::path file, std::string node, std::string job) : m_file(std::move(file)) {
    add(to_line(
        {.kind = NodeLine::Kind::placed, .text = std::move(node), .job = std::move(job), .at = sys::unix_seconds()}));
  }

  // What cannot be written now (a file server that restarts) is tried again with the next line.
  void add(const std::string& line) {
    m_left += line;
    if (!sys::append_text(m_file, m_left)) m_left.clear();
  }

  // The last lines must arrive.
  void finish() {
    for (int i = 0; i < 60 && !m_left.empty(); ++i) {
      ::sleep(1);
      add("");
    }
  }

  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_looked < k_look_every) return;
    m_looked = now;
    try {
      const sys::Memory memory = sys::memory();
      const std::uint64_t used = memory.total - std::min(memory.total, memory.available);
      m_peak = std::max(m_peak, used);
      if (m_looks++ % k_looks_per_line == 0)
        add(to_line({.kind = NodeLine::Kind::usage, .at = sys::unix_seconds(), .used = used, .limit = memory.total}));
    } catch (const Error&) {  // a figure less
    }
  }

  [[nodiscard]] std::uint64_t peak() const { return m_peak; }

 private:
  std::filesystem::path m_file;
  std::string m_left;
  std::chrono::steady_clock::time_point m_looked{};
  std::uint64_t m_peak = 0;
  unsigned m_looks = 0;
};

// The governor of a job is the job's own: another job's has other cores and another cgroup. Its socket has a short
// path, whatever the folder of the user.
class OwnRuntime {
 public:
  explicit OwnRuntime(const std::string& job)
      : m_folder(fmt::format("/tmp/wheelsmith-{}-job-{}", ::geteuid(), slurm::job_name(job))) {
    std::error_code ignored;
    std::filesystem::create_directory(m_folder, ignored);
    std::filesystem::permissions(m_folder, std::filesystem::perms::owner_all, ignored);
    ::setenv("XDG_RUNTIME_DIR", m_folder.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): before there are threads
  }
  ~OwnRuntime() {
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
  }
  OwnRuntime(const OwnRuntime&) = delete;
  OwnRuntime& operator=(const OwnRuntime&) = delete;

 private:
  std::filesystem::path m_folder;
};

struct NodeJob {
  Job job;
  Try one;
  std::filesystem::path report;
};

NodeJob read_node_job(const std::filesystem::path& try_file) {
  NodeJob result;
  const FarmFolder folder(try_file.parent_path());
  result.one = Try::from_value(document::parse_json(sys::read_file(try_file), try_file.string()));
  result.job = Job::from_value(document::parse_json(sys::read_file(folder.job_file()), "job"));
  result.report = folder.report_file(result.one.number);
  if (result.one.stage != Try::Stage::whole) result.job.held = folder.held_file();
  if (result.one.stage == Try::Stage::test) {
    result.job.test_held = true;
    result.job.log.replace_extension("test.log");
  }
  return result;
}

// STORE/farm/trees/KEY, which the executor chose for the step whose try this is.
void remove_shared_tree(const std::filesystem::path& try_file, const std::filesystem::path& scratch) {
  const std::filesystem::path farm = try_file.parent_path().parent_path().parent_path();
  if (scratch.empty() || scratch.parent_path() != farm / "trees") return;
  try {
    sys::remove_tree(scratch);
  } catch (const Error&) {  // prune_farm() does it later
  }
}

// The nodes of this job besides this one. Each has what the job asked for.
std::vector<governor::NodeRoom> other_nodes(const slurm::Request& request, const sys::Environment& environment) {
  slurm::ProgramCommands commands;
  const slurm::Reply reply =
      commands.call({"scontrol", "show", "hostnames", value_of(environment, "SLURM_JOB_NODELIST")}, "");
  if (reply.answer != slurm::Answer::good) throw Error("scontrol does not list the nodes of this job: " + reply.errors);
  std::uint64_t memory = request.memory;
  if (memory == 0) memory = to_number(value_of(environment, "SLURM_MEM_PER_NODE")).value_or(0) << 20;
  if (memory == 0) memory = sys::memory().total;
  std::vector<governor::NodeRoom> nodes;
  for (const std::string_view line : lines(reply.text)) {
    const std::string name(trim(line));
    if (!name.empty() && name != node_name(environment)) nodes.push_back({name, std::max(1u, request.cpus), memory});
  }
  return nodes;
}

// A plan names tools by their paths on the machine that made it.
void check_tools(const plan::BuildSpec& spec) {
  std::vector<std::string> wanted = {spec.python.executable.string(), spec.tools.cc, spec.tools.cxx,
                                     spec.tools.cuda.root, spec.tools.rocm.root};
  for (const auto& [name, path] : spec.tools.programs) wanted.push_back(path);
  std::error_code ignored;
  for (const std::string& path : wanted) {
    if (!path.starts_with('/') || std::filesystem::exists(path, ignored)) continue;
    throw Error(
        fmt::format("{} is not there; nodes must have the tools of the machine that plans, at the same paths "
                    "(--slurm constraint=FEATURE chooses nodes)",
                    printable(path)));
  }
}

// Whether a step failed because this node has no room for its tree: another node may have. A full store is full for
// all.
bool is_disk_full(const Job& job, const StepOutcome& outcome) {
  if (outcome.made() || sys::is_nearly_full(job.store)) return false;
  for (const char* text : {"No space left on device", "no space left on the disk"}) {
    if (outcome.cause.find(text) != std::string::npos) return true;
  }
  try {
    const store::Store store(job.store, job.store_options());
    return sys::is_nearly_full(store.tree(job.spec.identity).parent_path());
  } catch (const Error&) {  // the step's own error is reported
    return false;
  }
}

// What the next build of this step will ask for.
void note_cost_of(const Job& job, const StepOutcome& outcome, std::uint64_t peak) {
  if (outcome.outcome != Outcome::built || job.rebuild) return;
  try {
    store::Store store(job.store, job.store_options());
    unsigned cores = job.limits.cores;
    for (const governor::NodeRoom& node : job.limits.nodes) cores += node.cores;
    note_farm_cost(store, job.spec.identity,
                   {outcome.seconds, cores, peak, static_cast<unsigned>(job.limits.nodes.size()) + 1});
  } catch (const Error&) {  // an estimate less
  }
}

int run_reported(NodeJob& node, const FarmBatch& batch, NodeReport& report) {
  LocalOptions options;
  options.governed = batch.governed;
  options.cores = node.job.limits.cores;
  options.on_note = [&](const std::string& text) {
    report.add(report_line({.kind = Event::Kind::note, .text = text}));
  };
  store::Store store(node.job.store, node.job.store_options());
  const std::unique_ptr<Executor> executor = make_local_executor(store, options);
  const Job job = node.job;
  executor->submit({.ticket = 0, .job = job, .resources = {.cores = job.limits.cores}});
  bool stopped = false, told = false;
  auto stopped_at = std::chrono::steady_clock::time_point();
  auto told_compiles = std::chrono::steady_clock::time_point();
  for (;;) {
    // Slurm may have told the step as well, and a second signal would end it before it can write why.
    const auto now_here = std::chrono::steady_clock::now();
    if (sys::interrupted() && !std::exchange(stopped, true)) stopped_at = now_here;
    if (stopped && now_here - stopped_at > k_signal_grace && !std::exchange(told, true)) executor->cancel(0);
    report.look();
    for (Report& one : executor->wait()) {
      switch (one.kind) {
        case Report::Kind::event: {
          if (one.event.kind == Event::Kind::compiling) {
            if (now_here - told_compiles < k_compiling_every) continue;
            told_compiles = now_here;
          }
          report.add(report_line(one.event));
          continue;
        }
        case Report::Kind::finished:
        case Report::Kind::lost: break;
      }
      const bool killed = memory_kills() != 0;
      const bool full = one.kind == Report::Kind::finished && is_disk_full(job, one.outcome);
      report.add(to_line({.kind = NodeLine::Kind::ending,
                          .peak = report.peak(),
                          .disturbed = stopped || killed || full || one.kind == Report::Kind::lost,
                          .memory_killed = killed,
                          .disk_full = full}));
      if (one.kind == Report::Kind::lost) {
        report.add(to_line({.kind = NodeLine::Kind::lost, .text = one.why}));
        return 1;
      }
      note_cost_of(job, one.outcome, report.peak());
      report.add(report_line({.kind = Event::Kind::finished, .outcome = &one.outcome}));
      return one.outcome.made() ? 0 : 1;
    }
  }
}

}  // namespace

unsigned cores_of_job(const sys::Environment& environment) {
  for (const char* name : {"SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"}) {
    const auto number = to_number(value_of(environment, name));
    if (number && *number != 0 && *number < 1 << 20) return std::min(static_cast<unsigned>(*number), usable_threads());
  }
  return 0;
}

int run_on_node(const std::filesystem::path& batch_file) {
  sys::install_interrupt_flag();
  const sys::Environment environment = sys::current_environment();
  const FarmBatch batch = FarmBatch::from_value(document::parse_json(sys::read_file(batch_file), batch_file.string()));
  const std::uint64_t task = to_number(value_of(environment, "SLURM_ARRAY_TASK_ID")).value_or(0);
  if (task >= batch.tries.size()) throw Error(fmt::format("{} has no task {}", batch_file.string(), task));
  NodeJob node = read_node_job(batch.tries[task]);
  const OwnRuntime runtime(job_of(environment));
  NodeReport report(node.report, node_name(environment), job_of(environment));
  const std::filesystem::path scratch = node.job.scratch;
  int status = 1;
  try {
    node.job.limits.cores = cores_of_job(environment);
    if (node.one.request.nodes > 1) node.job.limits.nodes = other_nodes(node.one.request, environment);
    check_tools(node.job.spec);
    status = run_reported(node, batch, report);
  } catch (const Error& error) {  // one step becomes an outcome
    StepOutcome outcome;
    outcome.cause = fmt::format("on {}: {}", node_name(environment), error.what());
    const bool full = is_disk_full(node.job, outcome);
    report.add(to_line({.kind = NodeLine::Kind::ending, .disturbed = full, .disk_full = full}));
    report.add(report_line({.kind = Event::Kind::finished, .outcome = &outcome}));
  }
  report.finish();
  // On the shared disk, and of no use to other steps. A failed step resumes in it.
  if (status == 0 && node.one.request.nodes > 1) remove_shared_tree(batch.tries[task], scratch);
  return status;
}

}  // namespace wheelsmith::run
