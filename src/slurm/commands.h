#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "slurm/batch.h"
#include "slurm/text.h"

// Calls Slurm's commands. Every call is bounded in time; what the answer means is for text.h to say. No shell, and
// never from foreign code: only our own process calls them.

namespace wheelsmith::slurm {

struct Reply {
  Answer answer = Answer::refused;
  std::string text{};    // standard output
  std::string errors{};  // what the command said against it, in one line
};

class Commands {
 public:
  virtual ~Commands() = default;
  // The words, and what the command reads from its standard input.
  virtual Reply call(const std::vector<std::string>& words, const std::string& input) = 0;
};

// The commands in PATH.
class ProgramCommands final : public Commands {
 public:
  Reply call(const std::vector<std::string>& words, const std::string& input) override;
};

// The id of the job or the array.
struct Submitted {
  Reply reply;
  std::uint64_t job = 0;
};
Submitted submit(Commands& commands, const Batch& batch);
// All jobs of this user, tasks of arrays one by one.
struct Queue {
  Reply reply;
  std::vector<QueuedJob> jobs;
};
Queue queue(Commands& commands);
// What the controller remembers of a job, else what the accounting does; nothing with Answer::no_job.
struct Ended {
  Reply reply;
  std::optional<EndedJob> job;
};
Ended ended(Commands& commands, const JobId& id);
struct Nodes {
  Reply reply;
  std::vector<Node> nodes;
};
Nodes nodes(Commands& commands);
Reply cancel(Commands& commands, const std::vector<JobId>& ids);

}  // namespace wheelsmith::slurm
