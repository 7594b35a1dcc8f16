#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// A compile's need after its peak. See the essay in tail.cc.

namespace wheelsmith::governor {

// After this many falls from its peak, a compile needs no more than `memory`.
struct Tail {
  unsigned falls = 0;
  std::uint64_t memory = 0;
  friend bool operator==(const Tail&, const Tail&) = default;
};
// In order: `memory` of each is the peak that the next one falls from.
using Tails = std::vector<Tail>;

// How long a compile must be high or low to count as such, in seconds, and the minimum of its own peak as a share of
// the expected one.
struct FallRule {
  double high = 0.15, low = 0.15, least = 1;
};

// Counts how often a compile falls from its peak.
class FallCounter {
 public:
  explicit FallCounter(std::uint64_t peak = 0, FallRule rule = {}) : m_peak(peak), m_rule(rule) {}
  // Returns the count so far. `at` is in seconds.
  unsigned look(double at, std::uint64_t bytes);

 private:
  std::uint64_t m_peak, m_most = 0;
  FallRule m_rule;
  unsigned m_falls = 0;
  double m_high_since = -1, m_low_since = -1;
  bool m_was_high = false;
};

// Memory of a compile from beginning to end.
class MemoryCurve {
 public:
  void add(double at, std::uint64_t bytes);
  [[nodiscard]] Tails tails() const;

 private:
  // The maximum and minimum of m_merged samples, so that the longest compile takes little space.
  struct Point {
    double at = 0;
    std::uint64_t most = 0, least = 0;
  };
  std::vector<Point> m_points;
  std::size_t m_merged = 1, m_in_last = 0;
};

// Follows a compile with an expected peak and tails.
class TailWatch {
 public:
  TailWatch() = default;
  // `roughly`: peak and tails are those of similar units.
  TailWatch(std::uint64_t peak, Tails tails, bool roughly);
  // When it enters its next tail, its maximum memory from now on; otherwise 0.
  std::uint64_t look(double at, std::uint64_t bytes);

 private:
  Tails m_tails;
  std::size_t m_next = 0;
  FallRule m_rule;
  FallCounter m_counter;
};

}  // namespace wheelsmith::governor
