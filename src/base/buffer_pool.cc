#include "base/buffer_pool.h"

#include <algorithm>
#include <utility>

namespace wheelsmith {

namespace {

// A buffer this much larger than requested would waste memory that other tasks need.
constexpr std::uint64_t k_most_waste = 4;
constexpr std::uint64_t k_free_waste = 16'000'000;

}  // namespace

std::vector<Buffer>::iterator BufferPool::fitting(std::uint64_t size) {
  auto best = m_free.end();
  for (auto at = m_free.begin(); at != m_free.end(); ++at) {
    const bool fits = at->size() >= size && (at->size() <= k_free_waste || at->size() / k_most_waste <= size);
    if (fits && (best == m_free.end() || at->size() < best->size())) best = at;
  }
  return best;
}

void BufferPool::make_room(std::uint64_t size) {
  while (!m_free.empty() && (m_allocated > m_budget || size > m_budget - m_allocated)) {
    const auto largest = std::max_element(m_free.begin(), m_free.end(),
                                          [](const Buffer& a, const Buffer& b) { return a.size() < b.size(); });
    m_allocated -= largest->size();
    m_free.erase(largest);
  }
}

std::shared_ptr<std::uint8_t> BufferPool::take(std::uint64_t size) {
  std::unique_lock lock(m_mutex);
  auto found = m_free.end();
  m_freed.wait(lock, [&] {
    found = fitting(size);
    if (found != m_free.end()) return true;
    make_room(size);
    found = m_free.end();
    return m_lent == 0 || (m_allocated <= m_budget && size <= m_budget - m_allocated);
  });
  Buffer buffer;
  if (found != m_free.end()) {
    buffer = std::move(*found);
    m_free.erase(found);
  } else {
    buffer = Buffer(size);
    m_allocated += size;
  }
  ++m_lent;
  lock.unlock();
  std::uint8_t* const data = buffer.data();
  auto owner = std::make_shared<Buffer>(std::move(buffer));
  return {data, [this, owner](std::uint8_t*) { give_back(std::move(*owner)); }};
}

void BufferPool::give_back(Buffer&& buffer) {
  {
    const std::lock_guard lock(m_mutex);
    --m_lent;
    m_free.push_back(std::move(buffer));
  }
  m_freed.notify_all();
}

}  // namespace wheelsmith
