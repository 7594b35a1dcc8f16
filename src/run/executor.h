#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/events.h"
#include "run/job.h"
#include "run/outcome.h"

// Who runs steps: processes of this machine, or a cluster's jobs. A step's process knows its Job, which is a document,
// and the store; nothing else connects it with the coordinator. So an executor may be anywhere that sees the store: it
// shares no memory, no pipe and no process tree with us, and no path but the store's.

namespace wheelsmith::run {

// What a step is expected to take; 0 where it is not known.
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
    finished,  // with an outcome, good or bad
    lost,      // nobody knows what became of it: the process or its machine died
  } kind = Kind::event;
  std::size_t ticket = 0;
  Event event{};          // event; its step is filled in by the coordinator
  StepOutcome outcome{};  // finished
  std::string why{};      // lost
};

// What a step's process says, one line of JSON for each event.
std::string report_line(const Event& event);
// Throws Error for a line that is not one.
Report parse_report(std::string_view line);

class Executor {
 public:
  virtual ~Executor() = default;

  // How many more steps could be submitted now.
  [[nodiscard]] virtual std::size_t room() const = 0;
  // Throws Error when it cannot be started; then there is no report of it.
  virtual void submit(Submission submission) = 0;
  // What has happened since the last call. Waits when there is nothing, but never long: the caller has other things to
  // look after, an interruption among them.
  virtual std::vector<Report> wait() = 0;
  // The step is to end soon. A report follows all the same.
  virtual void cancel(std::size_t ticket) = 0;
  // Whether steps go on when the coordinator ends, and a later one finds them.
  [[nodiscard]] virtual bool outlives_coordinator() const { return false; }
  // Where a running step is, for messages: "Slurm job 12 on n1"; "" where there is nothing to say.
  [[nodiscard]] virtual std::string place(std::size_t) const { return ""; }
};

}  // namespace wheelsmith::run
