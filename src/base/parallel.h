#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace wheelsmith {

// The number of threads worth starting: the cores that this process may use.
unsigned usable_threads();

// Calls task(0) … task(count - 1), each once, on up to `threads` threads, in that order of starting. Returns when all
// have ended; the first exception (by index, so that every run reports the same one) is thrown again then.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task);

// A budget of memory that tasks share. pass() waits until the asked bytes fit beside what others hold; with nothing
// held, anything may pass, so that a single task larger than the budget still runs.
class Gate {
 public:
  explicit Gate(std::uint64_t budget) : m_budget(budget) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  class Hold {
   public:
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    friend class Gate;
    Hold(Gate& gate, std::uint64_t bytes) : m_gate(gate), m_bytes(bytes) {}
    Gate& m_gate;
    std::uint64_t m_bytes;
  };
  [[nodiscard]] Hold pass(std::uint64_t bytes);

 private:
  std::mutex m_mutex;
  std::condition_variable m_freed;
  std::uint64_t m_budget;
  std::uint64_t m_held = 0;
};

}  // namespace wheelsmith
