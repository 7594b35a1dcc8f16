#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/policy.h"

// How jobs are put to Slurm: the options of `sbatch`, the script that a node runs, which jobs go together as an array,
// and how fast they are submitted. Pure.

namespace wheelsmith::slurm {

// The user's choices: [slurm] in wheelsmith.toml, laid over by [slurm.NAME] for a recipe or a variant.
struct SiteOptions {
  std::string partition{}, account{}, qos{}, constraint{};
  std::string gpu_partition{};            // for tests that need a GPU; "": `partition`
  std::string gpus{"1"};                  // for such a test: "1", "h100:1"; for --gres: "gpu:h100:1"
  std::vector<std::string> options{};     // further words for sbatch
  unsigned cpus = 0;                      // for each step; 0: from the estimate
  std::uint64_t memory = 0, seconds = 0;  // likewise
  unsigned nodes = 1;                     // of each step
  bool operator==(const SiteOptions&) const = default;
};
// Limits on what is put to the controller.
struct SubmitLimits {
  unsigned most_queued = 200;  // jobs in the queue, running ones included
  double per_minute = 120;     // calls of sbatch
};
// The keys of the table with their meaning, for messages and the help.
const std::map<std::string, std::string>& site_keys();
// Sets one of these from text. Throws Error for an unknown key or a value that it does not take, and for an option that
// is ours to set (--output, --array, --wrap, …).
void set_site_option(SiteOptions& site, SubmitLimits& limits, const std::string& key, const std::string& value);

// A job, or an array of them.
struct Batch {
  std::string name;       // of the job: letters, digits, '-' and '_'
  std::size_t tasks = 1;  // more: an array, tasks 0 … tasks - 1
  Request request{};
  SiteOptions site{};
  std::filesystem::path program;  // our own, where nodes see it
  std::vector<std::string> arguments{};
  std::filesystem::path errors{};  // what Slurm and the program print
};
// The command, which reads the script from standard input.
std::vector<std::string> sbatch_words(const Batch& batch);
std::string batch_script(const Batch& batch);

// A name for a job out of anything: hostile characters become '-', at most 40 of them.
std::string job_name(std::string_view text);

// Which of the waiting jobs go together: the same request and site, more than one. Each element lists places in
// `waiting`; at most `most` to an array, and arrays only where they are worth it.
struct Shape {
  Request request;
  SiteOptions site;
  bool operator==(const Shape&) const = default;
};
std::vector<std::vector<std::size_t>> group(const std::vector<Shape>& waiting, std::size_t most);

// A bucket of permits that fills with time: no more than `per_minute`, bursts of a sixth of that.
class Throttle {
 public:
  explicit Throttle(double per_minute);
  // Whether one may be sent at this time (seconds of any clock that does not go back).
  bool take(double now);

 private:
  double m_rate, m_most, m_held;
  double m_at = 0;
  bool m_begun = false;
};

// How long to wait before asking a controller that did not answer again: 1 s, 2 s, … at most 30 s.
double back_off(unsigned failures);

}  // namespace wheelsmith::slurm
