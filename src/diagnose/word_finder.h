#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::diagnose {

// Finds any of many words in one pass, whatever their number: the automaton of Aho and Corasick. Healthy text hardly
// ever gets beyond the third letter of a word, so the states up to there have whole rows, with all failure links
// resolved: a byte costs one load. The deeper ones, a hundred thousand for the words in the patterns, hold their few
// children and a link; whole rows for them would be 30 MB. Case does not count (the words are lower-case).
class WordFinder {
 public:
  WordFinder() = default;
  explicit WordFinder(const std::vector<std::string>& words);

  // Just behind the first word that ends at or after `from`; npos when there is none.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t from) const;
  // Appends the numbers of all words in the text, each once, in order.
  void all(std::string_view text, std::vector<int>& result) const;

 private:
  struct Deep {
    std::uint32_t first_child = 0;  // in m_children
    std::uint32_t children = 0;
    std::uint32_t failure = 0;
  };
  struct Child {
    std::uint8_t column;
    std::uint32_t state;
  };
  struct Trie;

  void number(Trie& trie, const std::vector<std::uint32_t>& order);
  [[nodiscard]] std::uint32_t step(std::uint32_t state, std::uint8_t column) const;
  [[nodiscard]] std::uint32_t number_of(std::uint32_t state) const {
    return state < m_deep_from ? state / m_columns : state - m_deep_from + m_deep_from / m_columns;
  }
  [[nodiscard]] bool is_end(std::uint32_t state) const {
    const std::uint32_t number = number_of(state);
    return m_ends_from[number] != m_ends_from[number + 1];
  }

  // Two comparisons tell what a state is: a plain row, a row that ends a word, or a deep one. A row is named by its
  // place in m_next, so that a step is one addition and one load.
  std::array<std::uint8_t, 256> m_column{};
  std::uint32_t m_columns = 1;
  std::uint32_t m_plain_to = 0, m_deep_from = 0;
  std::vector<std::uint32_t> m_next;  // rows
  std::vector<Deep> m_deep;
  std::vector<Child> m_children;
  std::vector<std::uint32_t> m_ends_from;  // by number: where its words start in m_ends
  std::vector<int> m_ends;                 // the words that end in a state, suffixes included
};

}  // namespace wheelsmith::diagnose
