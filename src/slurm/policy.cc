#include "slurm/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text.h"

namespace wheelsmith::slurm {

namespace {

constexpr std::uint64_t k_gibibyte = 1ull << 30;
// Of a step besides its compilers: the interpreter, the build system, the packing of the wheel.
constexpr std::uint64_t k_base_memory = k_gibibyte;
// For a compile of which nothing is known.
constexpr std::uint64_t k_usual_compile = 2 * k_gibibyte;
constexpr unsigned k_usual_cpus = 4;
// A step is worth a further core for each so many seconds of work.
constexpr double k_seconds_per_core = 300;
// A node whose RealMemory is not set has 1 MiB.
constexpr std::uint64_t k_unset_memory = 16ull << 20;
// The share of a node's memory that jobs can ask for: the system keeps some.
constexpr double k_askable = 0.95;

std::uint64_t within_node(std::uint64_t memory, const NodeLimits& limits) {
  if (limits.memory == 0) return memory;
  return std::min(memory, static_cast<std::uint64_t>(static_cast<double>(limits.memory) * k_askable));
}

// Rounded up by at most an eighth, so that steps that need nearly the same can be one job array.
std::uint64_t rounded_up(std::uint64_t value, std::uint64_t least) {
  const std::uint64_t unit = std::max(least, std::bit_floor(std::max<std::uint64_t>(value, 8)) / 8);
  return (value + unit - 1) / unit * unit;
}

bool is_in(const Node& node, const std::string& partition) {
  if (partition.empty()) return node.default_partition;
  return std::ranges::any_of(split(partition, ','), [&](std::string_view one) { return trim(one) == node.partition; });
}

std::uint64_t within_limit(double seconds, const NodeLimits& limits) {
  const auto whole = static_cast<std::uint64_t>(std::clamp(seconds, 60.0, 1e8));
  return limits.seconds ? std::min(whole, std::max<std::uint64_t>(*limits.seconds, 60)) : whole;
}

}  // namespace

NodeLimits limits_of(const std::vector<Node>& nodes, const std::string& partition, bool gpu) {
  NodeLimits limits;
  bool any = false, unlimited = false;
  std::uint64_t longest = 0;
  std::set<std::string_view> names;  // a node may be in several partitions
  for (const Node& node : nodes) {
    if (!is_in(node, partition) || !node.usable() || (gpu && !node.has_gpu())) continue;
    if (names.insert(node.name).second) ++limits.nodes;
    limits.cpus = std::max(limits.cpus, node.cpus);
    limits.memory = std::max(limits.memory, node.memory);
    unlimited = unlimited || !node.time_limit;
    longest = std::max(longest, node.time_limit.value_or(0));
    any = true;
  }
  if (any && !unlimited) limits.seconds = longest;
  if (any && limits.memory < k_unset_memory) {
    limits.memory = 0;
    limits.memory_unset = true;
  }
  return limits;
}

Request estimate(const Known& known, const NodeLimits& limits, unsigned most_cpus, unsigned nodes) {
  const double work = known.wall_seconds > 0 ? known.wall_seconds * std::max(1u, known.wall_cpus) : known.core_seconds;
  Request request;
  request.nodes = std::max(1u, nodes);
  request.cpus = work > 0
                     ? static_cast<unsigned>(std::clamp(std::ceil(work / k_seconds_per_core / request.nodes), 1.0, 1e4))
                     : k_usual_cpus;
  // What has run well runs again with as many: its tree and its memory are known for that.
  if (limits.cpus != 0) request.cpus = std::min(request.cpus, limits.cpus);
  if (most_cpus != 0) request.cpus = std::min(request.cpus, most_cpus);
  request.cpus = std::max(1u, request.cpus);
  const unsigned all_cpus = request.cpus * request.nodes;
  const unsigned known_cpus = known.wall_cpus / std::max(1u, known.wall_nodes);

  const std::uint64_t compile = known.unit_memory != 0          ? known.unit_memory
                                : known.memory_per_compile != 0 ? known.memory_per_compile
                                                                : k_usual_compile;
  const std::uint64_t all = std::min<std::uint64_t>(compile, 1ull << 44) * request.cpus + k_base_memory;
  if (known.peak_memory != 0) {
    // A quarter more than last time, and for as many more compiles as there are more cores.
    const double cores = known_cpus == 0 ? 1 : std::max(1.0, double(request.cpus) / known_cpus);
    request.memory = static_cast<std::uint64_t>(double(known.peak_memory) * 1.25 * cores) + k_gibibyte / 4;
  } else {
    request.memory = all;
  }
  request.memory = within_node(rounded_up(request.memory, k_gibibyte / 4), limits);
  if (limits.memory_unset) request.memory = 0;
  const auto time = [&](double seconds) {
    return within_limit(
        static_cast<double>(rounded_up(static_cast<std::uint64_t>(std::clamp(seconds, 60.0, 1e8)), 600)), limits);
  };
  if (known.wall_seconds > 0) {
    const double slower = known.wall_cpus > all_cpus ? double(known.wall_cpus) / all_cpus : 1;
    request.seconds = time(known.wall_seconds * slower * 3 + 600);
  } else if (known.core_seconds > 0) {
    request.seconds = time(known.core_seconds / all_cpus * 4 + 1800);
  }
  return request;
}

// The names are those of job_reason_string() and have not changed since version 17.
std::string stuck_because(std::string_view reason) {
  const auto has = [reason](std::string_view part) { return reason.find(part) != reason.npos; };
  if (has("PartitionDown") || has("PartitionInactive"))
    return "the partition accepts jobs but starts none until an administrator changes that; --slurm partition=NAME "
           "chooses another one";
  if (has("PartitionTimeLimit"))
    return "the job's time limit is longer than the partition allows; --slurm time=H:MM:SS";
  if (has("PartitionNodeLimit")) return "the partition does not allow jobs with so many nodes; --nodes N";
  if (has("ReqNodeNotAvail") || has("DOWN"))
    return "all nodes that the job could use are down, drained or reserved; `sinfo -R` says why";
  if (has("BadConstraints")) return "no node has what the job requests; `sinfo -N -l` lists the nodes";
  if (has("Held") || has("held")) return "`scontrol release JOB` ends the hold";
  if (has("DependencyNeverSatisfied")) return "an option in slurm.options makes it wait for a job that failed";
  if (has("InvalidAccount") || has("AccountNotAllowed"))
    return "the account may not use this partition; --slurm account=NAME";
  if (has("InvalidQOS") || has("QOSNotAllowed")) return "the QOS may not be used here; --slurm qos=NAME";
  if (has("PerJob") || has("MaxMemPerLimit"))
    return "one job may not request so much here; --slurm cpus=N, memory=SIZE or time=H:MM:SS";
  // RunMinutes limit what runs at one time, which ends by itself.
  if (has("Minutes") && !has("RunMinutes")) return "the account has used up its processor time; --slurm account=NAME";
  return "";
}

Retry after(const Ending& ending, const Request& request, unsigned tries, const NodeLimits& limits) {
  Retry retry;
  retry.request = request;
  const std::string on = ending.node.empty() ? "" : " on " + ending.node;
  const auto avoid = [&] {
    if (!ending.node.empty() && std::ranges::find(retry.request.excluded, ending.node) == retry.request.excluded.end())
      retry.request.excluded.push_back(ending.node);
    // Some node must be left; the first ones have had time to recover.
    while (limits.nodes != 0 && !retry.request.excluded.empty() &&
           retry.request.excluded.size() + std::max(1u, request.nodes) > limits.nodes)
      retry.request.excluded.erase(retry.request.excluded.begin());
  };
  switch (ending.state) {
    case JobState::out_of_memory: {
      if (request.memory == 0) {  // it had all memory of its node
        retry.why = "it ran out of memory" + on;
        break;
      }
      const std::uint64_t before = std::max<std::uint64_t>(request.memory, k_gibibyte / 16);
      retry.request.memory = within_node(std::min<std::uint64_t>(before, 1ull << 44) * 4, limits);
      retry.again = retry.request.memory > request.memory;
      retry.why = fmt::format("it ran out of memory ({}){}", human_bytes(request.memory), on);
      if (!retry.again) retry.why += ", and no node has more";
      break;
    }
    case JobState::timeout:
    case JobState::deadline: {
      const std::uint64_t before = std::max({request.seconds, ending.time_limit.value_or(0), ending.seconds});
      retry.request.seconds = within_limit(double(before) * 2 + 600, limits);
      retry.again = retry.request.seconds > before;
      retry.why = fmt::format("it reached its time limit of {} min{}", before / 60, on);
      if (!retry.again) retry.why += ", the longest that the partition allows";
      break;
    }
    case JobState::node_fail:
    case JobState::boot_fail:
      avoid();
      retry.again = true;
      retry.why = ending.state == JobState::node_fail
                      ? fmt::format("its node failed{}", on.empty() ? "" : ":" + on.substr(3))
                      : fmt::format("it could not be started{}", on);
      break;
    case JobState::preempted:
      retry.again = true;
      retry.why = "it was preempted" + on;
      break;
    case JobState::unknown:
      retry.again = true;
      retry.why = "it disappeared" + on;
      break;
    case JobState::completed:
    case JobState::failed:
      if (ending.disk_full) {
        avoid();
        retry.again = std::ranges::find(retry.request.excluded, ending.node) != retry.request.excluded.end();
        retry.why = fmt::format("the scratch disk is full{}", on);
        if (!retry.again) retry.why += ", and there is no other node";
        break;
      }
      if (ending.silent) {
        retry.again = true;
        if (ending.never_began) avoid();
        retry.why = ending.never_began ? fmt::format("it ended{} before it could write to the store", on)
                                       : fmt::format("its processes were killed{}", on);
        break;
      }
      [[fallthrough]];
    default: retry.why = fmt::format("it ended as {}{}", enum_name(ending.state), on); break;
  }
  if (retry.again && tries >= k_most_tries) {
    retry.again = false;
    retry.why += fmt::format(", {} times in all", tries);
  }
  return retry;
}

}  // namespace wheelsmith::slurm
