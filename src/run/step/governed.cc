// A step under the governor: its compilers start when memory is available, and the status line shows their state.

#include <fmt/format.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "governor/waiting_text.h"
#include "pep/wheel_name.h"
#include "plan/step/spec_fields.h"
#include "run/slurm/farm.h"
#include "run/step/tool_runner.h"

namespace wheelsmith::run {

namespace {

// Which compiles may share cache entries. A package's build scripts can submit any bytes as a compile's object, so
// entries belong to a project and its source URL; a fork has a different one.
std::string cache_owner(const plan::BuildSpec& spec) {
  std::string origin(enum_name(spec.source.kind));
  origin += "\n" + (spec.source.folder.empty() ? spec.source.url : spec.source.folder.string());
  return fmt::format("{}-{}", store::slug(pep::normalized_name(spec.project)),
                     to_hex(sha256(Bytes(spec.project + "\n" + origin))).substr(0, 8));
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
    m_governed.emplace(m_services.store, options);
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
  options.scope = cache_owner(m_job.spec);
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
    // For the steps of the same package to come, on whichever machine. What came from the cache tells nothing.
    if (good && summary.compiles > summary.cache.hits && summary.cache.hits == 0)
      note_unit_cost(m_services.store, m_job.spec, {summary.largest, summary.compile_seconds});
    const bool busy = summary.elsewhere + summary.node_failures + summary.tried_again + summary.set_back +
                              summary.paused + summary.ungoverned !=
                          0 ||
                      summary.waited_for_memory >= 1 || !summary.unreached.empty() || summary.cache.any();
    if (summary.compiles == 0)
      m_services.report.log_line("no compilers ran");
    else if (busy)
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
