#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/events.h"
#include "run/job.h"
#include "run/outcome.h"

// Runs steps: as processes on this machine, or as cluster jobs. A step's process knows only its Job, a document, and
// the store; nothing else connects it with the coordinator. An executor may therefore run anywhere that sees the store:
// it shares no memory, pipe or process tree with the coordinator, and no path but the store's.

namespace wheelsmith::run {

// Estimated cost of a step; 0 where unknown.
struct Resources {
  unsigned cores = 0;
  std::uint64_t memory = 0;
  double seconds = 0;
  double core_seconds = 0;  // of work, whatever the machine
};

struct Submission {
  std::size_t ticket = 0;  // the coordinator's number for it
  Job job;
  Resources resources{};
};

struct Report {
  enum class Kind : std::uint8_t {
    event,     // something happened in the step
    finished,  // with an outcome, success or failure
    lost,      // outcome unknown: the process or its machine died
  } kind = Kind::event;
  std::size_t ticket = 0;
  Event event{};          // event; its step is filled in by the coordinator
  StepOutcome outcome{};  // finished
  std::string why{};      // lost
};

// Output of a step's process: one line of JSON per event.
std::string report_line(const Event& event);
// Throws Error for a malformed line.
Report parse_report(std::string_view line);

class Executor {
 public:
  virtual ~Executor() = default;

  // How many more steps can be submitted now.
  [[nodiscard]] virtual std::size_t room() const = 0;
  // Throws Error when the step cannot be started; no report follows then.
  virtual void submit(Submission submission) = 0;
  // Events since the last call. Waits briefly when there are none; the caller must also handle interrupts.
  virtual std::vector<Report> wait() = 0;
  // Asks the step to end soon. A report still follows.
  virtual void cancel(std::size_t ticket) = 0;
  // Whether steps go on when the coordinator ends, and a later one finds them.
  [[nodiscard]] virtual bool outlives_coordinator() const { return false; }
  // Where a running step is, for messages: "Slurm job 12 on n1"; "" if unknown.
  [[nodiscard]] virtual std::string place(std::size_t) const { return ""; }
};

}  // namespace wheelsmith::run
