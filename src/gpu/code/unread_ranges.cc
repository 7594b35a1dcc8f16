#include "gpu/code/unread_ranges.h"

#include <algorithm>
#include <iterator>

namespace wheelsmith::gpu {

std::vector<Range> UnreadRanges::take(Range range) {
  std::vector<Range> fresh;
  if (range.begin >= range.end) return fresh;
  Range merged = range;
  auto next = m_taken.upper_bound(range.begin);
  if (next != m_taken.begin() && std::prev(next)->second >= range.begin) --next;
  std::uint64_t at = range.begin;
  while (next != m_taken.end() && next->first <= range.end) {
    if (at < next->first) fresh.push_back({at, next->first});
    at = std::max(at, next->second);
    merged = {std::min(merged.begin, next->first), std::max(merged.end, next->second)};
    next = m_taken.erase(next);
  }
  if (at < range.end) fresh.push_back({at, range.end});
  m_taken.emplace(merged.begin, merged.end);
  return fresh;
}

}  // namespace wheelsmith::gpu
