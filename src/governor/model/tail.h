#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
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

// How long a compile must be high or low to count as that, in seconds, and the least that its own peak may be as a
// share of the one that is expected.
struct FallRule {
  double high = 0.15, low = 0.15, least = 1;
};

// Counts how often a compile falls from its peak.
class FallCounter {
 public:
  explicit FallCounter(std::uint64_t peak = 0, FallRule rule = {}) : m_peak(peak), m_rule(rule) {}
  // Returns how often, up to now. `at` is in seconds.
  unsigned look(double at, std::uint64_t bytes);

 private:
  std::uint64_t m_peak, m_most = 0;
  FallRule m_rule;
  unsigned m_falls = 0;
  double m_high_since = -1, m_low_since = -1;
  bool m_was_high = false;
};

// What a compile held from beginning to end.
class MemoryCurve {
 public:
  void add(double at, std::uint64_t bytes);
  [[nodiscard]] Tails tails() const;

 private:
  // The largest and the smallest of m_merged looks, so that the longest compile takes little room.
  struct Point {
    double at = 0;
    std::uint64_t most = 0, least = 0;
  };
  std::vector<Point> m_points;
  std::size_t m_merged = 1, m_in_last = 0;
};

// Follows a compile whose peak and tails are expected.
class TailWatch {
 public:
  TailWatch() = default;
  // `roughly`: peak and tails are those of its relatives.
  TailWatch(std::uint64_t peak, Tails tails, bool roughly);
  // When it has come into its next tail, the memory that it will hold at most from now on; else 0.
  std::uint64_t look(double at, std::uint64_t bytes);

 private:
  Tails m_tails;
  std::size_t m_next = 0;
  FallRule m_rule;
  FallCounter m_counter;
};

}  // namespace wheelsmith::governor
