#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith {

// Memory for parallel tasks within a budget. take() waits until the bytes fit in addition to those in use; if none are
// in use, any size is granted, so that a single task larger than the budget still runs. Returned memory is reused where
// it fits: a mapped page costs nothing, and a new one costs the kernel more time than inflating into it. The pool must
// outlive its buffers.
class BufferPool {
 public:
  explicit BufferPool(std::uint64_t budget) : m_budget(budget) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // At least `size` bytes, returned to the pool with the last pointer to them.
  [[nodiscard]] std::shared_ptr<std::uint8_t> take(std::uint64_t size);

 private:
  // The smallest free buffer that is large enough but not far too large, or the end.
  std::vector<Buffer>::iterator fitting(std::uint64_t size);
  // Returns free memory to the system until `size` more bytes fit, or nothing is free.
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
