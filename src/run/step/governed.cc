// A step under the governor: its compilers start when memory is available, and the status line shows their state.

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "governor/waiting_text.h"
#include "run/slurm/farm.h"
#include "run/step/cache_owner.h"
#include "run/step/tool_runner.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace {

constexpr std::size_t k_most_earlier = 20;

// The names of this tree's compile records, one to a line, oldest first. A clean start removes them with the tree. The
// build can write there, so only names of the store's own records count.
std::filesystem::path records_file(const SourceTree& tree) { return tree.tree / "records"; }

std::vector<std::string> earlier_records(const SourceTree& tree) {
  std::vector<std::string> names;
  const std::string text = sys::read_file_if_possible(records_file(tree), 1 << 16).value_or("");
  for (const std::string_view name : lines(text)) {
    if (glob_match("compiles-*.jsonl", name) && name.find('/') == name.npos) names.emplace_back(name);
  }
  if (names.size() > k_most_earlier) names.erase(names.begin(), names.end() - k_most_earlier);
  return names;
}

}  // namespace

// The build still works without the governor; the number of jobs is then estimated from the currently free memory.
void ToolRunner::govern(const recipe::Rules& rules) {
  if (!m_job.limits.governed) return;
  try {
    governor::Options options;
    options.name = m_job.spec.id;
    options.jobs = m_job.limits.most_jobs;
    options.cores = m_job.limits.cores;
    options.memory = m_job.limits.memory;
    options.cache = cache_options(rules);
    options.parts = m_job.limits.parts;
    if (m_sandbox != sys::SandboxMode::off) options.confined = m_tree.tree / "versions";
    options.nodes = m_job.limits.nodes;
    options.exchange = m_tree.tree / "versions";
    std::vector<std::string> records = earlier_records(m_tree);
    // Objects of a folder that is kept up to date may belong to sources that no longer exist.
    if (!m_job.spec.source.incremental && !m_job.spec.editable) {
      for (const std::string& name : records) options.earlier.push_back(m_services.store.folder("logs") / name);
    }
    m_governed.emplace(m_services.store, options);
    records.push_back(m_governed->record().filename().string());
    try {
      sys::write_file(records_file(m_tree), join(records, "\n") + "\n");
    } catch (const Error&) {  // a resumed build does not count these objects
    }
  } catch (const Error& error) {  // report it and build without the governor
    m_services.report.note(fmt::format("running without the compile governor: {}", error.what()));
  }
}

cache::CacheOptions ToolRunner::cache_options(const recipe::Rules& rules) {
  cache::CacheOptions options = m_job.cache;
  if (!options.enabled) return {};
  if (!rules.cache) {
    m_services.report.note(fmt::format("running without the compile cache: {}", rules.cache_why));
    return {};
  }
  options.scope = cache_owner(m_job.spec.project, m_job.spec.source);
  return options;
}

unsigned ToolRunner::jobs() const {
  if (!m_governed) return m_job.limits.jobs;
  if (m_job.limits.most_jobs != 0) return m_job.limits.most_jobs;
  unsigned cores = m_job.limits.cores != 0 ? m_job.limits.cores : usable_threads();
  for (const governor::NodeRoom& node : m_job.limits.nodes) cores += node.cores;
  return governor::offered_jobs(cores);
}

void ToolRunner::tell_compiles() {
  const auto now = std::chrono::steady_clock::now();
  if (!m_governed || now - m_told_compiles < std::chrono::seconds(1)) return;
  m_told_compiles = now;
  const governor::Message& status = m_governed->status();
  if (status.number("running") == 0 && status.number("waiting") == 0) return;
  Event event{.kind = Event::Kind::compiling, .step = "", .text = ""};
  event.compiles = {.running = status.number("running"),
                    .finished = status.number("done"),
                    .used = status.number("used"),
                    .limit = status.number("limit"),
                    .hits = status.number("hits"),
                    .lookups = status.number("hits") + status.number("misses"),
                    .unit = status.text("unit"),
                    .waits_for = governor::waiting_text(status)};
  Reporter::tell(event);
}

governor::CacheCounts ToolRunner::finish(bool good) {
  if (!m_governed) return m_cache;
  try {
    const governor::Summary summary = m_governed->finish(good ? 0 : 1);
    m_cache = summary.cache;
    m_files_read = m_governed->files_read(summary);
    // For the steps of the same package to come, on whichever machine. What came from the cache tells nothing.
    if (good && summary.compiles > summary.cache.hits && summary.cache.hits == 0)
      note_unit_cost(m_services.store, m_job.spec, {summary.largest, summary.compile_seconds});
    const bool busy = summary.elsewhere + summary.node_failures + summary.tried_again + summary.set_back +
                              summary.paused + summary.ungoverned !=
                          0 ||
                      summary.waited_for_memory >= 1 || !summary.unreached.empty() || summary.cache.any();
    const bool kept = summary.origins[static_cast<std::size_t>(governor::Origin::tree)] != 0;
    if (summary.compiles == 0 && !kept)
      m_services.report.log_line("no compilers ran");
    else if (busy || kept)
      m_services.report.note(summary.to_text());
    else
      m_services.report.log_line(summary.to_text());
  } catch (const Error& error) {  // a missing summary does not affect the build
    m_services.report.log_line(error.what());
  }
  m_governed.reset();
  return m_cache;
}

}  // namespace wheelsmith::run
