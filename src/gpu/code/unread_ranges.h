#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace wheelsmith::gpu {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// Returns every part of a file at most once: section headers may claim the same half gigabyte thousands of times.
class UnreadRanges {
 public:
  // The parts of the range not taken before, in order; marks them as taken.
  std::vector<Range> take(Range range);

 private:
  std::map<std::uint64_t, std::uint64_t> m_taken;  // begin -> end; disjoint
};

}  // namespace wheelsmith::gpu
