#include "run/slurm/farm_task.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/io/tail.h"

namespace wheelsmith::run {

namespace {

constexpr std::uint64_t k_most_report = 16ull << 20;  // of one reading
constexpr std::size_t k_most_output = 2000;

void read_line(FarmTask& task, std::string_view line, std::vector<Report>& reports) {
  try {
    const NodeLine node = parse_node_line(line);
    switch (node.kind) {
      case NodeLine::Kind::placed:
        task.node = node.text;
        if (!task.one.id) task.one.id = slurm::parse_job_id(node.job);
        tell(reports, task, {.kind = Event::Kind::placed, .text = node.text});
        return;
      case NodeLine::Kind::usage: {
        Event event{.kind = Event::Kind::usage};
        event.compiles.used = node.used;
        event.compiles.limit = node.limit;
        tell(reports, task, std::move(event));
        return;
      }
      case NodeLine::Kind::ending:
        task.disturbed = node.disturbed;
        task.memory_killed = node.memory_killed;
        task.disk_full = node.disk_full;
        return;
      case NodeLine::Kind::lost: task.lost = node.text; return;
      case NodeLine::Kind::report: break;
    }
    Report report = parse_report(line);
    if (report.kind == Report::Kind::finished) {
      task.outcome = std::move(report.outcome);
      return;
    }
    report.ticket = task.ticket;
    reports.push_back(std::move(report));
  } catch (const Error&) {  // half a line of a node that died; what follows is whole again
  }
}

}  // namespace

void tell(std::vector<Report>& reports, const FarmTask& task, Event event) {
  Report report{.kind = Report::Kind::event, .ticket = task.ticket};
  report.event = std::move(event);
  reports.push_back(std::move(report));
}

void note(std::vector<Report>& reports, const FarmTask& task, std::string text) {
  tell(reports, task, {.kind = Event::Kind::note, .text = std::move(text)});
}

void show(FarmTask& task, const slurm::QueuedJob& job, std::vector<Report>& reports) {
  // Of a step with several nodes, the report names the one that it runs on.
  if (!job.node.empty() && (task.one.request.nodes <= 1 || task.node.empty())) task.node = job.node;
  if (job.state != slurm::JobState::pending || job.reason.empty() || job.reason == task.told_reason) return;
  task.told_reason = job.reason;
  tell(reports, task,
       {.kind = Event::Kind::queued, .text = fmt::format("job {}: {}", slurm::to_string(job.id), job.reason)});
}

bool has_report(const FarmTask& task) {
  std::error_code ignored;
  return std::filesystem::exists(task.folder.report_file(task.one.number), ignored);
}

std::string next_name(const FarmTask& task) {
  return fmt::format("ws-{}-{}-{}", slurm::job_name(task.job.spec.id), task.job.spec.key.substr(0, 8), task.one.number);
}

void read_report(FarmTask& task, double now, std::vector<Report>& reports) {
  if (task.outcome || !task.lost.empty()) return;
  const std::string more = sys::read_from(task.folder.report_file(task.one.number), task.offset, k_most_report);
  if (more.empty()) return;
  task.offset += more.size();
  task.heard = now;
  task.partial += more;
  std::size_t start = 0;
  for (std::size_t end = task.partial.find('\n'); end != std::string::npos; end = task.partial.find('\n', start)) {
    read_line(task, std::string_view(task.partial).substr(start, end - start), reports);
    start = end + 1;
  }
  task.partial.erase(0, start);
}

std::string output_of(const FarmTask& task) {
  std::filesystem::path file = task.folder.output_file(task.one.number);
  const std::size_t colon = task.one.name.find(':');
  if (colon != std::string::npos)
    file = task.folder.path().parent_path().parent_path() / "batches" /
           fmt::format("{}.out.{}", task.one.name.substr(0, colon), task.one.name.substr(colon + 1));
  const std::string text = sys::read_file_if_possible(file).value_or("");
  return std::string(trim(text.size() > k_most_output ? text.substr(text.size() - k_most_output) : text));
}

void refuse(FarmTask& task, const std::string& why) {
  StepOutcome outcome;
  outcome.log = task.job.log;
  outcome.cause = "Slurm does not accept the job: " + why;
  task.outcome = std::move(outcome);
  task.submitted = true;
  task.one.taken = true;
  task.folder.write(task.one);
}

void again(FarmTask& task, slurm::Request request) {
  Try next;
  next.number = task.one.number + 1;
  next.attempt = task.one.attempt + 1;
  next.stage = task.one.stage;
  next.request = std::move(request);
  task.one.taken = true;
  task.folder.write(task.one);
  task.one = std::move(next);
  task.one.name = next_name(task);
  task.submitted = false;
  task.waiting_since = 0;
  task.offset = 0;
  task.partial.clear();
  task.told_reason.clear();
  task.node.clear();
  task.absent = task.ended_at = 0;
  task.ended.reset();
  task.outcome.reset();
  task.disturbed = task.memory_killed = task.disk_full = false;
  task.lost.clear();
  task.read_at = 0;
}

StepOutcome cancelled_outcome(const FarmTask& task) {
  StepOutcome outcome;
  outcome.outcome = Outcome::skipped;
  outcome.log = task.job.log;
  outcome.cause = "it has no job";
  return outcome;
}

bool finish(FarmTask& task, StepOutcome outcome, std::vector<Report>& reports) {
  if (!task.one.taken && task.one.number != 0) {
    task.one.taken = true;
    task.folder.write(task.one);
  }
  outcome.node = task.node;
  Report report{.kind = Report::Kind::finished, .ticket = task.ticket};
  report.outcome = std::move(outcome);
  reports.push_back(std::move(report));
  return true;
}

}  // namespace wheelsmith::run
