#include "doctor/check_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "slurm/policy.h"
#include "sys/process/process.h"

namespace wheelsmith::doctor {

namespace {

// With a larger difference, build systems rebuild files that are up to date, or miss files that are not.
constexpr double k_most_skew = 2;

Check commands_check(const slurm::ClusterFacts& facts) {
  Check check{.id = "slurm-commands", .wanted = "sbatch, squeue, scontrol, scancel and sinfo in PATH"};
  check.found = facts.missing.empty() ? "all" : "without " + join(facts.missing, ", ");
  if (facts.missing.empty()) return check;
  check.state = State::bad;
  check.why = "steps are submitted with Slurm's own commands";
  check.fix = "run wheelsmith on a login node of the cluster, or install the package slurm-client";
  return check;
}

Check controller_check(const slurm::ClusterFacts& facts) {
  Check check{.id = "slurm-controller", .wanted = "sinfo answers"};
  if (facts.controller.answer == slurm::Answer::good) {
    std::set<std::string> names, usable;
    for (const slurm::Node& node : facts.nodes) {
      names.insert(node.name);
      if (node.usable()) usable.insert(node.name);
    }
    check.found = fmt::format("{} of {} usable", usable.size(), counted(names.size(), "node"));
    return check;
  }
  check.state = State::bad;
  check.found = facts.controller.errors;
  check.why = "slurmctld, the controller, schedules the jobs";
  check.fix = "scontrol ping";
  return check;
}

Check partition_check(const slurm::ClusterFacts& facts) {
  Check check{.id = "slurm-partition",
              .wanted = facts.partition.empty() ? "a default partition with nodes"
                                                : fmt::format("partition {} with nodes", facts.partition)};
  std::set<std::string> partitions;
  for (const slurm::Node& node : facts.nodes) partitions.insert(node.partition);
  const slurm::NodeLimits limits = slurm::limits_of(facts.nodes, facts.partition, false);
  if (limits.cpus != 0) {
    check.found = fmt::format("nodes of up to {} cores{}{}", limits.cpus,
                              limits.memory_unset ? "; Slurm does not know their memory (no RealMemory in slurm.conf)"
                                                  : " and " + human_bytes(limits.memory),
                              limits.seconds ? fmt::format(", jobs of up to {} min", *limits.seconds / 60) : "");
    return check;
  }
  check.state = State::bad;
  const bool exists =
      facts.partition.empty() || std::ranges::any_of(split(facts.partition, ','), [&](std::string_view name) {
        return partitions.contains(std::string(trim(name)));
      });
  check.found = exists ? "no usable node" : fmt::format("no partition {}", facts.partition);
  check.why =
      exists ? "nodes that are down, drained or reserved accept no jobs" : "the setting slurm.partition names it";
  if (exists)
    check.fix = "sinfo -R";
  else if (!partitions.empty())
    check.fix = fmt::format("--slurm partition={}", *partitions.begin());
  return check;
}

Check submit_check(const slurm::ClusterFacts& facts) {
  Check check{.id = "slurm-submit", .found = "accepted", .wanted = "sbatch accepts a job"};
  if (facts.submitted.answer == slurm::Answer::good) return check;
  check.state = facts.submitted.answer == slurm::Answer::later ? State::unknown : State::bad;
  check.found = facts.submitted.errors;
  check.why = "an account, a QOS or another option may be missing";
  check.fix = "--slurm account=NAME or --slurm qos=NAME; docs/cluster.md lists the settings";
  return check;
}

// What the job itself could tell, or why it could not.
void add_node_checks(const slurm::ClusterFacts& facts, std::vector<Check>& checks) {
  Check runs{.id = "slurm-program", .wanted = "a node runs the program"};
  if (!facts.node) {
    runs.state = facts.waits.empty() ? State::bad : State::unknown;
    if (!facts.waits.empty()) {
      runs.found = "the job did not start in time: " + facts.waits;
      runs.why = slurm::stuck_because(facts.waits);
      if (!runs.why.empty()) {
        runs.state = State::bad;
        runs.fix = "scontrol show partition; sinfo -R";
      } else {
        runs.why = "other jobs may be ahead of it in the queue";
        runs.fix = "try again when the cluster is less busy";
      }
    } else {
      runs.found = fmt::format("the job ended{}{} without an answer{}",
                               facts.ended ? " as " + std::string(enum_name(facts.ended->state)) : "",
                               facts.ended && !facts.ended->node.empty() ? " on " + facts.ended->node : "",
                               facts.output.empty() ? "" : ": " + printable(facts.output));
      runs.why =
          "jobs run a copy of the program in the store; a node cannot run it if it does not mount the store, or mounts "
          "it "
          "with noexec";
      runs.fix = fmt::format("put the store on a file system that the nodes share: --store DIR (now {})", facts.store);
    }
    checks.push_back(std::move(runs));
    return;
  }
  const slurm::NodeFacts& node = *facts.node;
  runs.found = fmt::format("{}, Linux {}", node.node, node.kernel);
  checks.push_back(std::move(runs));
  checks.push_back({.id = "slurm-store", .found = facts.store, .wanted = "a node can write to the store"});
  Check clock{.id = "slurm-clock",
              .found = fmt::format("{:.1f} s apart", std::abs(node.clock_ahead)),
              .wanted = "clocks agree"};
  if (std::abs(node.clock_ahead) > k_most_skew) {
    clock.state = State::bad;
    clock.why = "build systems compare the times of files that different machines wrote";
    clock.fix = "run an NTP client on " + node.node;
  }
  checks.push_back(std::move(clock));
  Check scratch{.id = "slurm-scratch",
                .found = fmt::format("{}, {} free", node.scratch, human_bytes(node.scratch_free)),
                .wanted = "a folder on the node for build trees"};
  if (!node.scratch_problem.empty()) {
    scratch.state = State::bad;
    scratch.found = node.scratch_problem;
    scratch.why = "build trees and environments are kept on the node's own disk";
    scratch.fix = "--scratch DIR";
  }
  checks.push_back(std::move(scratch));
}

}  // namespace

std::vector<Check> check_cluster(const slurm::ClusterFacts& facts) {
  std::vector<Check> checks = {commands_check(facts)};
  if (!facts.missing.empty()) return checks;
  checks.push_back(controller_check(facts));
  if (facts.controller.answer != slurm::Answer::good) return checks;
  checks.push_back(partition_check(facts));
  if (checks.back().state == State::bad) return checks;
  checks.push_back(submit_check(facts));
  if (facts.submitted.answer == slurm::Answer::good) add_node_checks(facts, checks);
  return checks;
}

}  // namespace wheelsmith::doctor
