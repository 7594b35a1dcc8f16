// A step under the governor: its compilers start when there is memory for them, and the status line says how it stands.

#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "run/step_runner.h"

namespace wheelsmith::run {

// A build is never worse off without: then the number of jobs is what
// the memory of this moment seems to allow.
void StepRunner::govern() {
  if (!m_job.governed || m_governed) return;
  try {
    governor::Options options;
    options.name = m_job.step.id;
    options.jobs = m_job.most_jobs;
    options.memory = m_job.memory;
    options.cache = cache_options();
    m_governed.emplace(m_store, options);
  } catch (const Error& error) {
    note(fmt::format("compilers are not governed: {}", error.what()));
  }
}

// Trees, environments and toolkits lie in the store: made relative to it, their paths are the same in every store.
governor::CacheOptions StepRunner::cache_options() {
  governor::CacheOptions options = m_job.cache;
  if (options.program.empty()) return {};
  if (!m_rules.cache) {
    note(fmt::format("without the compile cache: {}", m_rules.cache_why));
    return {};
  }
  options.base = m_store.root();
  const auto remote = m_host.environment.find(k_cache_remote_variable);
  if (remote != m_host.environment.end()) options.remote = remote->second;
  if (m_network_isolated && CacheRelay::is_needed(options.remote)) {
    m_relay.emplace(options.remote);
    options.remote = m_relay->inner_remote();
  }
  return options;
}

unsigned StepRunner::jobs() const {
  if (!m_governed) return m_job.jobs;
  return m_job.most_jobs != 0 ? m_job.most_jobs : governor::offered_jobs(usable_threads());
}

void StepRunner::tell_memory() {
  const auto now = std::chrono::steady_clock::now();
  if (!m_governed || now - m_told_memory < std::chrono::seconds(1)) return;
  m_told_memory = now;
  const governor::Message& status = m_governed->status();
  if (status.number("running") == 0 && status.number("waiting") == 0) return;
  std::string text = fmt::format("{} compiling, {} used, {} reserved of {}", status.number("running"),
                                 human_bytes(status.number("used")), human_bytes(status.number("reserved")),
                                 human_bytes(status.number("limit")));
  if (const std::uint64_t waiting = status.number("waiting"); waiting != 0)
    text += fmt::format("; {} wait for {}", waiting, status.text("why").empty() ? "their turn" : status.text("why"));
  emit_event({.kind = Event::Kind::memory, .step = "", .text = text});
}

// What the governor had to do, where it had to do something.
void StepRunner::end_governing(int exit) {
  if (!m_governed) return;
  try {
    const governor::Summary summary = m_governed->finish(exit);
    m_outcome.cache = summary.cache;
    const bool busy = summary.tried_again + summary.set_back + summary.paused + summary.ungoverned != 0 ||
                      summary.waited_for_memory >= 1 || !summary.unreached.empty() || summary.cache.any();
    if (summary.compiles == 0) {
      m_log.line("no compiler was seen");
    } else if (busy) {
      note(summary.to_text());
    } else {
      m_log.line(summary.to_text());
    }
  } catch (const Error& error) {  // it is only told
    m_log.line(error.what());
  }
  m_governed.reset();
}

}  // namespace wheelsmith::run
