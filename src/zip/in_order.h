#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

// Parallel work, written in order.
//
// Each thread takes the next item, processes it and stores the result; the thread that stores the next result in order
// writes it and all ready ones after it. Items in progress or waiting to be written count against a memory budget. The
// next item in order may always start, whatever is held: only its completion frees the others, so there is no deadlock,
// and an item larger than the budget still runs.

namespace wheelsmith::zip {

template <class Result>
class InOrder {
 public:
  InOrder(std::size_t count, std::uint64_t budget) : m_done(count), m_budget(budget) {}

  // Waits for room. False if an earlier item failed, so that this one will never be written.
  bool enter(std::size_t i, std::uint64_t cost) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock,
                   [&] { return m_failed_at < i || m_next == i || (m_held <= m_budget && cost <= m_budget - m_held); });
    if (m_failed_at < i) return false;
    m_held += cost;
    return true;
  }

  // `cost` as passed to enter(); from now on the result takes `held`. `write(i, result)` is called in order.
  template <class Write>
  void hand_over(std::size_t i, Result result, std::uint64_t cost, std::uint64_t held, const Write& write) {
    const std::lock_guard lock(m_mutex);
    m_held = m_held - cost + held;
    m_done[i].emplace(std::move(result), held);
    for (; m_next < m_done.size() && m_done[m_next]; ++m_next) {
      write(m_next, m_done[m_next]->first);
      m_held -= m_done[m_next]->second;
      m_done[m_next].reset();
    }
    m_changed.notify_all();
  }

  void fail(std::size_t i) {
    const std::lock_guard lock(m_mutex);
    m_failed_at = std::min(m_failed_at, i);
    m_changed.notify_all();
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::optional<std::pair<Result, std::uint64_t>>> m_done;
  std::size_t m_next = 0;  // the first that is not written yet
  std::size_t m_failed_at = std::numeric_limits<std::size_t>::max();
  std::uint64_t m_budget, m_held = 0;
};

}  // namespace wheelsmith::zip
