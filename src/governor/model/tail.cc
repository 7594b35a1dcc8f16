#include "governor/model/tail.h"

#include <algorithm>

// A compile does not hold its peak from beginning to end. A backward kernel of flash-attention: cicc grows to 6.5 GB
// within 40 seconds, frees most of it and continues with 2.4 GB for a minute and a half; ptxas and g++, for half a
// minute more, take 0.5 GB. Reserving 6.5 GB until the end makes a second compile wait for memory that stays unused.
//
// So the model learns how often a compile falls from its peak (once per architecture, if these are compiled in
// sequence) and what it needs after the last fall; then the same for the rest. Once it has fallen that often, its
// reservation is lowered. A fall goes from the top tenth below the peak to less than half of it. Falls are counted, so
// neither the machine's speed nor pauses matter.
//
// Both levels must last a moment: the way down passes the peak of the next tail, and samples are taken some ten times a
// second. Watching requires longer moments than learning. So if only one of them sees a fall, it is the learner, and
// the reservation stays up longer than necessary.

namespace wheelsmith::governor {

namespace {

constexpr std::size_t k_most_points = 16384;  // 27 minutes at the calm rate
constexpr std::size_t k_most_tails = 4;
constexpr std::uint64_t k_small = 64'000'000;  // smaller differences do not matter

constexpr FallRule k_known{0.75, 0.5, 1};
// Similar units differ, but growth before the peak must not be mistaken for it.
constexpr FallRule k_roughly{0.75, 0.5, 0.7};

}  // namespace

unsigned FallCounter::look(double at, std::uint64_t bytes) {
  m_most = std::max(m_most, bytes);
  const std::uint64_t expected = static_cast<std::uint64_t>(static_cast<double>(m_peak) * m_rule.least);
  const std::uint64_t peak = m_rule.least < 1 ? std::max(m_most, expected) : m_peak;
  if (bytes >= peak / 10 * 9) {
    if (m_high_since < 0) m_high_since = at;
    m_was_high = m_was_high || at - m_high_since >= m_rule.high;
  } else {
    m_high_since = -1;
  }
  if (bytes < peak / 2) {
    if (m_low_since < 0) m_low_since = at;
    if (m_was_high && at - m_low_since >= m_rule.low) {
      ++m_falls;
      m_was_high = false;
    }
  } else {
    m_low_since = -1;
  }
  return m_falls;
}

void MemoryCurve::add(double at, std::uint64_t bytes) {
  if (bytes == 0) return;  // not started, or finished
  if (m_points.empty() || m_in_last == m_merged) {
    if (m_points.size() == k_most_points) {
      for (std::size_t i = 0; i < k_most_points / 2; ++i) {
        const Point first = m_points[2 * i];
        const Point second = m_points[2 * i + 1];
        m_points[i] = {first.at, std::max(first.most, second.most), std::min(first.least, second.least)};
      }
      m_points.resize(k_most_points / 2);
      m_merged *= 2;
    }
    m_points.push_back({at, bytes, bytes});
    m_in_last = 0;
  }
  m_points.back().most = std::max(m_points.back().most, bytes);
  m_points.back().least = std::min(m_points.back().least, bytes);
  ++m_in_last;
}

Tails MemoryCurve::tails() const {
  Tails tails;
  const auto most_from = [this](std::size_t begin) {
    std::uint64_t most = 0;
    for (std::size_t i = begin; i < m_points.size(); ++i) most = std::max(most, m_points[i].most);
    return most;
  };
  std::size_t begin = 0;
  for (std::uint64_t peak = most_from(0); peak >= k_small && tails.size() < k_most_tails;) {
    FallCounter counter(peak);
    unsigned falls = 0;
    for (std::size_t i = begin; i < m_points.size(); ++i) {
      counter.look(m_points[i].at, m_points[i].most);
      const unsigned now = counter.look(m_points[i].at, m_points[i].least);
      if (now != falls) begin = i;
      falls = now;
    }
    if (falls == 0) break;
    peak = most_from(begin);
    tails.push_back({falls, peak});
  }
  return tails;
}

TailWatch::TailWatch(std::uint64_t peak, Tails tails, bool roughly)
    : m_tails(std::move(tails)), m_rule(roughly ? k_roughly : k_known), m_counter(peak, m_rule) {}

std::uint64_t TailWatch::look(double at, std::uint64_t bytes) {
  if (m_next == m_tails.size() || m_counter.look(at, bytes) < m_tails[m_next].falls) return 0;
  const std::uint64_t rest = m_tails[m_next++].memory;
  m_counter = FallCounter(rest, m_rule);
  m_counter.look(at, bytes);  // the next segment begins where this one ends
  return rest;
}

}  // namespace wheelsmith::governor
