#include <algorithm>
#include <set>
#include <tuple>

#include "governor/model/admission.h"

// Builds that share a machine take turns, whatever their compiles are like. The next unit to start belongs to the
// waiting build with the least running. A build's share is the larger of two fractions: of the cores, and of the memory
// in pools shared with other builds; so one compile that uses most of the memory counts as much as many small ones.
//
// Ties (on one core: all waiting builds) are broken by past use: share times seconds since both builds arrived. So a
// build of small units gets as much time as one of long units, instead of one unit for each of the other's. A later
// build starts with the past use of the least served one: it gets no credit for the time before.
//
// A unit that has waited too long for memory stops builds with a larger share from starting anything until it fits. It
// does not stop builds with a smaller share; otherwise a build of large units would starve one of small units.
//
// Within a build the longest units start first. A link or a small unit that has waited too long goes before them, since
// others may depend on it; such turns take at most a twentieth of the cores, because the build's end depends on the
// long units.

namespace wheelsmith::governor {

namespace {

constexpr double k_small_turns = 20;
// Charged for every start: a unit that starts and ends between two decisions was never seen running.
constexpr double k_least_seconds = 0.1;

double part(std::uint64_t bytes, std::uint64_t limit) {
  return limit == 0 ? 0 : std::min(1.0, static_cast<double>(bytes) / static_cast<double>(limit));
}

bool in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

double patience(const Ask& ask) { return 30 + 2 * ask.seconds; }

// Pools shared with other builds. A build's private limit is not shared, so using it takes nothing from them.
std::vector<std::string> Admission::contended_pools() const {
  std::map<std::string, std::set<std::string>> builds;
  for (const auto& [id, running] : m_running) {
    for (const std::string& pool : running.ask.pools) builds[pool].insert(running.ask.build);
  }
  for (const auto& [id, waiting] : m_waiting) {
    for (const std::string& pool : waiting.ask.pools) builds[pool].insert(waiting.ask.build);
  }
  std::vector<std::string> pools;
  for (const auto& [pool, users] : builds) {
    if (users.size() > 1 && m_pools.contains(pool)) pools.push_back(pool);
  }
  return pools;
}

double Admission::share_of(const std::string& build, const std::vector<std::string>& pools) const {
  unsigned threads = 0;
  std::map<std::string, std::uint64_t> memory;
  for (const auto& [id, running] : m_running) {
    if (running.ask.build != build) continue;
    threads += running.threads;
    for (const std::string& pool : running.ask.pools) {
      if (in(pools, pool)) memory[pool] += std::max(running.reserved, running.used);
    }
  }
  double share = static_cast<double>(threads) / std::max(1U, m_cores);
  for (const auto& [pool, bytes] : memory) share = std::max(share, part(bytes, m_pools.at(pool).limit));
  return share;
}

void Admission::open_account(const std::string& build, double now) {
  std::set<std::string> present;
  for (const auto& [id, running] : m_running) present.insert(running.ask.build);
  for (const auto& [id, waiting] : m_waiting) present.insert(waiting.ask.build);
  if (present.empty()) {
    m_accounts.clear();
    m_charged_at = now;
  }
  if (present.contains(build)) return;
  double least = -1;
  for (const std::string& other : present) {
    const double service = m_accounts[other].service;
    least = least < 0 ? service : std::min(least, service);
  }
  Account& account = m_accounts[build];
  account.service = std::max(account.service, least);
}

void Admission::charge(double now) {
  const double seconds = std::max(0.0, now - m_charged_at);
  m_charged_at = now;
  std::set<std::string> builds;
  for (const auto& [id, running] : m_running) builds.insert(running.ask.build);
  const std::vector<std::string> pools = contended_pools();
  for (const std::string& build : builds) m_accounts[build].service += seconds * share_of(build, pools);
}

std::vector<Admission::Queue> Admission::queues(double now) {
  const std::vector<std::string> pools = contended_pools();
  std::map<std::string, Queue> by_build;
  for (auto& [id, waiting] : m_waiting) {
    waiting.small_turn = false;
    by_build[waiting.ask.build].units.push_back(&waiting);
  }
  std::vector<Queue> result;
  for (auto& [build, queue] : by_build) {
    queue.build = build;
    queue.first_id = queue.units.front()->ask.id;
    queue.share = share_of(build, pools);
    queue.service = m_accounts[build].service;
    sort_units(queue.units, now >= m_accounts[build].next_small, now);
    result.push_back(std::move(queue));
  }
  return result;
}

void Admission::sort_units(std::vector<Waiting*>& units, bool small_may, double now) const {
  const auto late = [now](const Waiting* waiting) { return now - waiting->since > patience(waiting->ask); };
  if (small_may) {
    Waiting* first = nullptr;
    for (Waiting* waiting : units) {
      if (!late(waiting) || waiting->why != Why::cores) continue;
      const auto rank = [](const Waiting* one) { return std::pair(one->since, one->ask.seconds); };
      if (first == nullptr || rank(waiting) < rank(first)) first = waiting;
    }
    if (first != nullptr) first->small_turn = true;
  }
  const auto rank = [this, &late](const Waiting* waiting) {
    if (waiting->ask.alone) return 0;
    if (waiting->why == Why::memory && late(waiting)) return 1;
    if (waiting->small_turn) return 2;
    // What has begun is finished first: its files wait in a temporary folder, and something may wait for its object.
    return m_begun.contains(waiting->ask.group) ? 3 : 4;
  };
  std::stable_sort(units.begin(), units.end(), [&](const Waiting* a, const Waiting* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return rank(a) == 1 ? a->since < b->since : a->ask.seconds > b->ask.seconds;
  });
}

Admission::Waiting* Admission::next_turn(std::vector<Queue>& queues) {
  Queue* first = nullptr;
  for (Queue& queue : queues) {
    if (queue.next == queue.units.size()) continue;
    const auto rank = [](const Queue& one) { return std::tuple(one.share, one.service, one.first_id); };
    if (first == nullptr || rank(queue) < rank(*first)) first = &queue;
  }
  return first == nullptr ? nullptr : first->units[first->next++];
}

void Admission::note_start(const Waiting& waiting, double now) {
  Account& account = m_accounts[waiting.ask.build];
  account.service += k_least_seconds / std::max(1U, m_cores);
  if (waiting.small_turn) account.next_small = now + k_small_turns * waiting.ask.seconds / std::max(1U, m_cores);
}

void Admission::update_share(std::vector<Queue>& queues, const std::string& build) const {
  for (Queue& queue : queues) {
    if (queue.build == build) queue.share = share_of(build, contended_pools());
  }
}

}  // namespace wheelsmith::governor
