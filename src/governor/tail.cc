#include "governor/tail.h"

#include <algorithm>

// A compile does not hold its peak from beginning to end. A backward kernel of flash-attention: cicc grows to 6.5 GB
// within 40 seconds, gives most of it back and goes on with 2.4 GB for a minute and a half; ptxas and g++, for half a
// minute more, take 0.5 GB. Whoever keeps 6.5 GB reserved until the end makes a second compile wait for memory that
// nobody will touch.
//
// So it is learned how often a compile falls from its peak (once for each architecture, if these are compiled one after
// the other) and what it needs after the last fall; and the same again of what is left. When it has fallen that often,
// its reservation comes down. To fall is to come from the last tenth below the peak to less than half of it. Falls are
// counted, so that a slow machine and a pause change nothing. Time only tells a peak from the way down through what is
// the peak of the next tail: that is not high that was not high for half a second.

namespace wheelsmith::governor {

namespace {

constexpr std::size_t k_most_points = 4096;
constexpr std::size_t k_most_tails = 4;
constexpr std::uint64_t k_small = 64'000'000;  // not worth to be told from less
constexpr double k_sustained = 0.5;

}  // namespace

unsigned FallCounter::look(double at, std::uint64_t bytes) {
  m_most = std::max(m_most, bytes);
  const std::uint64_t peak = m_roughly ? std::max(m_most, m_peak / 2) : m_peak;
  if (bytes < peak / 10 * 9) {
    m_above_since = -1;
  } else {
    if (m_above_since < 0) m_above_since = at;
    if (at - m_above_since >= k_sustained) m_is_high = true;
  }
  if (m_is_high && bytes < peak / 2) {
    ++m_falls;
    m_is_high = false;
  }
  return m_falls;
}

void MemoryCurve::add(double at, std::uint64_t bytes) {
  if (bytes == 0) return;  // not begun, or over
  if (m_points.empty() || m_in_last == m_merged) {
    if (m_points.size() == k_most_points) {
      for (std::size_t i = 0; i < k_most_points / 2; ++i) {
        const auto& [first, second] = std::pair(m_points[2 * i], m_points[2 * i + 1]);
        m_points[i] = {first.at, std::max(first.bytes, second.bytes)};
      }
      m_points.resize(k_most_points / 2);
      m_merged *= 2;
    }
    m_points.push_back({at, 0});
    m_in_last = 0;
  }
  m_points.back().bytes = std::max(m_points.back().bytes, bytes);
  ++m_in_last;
}

Tails MemoryCurve::tails() const {
  Tails tails;
  const auto most_from = [this](std::size_t begin) {
    std::uint64_t most = 0;
    for (std::size_t i = begin; i < m_points.size(); ++i) most = std::max(most, m_points[i].bytes);
    return most;
  };
  std::size_t begin = 0;
  for (std::uint64_t peak = most_from(0); peak >= k_small && tails.size() < k_most_tails;) {
    FallCounter counter(peak);
    unsigned falls = 0;
    for (std::size_t i = begin; i < m_points.size(); ++i) {
      const unsigned now = counter.look(m_points[i].at, m_points[i].bytes);
      if (now != falls) begin = i;
      falls = now;
    }
    if (falls == 0) break;
    peak = most_from(begin);
    tails.push_back({falls, peak});
  }
  return tails;
}

std::uint64_t TailWatch::look(double at, std::uint64_t bytes) {
  if (m_next == m_tails.size() || m_counter.look(at, bytes) < m_tails[m_next].falls) return 0;
  const std::uint64_t rest = m_tails[m_next++].memory;
  m_counter = FallCounter(rest, m_roughly);
  m_counter.look(at, bytes);  // as the curve does, the next one begins with the end of this one
  return rest;
}

}  // namespace wheelsmith::governor
