#include "run/slurm/probe.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "run/slurm/farm.h"
#include "run/slurm/node_step.h"
#include "slurm/policy.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/process/own_process.h"

namespace wheelsmith::run {

namespace {

// A reason that no waiting changes, unless it is a moment old.
constexpr double k_stuck_patience = 3;

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "?";
}

slurm::NodeFacts read_facts(const document::Value& value, double sent, double received) {
  slurm::NodeFacts facts;
  facts.node = value["node"].text_or();
  facts.kernel = value["kernel"].text_or();
  // The job wrote it some time in between: only what lies outside is a difference of clocks.
  const double there = value["at"].number();
  facts.clock_ahead = there > received ? there - received : there < sent ? there - sent : 0;
  facts.scratch = value["scratch"].text_or();
  facts.scratch_problem = value["scratch_problem"].text_or();
  facts.scratch_free = static_cast<std::uint64_t>(std::max<std::int64_t>(value["scratch_free"].integer_or(0), 0));
  facts.cores = static_cast<unsigned>(std::clamp<std::int64_t>(value["cores"].integer_or(0), 0, 1 << 20));
  facts.memory = static_cast<std::uint64_t>(std::max<std::int64_t>(value["memory"].integer_or(0), 0));
  return facts;
}

// Nodes that are busy for jobs of a higher priority are reported like nodes that are down.
bool is_stuck(const std::string& reason) {
  return !slurm::stuck_because(reason).empty() && reason.find("ReqNodeNotAvail") == reason.npos &&
         reason.find("DOWN") == reason.npos;
}

// Waits for the answer in the store, or for the job's end without one.
void wait_for(slurm::ClusterFacts& facts, slurm::Commands& commands, const slurm::JobId& id,
              const std::filesystem::path& answer, double sent, double patience) {
  const auto began = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  for (double ended_at = 0; !sys::interrupted();) {
    if (const auto text = sys::read_file_if_possible(answer, 1 << 20)) {
      if (const auto value = document::try_parse_json(*text)) {
        facts.node = read_facts(*value, sent, sys::unix_seconds());
        return;
      }
    }
    if (ended_at != 0 && passed() - ended_at > 10) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const slurm::Queue queue = slurm::queue(commands);
    if (queue.reply.answer == slurm::Answer::good) {
      const auto job =
          std::find_if(queue.jobs.begin(), queue.jobs.end(), [&](const auto& one) { return one.id == id; });
      if (job == queue.jobs.end() || !slurm::is_active(job->state)) {
        if (!facts.ended) facts.ended = slurm::ended(commands, id).job;
        if (ended_at == 0) ended_at = passed();
      } else if (passed() > patience || (passed() > k_stuck_patience && is_stuck(job->reason))) {
        facts.waits = job->reason.empty() ? "it has not ended" : job->reason;
        slurm::cancel(commands, {id});
        return;
      }
    } else if (passed() > patience) {
      facts.waits = queue.reply.errors;
      return;
    }
  }
}

}  // namespace

slurm::ClusterFacts probe_cluster(store::Store& store, slurm::Commands& commands, const slurm::SiteOptions& site,
                                  double patience) {
  slurm::ClusterFacts facts;
  facts.store = store.root().string();
  facts.partition = site.partition;
  for (const char* name : {"sbatch", "squeue", "scontrol", "scancel", "sinfo"}) {
    if (sys::find_program(name).empty()) facts.missing.emplace_back(name);
  }
  if (!facts.missing.empty()) return facts;
  slurm::Nodes nodes = slurm::nodes(commands);
  facts.controller = nodes.reply;
  facts.nodes = std::move(nodes.nodes);
  if (facts.controller.answer != slurm::Answer::good) return facts;
  const slurm::NodeLimits limits = slurm::limits_of(facts.nodes, site.partition, false);
  if (limits.cpus == 0) return facts;
  const std::filesystem::path folder = store.folder("farm") / "probes";
  sys::make_folders(folder);
  const std::string name = fmt::format("probe-{}-{}", slurm::job_name(sys::host_name()), sys::unix_nanoseconds());
  const std::filesystem::path answer = folder / (name + ".json");
  slurm::Batch batch;
  batch.name = "ws-doctor";
  batch.request = {.cpus = 1, .memory = limits.memory_unset ? 0 : 256ull << 20, .seconds = 300};
  batch.site = site;
  batch.program = program_for_nodes(store);
  batch.arguments = {"node", "--probe", answer.string()};
  // As jobs do.
  if (const std::filesystem::path& scratch = store.options().scratch; !scratch.empty())
    batch.arguments.insert(batch.arguments.end(), {"--scratch", scratch.string()});
  batch.errors = folder / (name + ".out");
  const double sent = sys::unix_seconds();
  const slurm::Submitted submitted = slurm::submit(commands, batch);
  facts.submitted = submitted.reply;
  if (submitted.reply.answer == slurm::Answer::good) wait_for(facts, commands, {submitted.job}, answer, sent, patience);
  facts.output = std::string(trim(sys::read_file_if_possible(batch.errors, 1 << 16).value_or("")));
  std::error_code ignored;
  std::filesystem::remove(answer, ignored);
  std::filesystem::remove(batch.errors, ignored);
  return facts;
}

int probe_node(const std::filesystem::path& file, const std::filesystem::path& scratch_option) {
  document::Table table;
  const sys::Environment environment = sys::current_environment();
  const auto node = environment.find("SLURMD_NODENAME");
  table["node"] = node == environment.end() ? sys::host_name() : node->second;
  table["kernel"] = kernel_release();
  table["cores"] = std::max(1u, cores_of_job(environment));
  table["memory"] = sys::memory().total;
  try {
    store::Store store(file.parent_path().parent_path().parent_path(), {.scratch = scratch_option});
    const std::filesystem::path scratch = store.tree("probe").parent_path();
    table["scratch"] = scratch.string();
    sys::make_folders(scratch);
    const std::filesystem::path probe = scratch / fmt::format("probe-{}", sys::unix_nanoseconds());
    sys::write_file(probe, "x");
    std::filesystem::remove(probe);
    table["scratch_free"] = sys::free_disk_bytes(scratch);
  } catch (const Error& error) {  // one of the answers
    table["scratch_problem"] = error.what();
  }
  table["at"] = sys::unix_seconds();
  sys::write_file(file, document::to_json(table));
  return 0;
}

}  // namespace wheelsmith::run
