#include "diagnose/quick_scan.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/text.h"

namespace wheelsmith::diagnose {

namespace {

constexpr std::size_t k_four = 4;

// The same for both cases of a letter, and for some other pairs of characters; that only makes it find more.
std::uint32_t four_at(const char* text) {
  std::uint32_t four = 0;
  std::memcpy(&four, text, k_four);
  return four | 0x20202020U;
}

}  // namespace

QuickScan::QuickScan(const std::vector<std::string>& words, std::string_view healthy)
    : m_bits((std::size_t{1} << k_bits) / 64) {
  // Long lines are most of a log: a word counts as much as its line is long.
  std::unordered_map<std::uint32_t, std::size_t> common;
  for (const std::string_view line : lines(healthy)) {
    for (std::size_t i = 0; i + k_four <= line.size(); ++i) common[four_at(line.data() + i)] += line.size();
  }
  for (const std::string& word : words) {
    if (word.size() < k_four) continue;
    m_longest = std::max(m_longest, word.size());
    std::uint32_t best = 0;
    std::size_t fewest = 0;
    for (std::size_t i = 0; i + k_four <= word.size(); ++i) {
      const std::uint32_t four = four_at(word.data() + i);
      const auto found = common.find(four);
      const std::size_t count = found == common.end() ? 0 : found->second;
      if (i == 0 || count < fewest) {
        best = four;
        fewest = count;
      }
    }
    m_fours.push_back(best);
    m_bits[hash(best) / 64] |= std::uint64_t{1} << hash(best) % 64;
  }
  std::sort(m_fours.begin(), m_fours.end());
  m_fours.erase(std::unique(m_fours.begin(), m_fours.end()), m_fours.end());
}

bool QuickScan::is_exact(std::uint32_t four) const { return std::binary_search(m_fours.begin(), m_fours.end(), four); }

std::size_t QuickScan::find(std::string_view text, std::size_t from) const {
  if (m_bits.empty()) return text.npos;
  const std::uint64_t* bits = m_bits.data();
  for (std::size_t i = from; i + k_four <= text.size(); ++i) {
    const std::uint32_t four = four_at(text.data() + i);
    const std::uint32_t place = hash(four);
    if ((bits[place / 64] >> place % 64 & 1) != 0 && is_exact(four)) return i;
  }
  return text.npos;
}

}  // namespace wheelsmith::diagnose
