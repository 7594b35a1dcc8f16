#include "run/local_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "governor/governor.h"
#include "sys/files.h"
#include "sys/io/wait.h"
#include "sys/process/process.h"

namespace wheelsmith::run {

namespace {

// Output of the process that is not an event, such as a crash message.
constexpr std::size_t k_most_strange = 4096;

class LocalExecutor final : public Executor {
 public:
  LocalExecutor(store::Store& store, LocalOptions options) : m_store(store), m_options(std::move(options)) {}

  [[nodiscard]] std::size_t room() const override {
    return m_options.steps_at_once - std::min(m_options.steps_at_once, m_running.size());
  }

  void submit(Submission submission) override {
    start_governor();
    Job& job = submission.job;
    job.limits.governed = m_governor.has_value();
    job.limits.jobs = jobs_for(submission.resources, job.limits.most_jobs);
    sys::Command command;
    command.argv = {sys::own_executable().string(), "step", "-"};
    // Through a descriptor, so that --env values and mirror passwords appear in no file, argument or variable.
    command.input = document::to_json(job.to_value());
    m_running.push_back({submission.ticket, sys::Process(command), "", "", false});
  }

  std::vector<Report> wait() override {
    std::vector<Report> reports;
    wait_for_output();
    if (m_governor) (void)m_governor->status();
    for (std::size_t i = 0; i < m_running.size();) {
      Running& running = m_running[i];
      read(running, reports);
      const std::optional<sys::Exit> exit = running.process.poll();
      if (!exit) {
        ++i;
        continue;
      }
      read(running, reports);
      if (!running.reported) reports.push_back(lost(running, *exit));
      m_running.erase(m_running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return reports;
  }

  void cancel(std::size_t ticket) override {
    for (Running& running : m_running) {
      if (running.ticket == ticket) running.process.kill(SIGINT);
    }
  }

 private:
  struct Running {
    std::size_t ticket;
    sys::Process process;
    std::string partial;
    std::string strange;
    bool reported = false;
  };

  // Started once and kept for all steps: a governor started by a step would end with it.
  void start_governor() {
    if (!m_options.governed || m_tried_governor) return;
    m_tried_governor = true;
    try {
      governor::Options options;
      options.cores = m_options.cores;
      options.record = m_store.temporary() / "governor.jsonl";
      m_governor.emplace(m_store, options);
    } catch (const Error& error) {  // the build still works without it
      m_options.on_note(fmt::format("running without the compile governor: {}", error.what()));
    }
  }

  // One compiler per core, limited by memory; running steps count against the limit.
  [[nodiscard]] unsigned jobs_for(const Resources& resources, unsigned most) const {
    const auto steps = static_cast<unsigned>(std::max<std::size_t>(1, m_options.steps_at_once));
    unsigned jobs = resources.cores != 0 ? resources.cores : std::max(1u, usable_threads() / steps);
    if (resources.memory != 0) {
      const std::uint64_t fitting = sys::memory().available / 10 * 9 / steps / resources.memory;
      jobs = static_cast<unsigned>(std::clamp<std::uint64_t>(fitting, 1, jobs));
    }
    return most == 0 ? jobs : std::min(jobs, most);
  }

  void wait_for_output() {
    std::vector<sys::Waiting> waiting;
    for (const Running& running : m_running) {
      if (running.process.output().is_open()) waiting.push_back({&running.process.output()});
    }
    sys::wait_readable(waiting, waiting.empty() ? 20 : 200);
  }

  static void read(Running& running, std::vector<Report>& reports) {
    for (;;) {
      const std::optional<std::string> text = running.process.read();
      if (!text || text->empty()) return;
      running.partial += *text;
      std::size_t start = 0;
      for (std::size_t end = running.partial.find('\n'); end != std::string::npos;
           end = running.partial.find('\n', start)) {
        if (auto report = report_of(running, std::string_view(running.partial).substr(start, end - start)))
          reports.push_back(std::move(*report));
        start = end + 1;
      }
      running.partial.erase(0, start);
    }
  }

  static std::optional<Report> report_of(Running& running, std::string_view line) {
    try {
      Report report = parse_report(line);
      report.ticket = running.ticket;
      running.reported = running.reported || report.kind == Report::Kind::finished;
      return report;
    } catch (const Error&) {  // not an event: it may explain why the process is about to die
      if (running.strange.size() < k_most_strange) running.strange += std::string(line) + "\n";
      return std::nullopt;
    }
  }

  static Report lost(const Running& running, const sys::Exit& exit) {
    Report report{.kind = Report::Kind::lost, .ticket = running.ticket};
    report.why = fmt::format("the step's process exited without a report: {}{}", sys::to_string(exit),
                             running.strange.empty() ? "" : "\n" + printable(running.strange));
    return report;
  }

  store::Store& m_store;
  LocalOptions m_options;
  std::vector<Running> m_running;
  bool m_tried_governor = false;
  std::optional<governor::GovernedBuild> m_governor;
};

}  // namespace

std::unique_ptr<Executor> make_local_executor(store::Store& store, const LocalOptions& options) {
  return std::make_unique<LocalExecutor>(store, options);
}

}  // namespace wheelsmith::run
