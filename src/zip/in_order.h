#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

// Work done side by side and written in order.
//
// Each thread takes the next item, works on it, and lays the result down at its place; whoever lays down the one that
// is waited for writes it and all that are ready behind it. What is worked on or waits to be written counts against a
// budget of memory. The item that is next in order may always start, whatever is held: it is the only one whose end
// frees the others, so nothing can wait in a circle, and an item larger than the budget still goes.

namespace wheelsmith::zip {

template <class Result>
class InOrder {
 public:
  InOrder(std::size_t count, std::uint64_t budget) : m_done(count), m_budget(budget) {}

  // Waits for room. False when an item before it failed: then it will never be written.
  bool enter(std::size_t i, std::uint64_t cost) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock,
                   [&] { return m_failed_at < i || m_next == i || (m_held <= m_budget && cost <= m_budget - m_held); });
    if (m_failed_at < i) return false;
    m_held += cost;
    return true;
  }

  // `cost` as enter() was told; from now on the result takes `held`. `write(i, result)` is called in order.
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
