#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"

// What Slurm's commands print, as values. --json exists only in newer versions and where the plugin is built, so these
// read the formats that every version since 17.11 has: `--parsable`, `-o FORMAT` and `show job -o`. A line that cannot
// be read is left out: administrators wrap these commands, and wrappers print greetings.

namespace wheelsmith::slurm {

// "12", or "12_3" for a task of an array.
struct JobId {
  std::uint64_t job = 0;
  std::optional<std::uint32_t> task{};
  auto operator<=>(const JobId&) const = default;
};
std::string to_string(const JobId& id);
std::optional<JobId> parse_job_id(std::string_view text);

// Slurm's job states, as far as they differ for a caller.
enum class JobState : std::uint8_t {
  pending,
  running,
  suspended,
  completing,  // the processes have ended, the node is being cleaned
  completed,
  failed,
  cancelled,
  timeout,
  deadline,
  out_of_memory,
  node_fail,
  boot_fail,
  preempted,
  unknown,  // a name of a newer version
};
// "RUNNING", "CANCELLED by 1000", "OUT_OF_ME+" (a column that was too narrow).
JobState job_state_named(std::string_view text);
// Whether the job may still run or start.
bool is_active(JobState state);

// `sbatch --parsable`: "12" or "12;cluster". The last such line counts. Nothing when there is none.
std::optional<std::uint64_t> parse_submitted(std::string_view text);

// `squeue -h -r -o k_queue_format`.
inline constexpr const char* k_queue_format = "%i|%T|%M|%N|%j|%r";
struct QueuedJob {
  JobId id;
  JobState state = JobState::unknown;
  std::uint64_t seconds = 0;  // since its start
  std::string node{};         // "" while it is pending
  std::string name{};
  std::string reason{};  // of a pending one: "Resources", "Priority"; "" for "None"
};
std::vector<QueuedJob> parse_queue(std::string_view text);

// A line of `scontrol show job -o`, or of `sacct`.
struct EndedJob {
  JobId id;
  JobState state = JobState::unknown;
  std::string name{}, reason{}, node{};
  int exit_code = 0, signal = 0;
  std::uint64_t seconds = 0;
  std::optional<std::uint64_t> time_limit{};  // seconds; nothing: none
  std::uint64_t peak_memory = 0;              // bytes; 0: not known
};
std::vector<EndedJob> parse_jobs(std::string_view text);

// `sacct -n -P -o k_accounting_format`. A job's steps (12.batch) give their peak memory to the job.
inline constexpr const char* k_accounting_format = "JobID,JobName,State,ExitCode,ElapsedRaw,MaxRSS,NodeList";
std::vector<EndedJob> parse_accounting(std::string_view text);

// `sinfo -h -N -o k_node_format`: one line for each node and partition.
inline constexpr const char* k_node_format = "%N|%P|%T|%c|%m|%l|%G|%f";
struct Node {
  std::string name, partition;
  bool default_partition = false;
  std::string state{};  // "idle", "mixed", "down*"
  unsigned cpus = 0;
  std::uint64_t memory = 0;                   // bytes
  std::optional<std::uint64_t> time_limit{};  // of the partition, seconds; nothing: none
  std::string gres{}, features{};

  // Whether jobs can start on it, now or when others have ended.
  [[nodiscard]] bool usable() const;
  [[nodiscard]] bool has_gpu() const;
};
std::vector<Node> parse_nodes(std::string_view text);

// "1-02:03:04", "02:03:04", "03:04", "5" (minutes), "UNLIMITED"; nothing for no limit and for other texts.
std::optional<std::uint64_t> parse_duration(std::string_view text);
// As --time takes it: whole minutes, rounded up.
std::string to_minutes(std::uint64_t seconds);

// What became of a command that was sent to the controller.
enum class Answer : std::uint8_t {
  good,
  away,     // the controller does not answer: try again, it may take minutes
  later,    // it answers, and takes no more jobs for now
  refused,  // it never will: the request is wrong
  no_job,   // it does not know that job (any more)
};
Answer classify(int exit_code, std::string_view errors);

}  // namespace wheelsmith::slurm

template <>
struct wheelsmith::EnumNames<wheelsmith::slurm::JobState> {
  static constexpr std::array list = {"PENDING",   "RUNNING",   "SUSPENDED", "COMPLETING", "COMPLETED",
                                      "FAILED",    "CANCELLED", "TIMEOUT",   "DEADLINE",   "OUT_OF_MEMORY",
                                      "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "UNKNOWN"};
};
