#include <algorithm>

#include "governor/model/admission.h"

// The part of admission that starts compiles; see the essays in admission.cc and fair_share.cc.

namespace wheelsmith::governor {

namespace {

bool has_pool(const Ask& ask, const std::vector<std::string>& names) {
  return std::any_of(ask.pools.begin(), ask.pools.end(), [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

Why longest(const std::array<double, k_reasons>& waited) {
  const auto most = std::max_element(waited.begin(), waited.end());
  return *most > 0 ? static_cast<Why>(most - waited.begin()) : Why::nothing;
}

}  // namespace

Why Admission::obstacle(const Ask& ask, unsigned threads, unsigned free_cores) const {
  if (free_cores == 0) return Why::cores;
  unsigned of_build = 0;
  bool company = false;
  bool held = false;
  for (const auto& [id, running] : m_running) {
    of_build += running.ask.build == ask.build ? 1 : 0;
    if (!has_pool(running.ask, ask.pools)) continue;
    company = true;
    if (running.ask.alone) return Why::alone;
    held = held || running.paused || running.set_back;
  }
  const auto jobs = m_jobs.find(ask.build);
  if (jobs != m_jobs.end() && jobs->second != 0 && of_build >= jobs->second) return Why::jobs;
  if (ask.alone && company) return Why::alone;
  if (held) return Why::memory;
  for (const std::string& name : ask.pools) {
    const auto pool = m_pools.find(name);
    if (company && pool != m_pools.end() && pool->second.pressed) return Why::pressure;
  }
  return fits(ask, threads) ? Why::nothing : Why::memory;
}

void Admission::start(double now, std::vector<Action>& actions) {
  charge(now);
  unsigned busy = 0;
  for (const auto& [id, running] : m_running) busy += running.threads;
  std::vector<std::string> closed;  // pools in which a unit has waited too long
  std::vector<Queue> turns = queues(now);
  while (Waiting* waiting = next_turn(turns)) {
    const Ask ask = waiting->ask;
    waiting->waited[static_cast<std::size_t>(waiting->why)] += now - waiting->looked_at;
    waiting->looked_at = now;
    const unsigned free_cores = m_cores - std::min(m_cores, busy);
    if (has_pool(ask, closed)) {
      waiting->why = free_cores == 0 ? Why::cores : Why::memory;
      continue;
    }
    // Cores that no other unit requests may go to one that can use several.
    unsigned threads = m_waiting.size() > 1 ? 1 : std::clamp(free_cores, 1U, std::max(1U, ask.threads));
    while (threads > 1 && !fits(ask, threads)) --threads;
    const Why why = obstacle(ask, threads, free_cores);
    if (why != Why::nothing) {
      waiting->why = why;
      const bool overdue = why == Why::memory && now - waiting->since > patience(ask);
      if (why == Why::alone ? ask.alone : overdue) closed.insert(closed.end(), ask.pools.begin(), ask.pools.end());
      continue;
    }
    busy += threads;
    start_one(*waiting, threads, false, now, actions);
    update_share(turns, ask.build);
  }
  // Only on the last idle core: on others, smaller units still to come would find no memory.
  if (busy + 1 != m_cores) return;
  closed.clear();
  turns = queues(now);
  while (Waiting* waiting = next_turn(turns)) {
    const Ask& ask = waiting->ask;
    if (has_pool(ask, closed)) continue;
    if (obstacle(ask, 1, 1) == Why::memory && may_start_early(ask)) return start_one(*waiting, 1, true, now, actions);
    // Nothing passes these.
    if (ask.alone || now - waiting->since > patience(ask))
      closed.insert(closed.end(), ask.pools.begin(), ask.pools.end());
  }
}

void Admission::start_one(Waiting& waiting, unsigned threads, bool early, double now, std::vector<Action>& actions) {
  const Ask ask = waiting.ask;
  Running running;
  running.ask = ask;
  running.reserved = ask.memory + ask.memory_per_thread * (threads - 1);
  running.started = now;
  running.waited = now - waiting.since;
  waiting.waited[static_cast<std::size_t>(Why::nothing)] = 0;
  running.why = longest(waiting.waited);
  running.threads = threads;
  running.early = running.started_early = early;
  note_start(waiting, now);
  if (ask.group != 0) m_begun.insert(ask.group);
  actions.push_back({Action::Kind::start, ask.id, running.reserved, threads});
  m_running[ask.id] = running;
  m_waiting.erase(ask.id);
}

}  // namespace wheelsmith::governor
