#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::diagnose {

// Finds candidate positions of many words. An automaton depends on its previous state, which costs six or more cycles
// per byte; here every position is checked independently: its four bytes are hashed into a bit table. Four bytes
// represent each word, chosen so that healthy text does not contain them. A hit contains those four bytes, not
// necessarily the word.
class QuickScan {
 public:
  QuickScan() = default;
  // Words of at least four bytes; shorter ones are not looked for. Case does not count.
  QuickScan(const std::vector<std::string>& words, std::string_view healthy);

  // The first place at or after `from` where four bytes that stand for a word begin; npos when there is none.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t from) const;
  [[nodiscard]] std::size_t longest_word() const { return m_longest; }

 private:
  static constexpr unsigned k_bits = 19;
  [[nodiscard]] static std::uint32_t hash(std::uint32_t four) { return four * 2654435761U >> (32 - k_bits); }
  [[nodiscard]] bool is_exact(std::uint32_t four) const;

  std::vector<std::uint64_t> m_bits;
  std::vector<std::uint32_t> m_fours;  // sorted
  std::size_t m_longest = 0;
};

}  // namespace wheelsmith::diagnose
