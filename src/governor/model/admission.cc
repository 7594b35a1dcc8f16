#include "governor/model/admission.h"

#include <algorithm>

#include "governor/model/units.h"

// A compile starts when a core is free and when, in every memory pool it uses, the available memory exceeds its
// predicted need, the remaining growth of running compiles, and a margin. "Available" is read from the system, so it
// accounts for other processes, and for our own that use more than predicted.
//
// With nothing running in a pool its next compile starts regardless: waiting would not free any memory.
//
// Builds take turns: the next compile comes from the build with the least running (see fair_share.cc). Within a build
// long compiles go first, because the last to finish determines the build's end. Smaller compiles may pass one that
// does not fit, but not forever: after a while no build with more running starts anything until it fits.
//
// A compile past its peak needs less from then on (lower; see tail.cc).
//
// When nothing fits and one core is idle, one compile starts early, before there is room for its peak: it takes a while
// to grow, and running ones may have finished by then. If not, it is paused before it uses memory that the others will
// need, which costs no more than waiting would have. Only one per pool, and only where all running compiles have known
// needs.
//
// A compile may use more memory than reserved. Then its reservation grows, so that fewer compiles start. When the
// remaining growth exceeds the available memory and little is left, the youngest is paused (hold_down): it keeps its
// memory but takes no more, while older ones finish. If that does not help, the youngest is preempted: killed and
// requeued, which loses its work but not the build. The oldest always keeps running, so there is always progress.

namespace wheelsmith::governor {

namespace {

std::uint64_t growth(const Admission::Running& running) {
  return running.reserved - std::min(running.reserved, running.used);
}

bool takes_from(const Admission::Running& running, const std::string& pool) {
  return std::find(running.ask.pools.begin(), running.ask.pools.end(), pool) != running.ask.pools.end();
}

// Where pausing begins.
std::uint64_t low_water(const Pool& pool) { return std::max(pool.limit / 8, 96 * k_MB); }
std::uint64_t danger(const Pool& pool) { return std::max(pool.limit / 25, 48 * k_MB); }
// More than pausing requires, or a compile would be paused and resumed endlessly.
std::uint64_t enough_to_resume(const Pool& pool) { return std::max(margin(pool), danger(pool)) / 4 * 5; }

}  // namespace

std::uint64_t margin(const Pool& pool) { return std::max(pool.limit / 33, 32 * k_MB); }

std::string_view to_string(Why why) { return enum_name(why); }

void Admission::ask(const Ask& ask, double now) {
  open_account(ask.build, now);
  Waiting& waiting = m_waiting[ask.id];
  waiting.ask = ask;
  waiting.since = waiting.looked_at = now;
}

void Admission::adopt(const Ask& ask, double now) {
  open_account(ask.build, now);
  Running& running = m_running[ask.id];
  running.ask = ask;
  running.reserved = ask.memory;
  running.started = now;
}

void Admission::expect(std::uint64_t id, std::uint64_t memory, double seconds, bool sure) {
  const auto found = m_waiting.find(id);
  if (found == m_waiting.end()) return;
  found->second.ask.memory = memory;
  found->second.ask.seconds = seconds;
  found->second.ask.sure = sure;
}

void Admission::finish(std::uint64_t id) {
  m_waiting.erase(id);
  m_running.erase(id);
}

void Admission::lower(std::uint64_t id, std::uint64_t bytes) {
  const auto found = m_running.find(id);
  if (found == m_running.end() || bytes >= found->second.reserved) return;
  found->second.reserved_most = std::max(found->second.reserved_most, found->second.reserved);
  found->second.reserved = bytes;
  found->second.early = false;
}

void Admission::set_used(std::uint64_t id, std::uint64_t bytes) {
  const auto found = m_running.find(id);
  if (found == m_running.end()) return;
  found->second.used = bytes;
  found->second.peak = std::max(found->second.peak, bytes);
}

Admission::Group Admission::in_pool(const std::string& pool) {
  Group group;
  for (auto& [id, running] : m_running) {
    if (takes_from(running, pool)) group.push_back(&running);
  }
  std::stable_sort(group.begin(), group.end(), [](const Running* a, const Running* b) {
    return std::pair(a->early, a->started) < std::pair(b->early, b->started);
  });
  return group;
}

std::vector<Action> Admission::decide(double now) {
  std::vector<Action> actions;
  for (auto& [id, running] : m_running) {
    // A compile that exceeded its prediction has no known limit.
    if (running.used > running.reserved) {
      running.reserved = running.used + std::max(running.used / 4, 64 * k_MB);
      running.ask.sure = false;
    }
    running.early = running.early && !has_room(running, margin);
  }
  for (const auto& [name, pool] : m_pools) hold_down(name, now, actions);
  resume(now, actions);
  start(now, actions);
  return actions;
}

void Admission::hold_down(const std::string& name, double now, std::vector<Action>& actions) {
  const Pool& pool = m_pools[name];
  Group group = in_pool(name);
  if (group.size() < 2) return;
  const auto pause = [now, &actions](Running& running) {
    running.paused = true;
    running.paused_at = now;
    actions.push_back({Action::Kind::pause, running.ask.id});
  };
  // An early start yields before the others need its memory.
  if (Running& last = *group.back(); last.early && !last.paused && !last.set_back) {
    std::uint64_t others = 0;
    for (const Running* running : group) others += running == &last || running->paused ? 0 : growth(*running);
    if (pool.available < low_water(pool) + others) pause(last);
  }
  if (pool.available >= low_water(pool)) return;

  const auto to_come = [&group] {
    std::uint64_t sum = 0;
    for (const Running* running : group) sum += running->paused || running->set_back ? 0 : growth(*running);
    return sum;
  };
  for (std::size_t i = group.size(); i-- > 1 && to_come() + danger(pool) > pool.available;) {
    if (!group[i]->paused && !group[i]->set_back) pause(*group[i]);
  }
  if (pool.available >= danger(pool)) return;
  // One at a time: the next sample shows the memory it frees.
  if (std::any_of(group.begin(), group.end(), [](const Running* running) { return running->set_back; })) return;
  for (std::size_t i = group.size(); i-- > 1;) {
    if (group[i]->used < 24 * k_MB) continue;
    group[i]->set_back = true;
    actions.push_back({Action::Kind::set_back, group[i]->ask.id});
    return;
  }
}

bool Admission::has_room(const Running& candidate, std::uint64_t (*more)(const Pool&)) const {
  return std::all_of(candidate.ask.pools.begin(), candidate.ask.pools.end(), [&](const std::string& name) {
    const auto found = m_pools.find(name);
    if (found == m_pools.end()) return true;
    std::uint64_t sum = growth(candidate) + more(found->second);
    bool others = false;
    for (const auto& [id, other] : m_running) {
      if (&other == &candidate || other.paused || other.set_back || !takes_from(other, name)) continue;
      others = true;
      sum += growth(other);
    }
    return !others || sum <= found->second.available;
  });
}

void Admission::resume(double now, std::vector<Action>& actions) {
  std::vector<Running*> paused;
  for (auto& [id, running] : m_running) {
    if (running.paused && !running.set_back) paused.push_back(&running);
  }
  std::stable_sort(paused.begin(), paused.end(),
                   [](const Running* a, const Running* b) { return a->started < b->started; });
  for (Running* candidate : paused) {
    if (!has_room(*candidate, enough_to_resume)) continue;
    candidate->paused = false;
    candidate->early = false;
    candidate->paused_for += now - candidate->paused_at;
    actions.push_back({Action::Kind::resume, candidate->ask.id});
  }
}

bool Admission::fits(const Ask& ask, unsigned threads) const {
  const std::uint64_t wanted = ask.memory + ask.memory_per_thread * (threads - 1);
  return std::all_of(ask.pools.begin(), ask.pools.end(), [&](const std::string& name) {
    const auto pool = m_pools.find(name);
    if (pool == m_pools.end()) return true;
    std::uint64_t sum = wanted + margin(pool->second);
    bool empty = true;
    for (const auto& [id, running] : m_running) {
      if (!takes_from(running, name)) continue;
      empty = false;
      sum += growth(running);
    }
    return empty || sum <= pool->second.available;
  });
}

bool Admission::may_start_early(const Ask& ask) const {
  if (!ask.sure || ask.alone) return false;
  return std::all_of(ask.pools.begin(), ask.pools.end(), [&](const std::string& name) {
    const auto pool = m_pools.find(name);
    if (pool == m_pools.end()) return true;
    std::uint64_t sum = ask.memory / 4 + 2 * low_water(pool->second);
    for (const auto& [id, running] : m_running) {
      if (!takes_from(running, name)) continue;
      if (!running.ask.sure || running.ask.alone || running.early || running.paused || running.set_back) return false;
      sum += growth(running);
    }
    return sum <= pool->second.available;
  });
}

}  // namespace wheelsmith::governor
