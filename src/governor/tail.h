#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// What a compile needs once the worst is over. The essay is in tail.cc.

namespace wheelsmith::governor {

// After it has fallen so many times from its peak, a compile needs no more than `memory`.
struct Tail {
  unsigned falls = 0;
  std::uint64_t memory = 0;
  friend bool operator==(const Tail&, const Tail&) = default;
};
// One after the other: `memory` of each is the peak that the next one falls from.
using Tails = std::vector<Tail>;

// Counts how often a compile falls from its peak.
class FallCounter {
 public:
  // `roughly`: the peak is that of others of its kind; its own may be half as high.
  explicit FallCounter(std::uint64_t peak = 0, bool roughly = false) : m_peak(peak), m_roughly(roughly) {}
  // Returns how often, up to now. `at` is in seconds.
  unsigned look(double at, std::uint64_t bytes);

 private:
  std::uint64_t m_peak, m_most = 0;
  unsigned m_falls = 0;
  double m_above_since = -1;
  bool m_roughly, m_is_high = false;
};

// What a compile held from beginning to end.
class MemoryCurve {
 public:
  void add(double at, std::uint64_t bytes);
  [[nodiscard]] Tails tails() const;

 private:
  // The largest of m_merged looks, so that the longest compile takes little room.
  struct Point {
    double at = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Point> m_points;
  std::size_t m_merged = 1, m_in_last = 0;
};

// Follows a compile whose peak and tails are expected.
class TailWatch {
 public:
  TailWatch() = default;
  TailWatch(std::uint64_t peak, Tails tails, bool roughly)
      : m_tails(std::move(tails)), m_roughly(roughly), m_counter(peak, roughly) {}
  // When it has come into its next tail, the memory that it will hold at most from now on; else 0.
  std::uint64_t look(double at, std::uint64_t bytes);

 private:
  Tails m_tails;
  std::size_t m_next = 0;
  bool m_roughly = false;
  FallCounter m_counter;
};

}  // namespace wheelsmith::governor
