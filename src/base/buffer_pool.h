#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith {

// Memory for tasks that run side by side, within a budget. take() waits until the bytes fit beside what others hold;
// with nothing held anything may be had, so that a single task larger than the budget still runs. Memory that was given
// back is lent again where it fits: a page that is already there costs nothing, and a fresh one costs the kernel more
// time than it takes to inflate into it. The pool must outlive what it lent.
class BufferPool {
 public:
  explicit BufferPool(std::uint64_t budget) : m_budget(budget) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // At least `size` bytes, given back when the last pointer to them goes.
  [[nodiscard]] std::shared_ptr<std::uint8_t> take(std::uint64_t size);

 private:
  // The smallest free buffer that is large enough but not out of all proportion, or the end.
  std::vector<Buffer>::iterator fitting(std::uint64_t size);
  // Gives free memory back to the system until `size` more fit, or nothing is free any more.
  void make_room(std::uint64_t size);
  void give_back(Buffer&& buffer);

  std::mutex m_mutex;
  std::condition_variable m_freed;
  std::uint64_t m_budget;
  std::uint64_t m_allocated = 0;  // lent and free
  std::uint64_t m_lent = 0;       // buffers, not bytes
  std::vector<Buffer> m_free;
};

}  // namespace wheelsmith
