#include "diagnose/word_finder.h"

#include <algorithm>

namespace wheelsmith::diagnose {

namespace {

constexpr unsigned k_rows_to_depth = 3;

unsigned char lower(unsigned char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<unsigned char>(byte + 32) : byte;
}

}  // namespace

// While it is made; nodes in the order of their making.
struct WordFinder::Trie {
  struct Node {
    std::vector<Child> children{};
    std::uint32_t failure = 0;
    unsigned depth = 0;
    std::vector<int> ends{};
  };
  std::vector<Node> nodes = std::vector<Node>(1);
  std::vector<std::uint32_t> state_of;  // by node

  // Where the automaton goes from a node, with the failure links that are there.
  [[nodiscard]] std::uint32_t go(std::uint32_t node, std::uint8_t column) const {
    for (;;) {
      if (const std::uint32_t child = child_of(node, column); child != 0) return child;
      if (node == 0) return 0;
      node = nodes[node].failure;
    }
  }

  // 0, the root, is not a child.
  [[nodiscard]] std::uint32_t child_of(std::uint32_t node, std::uint8_t column) const {
    for (const Child& child : nodes[node].children) {
      if (child.column == column) return child.state;
    }
    return 0;
  }
};

WordFinder::WordFinder(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    for (const char c : word) {
      const unsigned char byte = lower(static_cast<unsigned char>(c));
      if (m_column[byte] == 0) m_column[byte] = static_cast<std::uint8_t>(m_columns++);
    }
  }
  for (unsigned byte = 'A'; byte <= 'Z'; ++byte) m_column[byte] = m_column[byte + 32];

  Trie trie;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t node = 0;
    for (const char c : words[i]) {
      const std::uint8_t column = m_column[static_cast<unsigned char>(c)];
      std::uint32_t child = trie.child_of(node, column);
      if (child == 0) {
        child = static_cast<std::uint32_t>(trie.nodes.size());
        trie.nodes[node].children.push_back({column, child});
        trie.nodes.emplace_back().depth = trie.nodes[node].depth + 1;
      }
      node = child;
    }
    if (node != 0) trie.nodes[node].ends.push_back(static_cast<int>(i));
  }
  // Breadth first, so that a node's failure link, which is shorter, is there before it is needed.
  std::vector<std::uint32_t> order = {0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t node = order[i];
    for (const auto& [column, child] : trie.nodes[node].children) {
      const std::uint32_t failure = node == 0 ? 0 : trie.go(trie.nodes[node].failure, column);
      trie.nodes[child].failure = failure;
      const std::vector<int>& shorter = trie.nodes[failure].ends;
      trie.nodes[child].ends.insert(trie.nodes[child].ends.end(), shorter.begin(), shorter.end());
      order.push_back(child);
    }
  }
  number(trie, order);
}

void WordFinder::number(Trie& trie, const std::vector<std::uint32_t>& order) {
  const auto is_row = [&](std::uint32_t node) { return trie.nodes[node].depth <= k_rows_to_depth; };
  const auto rank = [&](std::uint32_t node) { return !is_row(node) ? 2 : trie.nodes[node].ends.empty() ? 0 : 1; };
  std::vector<std::uint32_t> sorted = order;
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  trie.state_of.resize(sorted.size());
  std::uint32_t rows = 0;
  for (const std::uint32_t node : sorted) {
    if (rank(node) == 0) m_plain_to += m_columns;
    if (rank(node) < 2) ++rows;
  }
  m_deep_from = rows * m_columns;
  for (std::uint32_t number = 0; number < sorted.size(); ++number)
    trie.state_of[sorted[number]] = number < rows ? number * m_columns : number - rows + m_deep_from;
  m_ends_from.push_back(0);
  for (std::uint32_t number = 0; number < sorted.size(); ++number) {
    const Trie::Node& node = trie.nodes[sorted[number]];
    m_ends.insert(m_ends.end(), node.ends.begin(), node.ends.end());
    m_ends_from.push_back(static_cast<std::uint32_t>(m_ends.size()));
    if (number < rows) {
      for (std::uint32_t column = 0; column < m_columns; ++column)
        m_next.push_back(trie.state_of[trie.go(sorted[number], static_cast<std::uint8_t>(column))]);
      continue;
    }
    m_deep.push_back({static_cast<std::uint32_t>(m_children.size()), static_cast<std::uint32_t>(node.children.size()),
                      trie.state_of[node.failure]});
    for (const auto& [column, child] : node.children) m_children.push_back({column, trie.state_of[child]});
  }
}

std::uint32_t WordFinder::step(std::uint32_t state, std::uint8_t column) const {
  while (state >= m_deep_from) {
    const Deep& deep = m_deep[state - m_deep_from];
    for (std::uint32_t i = deep.first_child; i < deep.first_child + deep.children; ++i) {
      if (m_children[i].column == column) return m_children[i].state;
    }
    state = deep.failure;
  }
  return m_next[state + column];
}

std::size_t WordFinder::find(std::string_view text, std::size_t from) const {
  if (m_next.empty()) return text.npos;
  const std::uint32_t* next = m_next.data();
  std::uint32_t state = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const std::uint8_t column = m_column[static_cast<unsigned char>(text[i])];
    state = state < m_deep_from ? next[state + column] : step(state, column);
    if (state >= m_plain_to && is_end(state)) return i + 1;
  }
  return text.npos;
}

void WordFinder::all(std::string_view text, std::vector<int>& result) const {
  if (m_next.empty()) return;
  const auto before = static_cast<std::ptrdiff_t>(result.size());
  const auto once = [&] {
    std::sort(result.begin() + before, result.end());
    result.erase(std::unique(result.begin() + before, result.end()), result.end());
  };
  std::uint32_t state = 0;
  for (const char c : text) {
    const std::uint8_t column = m_column[static_cast<unsigned char>(c)];
    state = state < m_deep_from ? m_next[state + column] : step(state, column);
    if (state < m_plain_to) continue;
    const std::uint32_t number = number_of(state);
    for (std::uint32_t i = m_ends_from[number]; i < m_ends_from[number + 1]; ++i) result.push_back(m_ends[i]);
    // A long line of the same words over and over must not fill the memory.
    if (result.size() > static_cast<std::size_t>(before) + (1 << 16)) once();
  }
  once();
}

}  // namespace wheelsmith::diagnose
