#include "diagnose/word_finder.h"

#include <algorithm>
#include <utility>

namespace wheelsmith::diagnose {

namespace {

constexpr unsigned k_rows_to_depth = 3;

unsigned char lower(unsigned char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<unsigned char>(byte + 32) : byte;
}

}  // namespace

// While it is made; nodes in the order of their making.
struct WordFinder::Trie {
  // Most nodes have one child and no end: no memory of their own.
  struct Node {
    std::uint32_t first_child = 0, next_sibling = 0;  // 0: none
    std::uint32_t failure = 0;
    unsigned depth = 0;
    std::uint8_t column = 0;
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
    for (std::uint32_t child = nodes[node].first_child; child != 0; child = nodes[child].next_sibling) {
      if (nodes[child].column == column) return child;
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
  std::size_t letters = 1;
  for (const std::string& word : words) letters += word.size();
  trie.nodes.reserve(letters);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t node = 0;
    for (const char c : words[i]) {
      const std::uint8_t column = m_column[static_cast<unsigned char>(c)];
      std::uint32_t child = trie.child_of(node, column);
      if (child == 0) {
        child = static_cast<std::uint32_t>(trie.nodes.size());
        Trie::Node& made = trie.nodes.emplace_back();
        made.depth = trie.nodes[node].depth + 1;
        made.column = column;
        made.next_sibling = std::exchange(trie.nodes[node].first_child, child);
      }
      node = child;
    }
    if (node != 0) trie.nodes[node].ends.push_back(static_cast<int>(i));
  }
  // Breadth first, so that a node's failure link, which is shorter, is there before it is needed.
  std::vector<std::uint32_t> order = {0};
  order.reserve(trie.nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t node = order[i];
    for (std::uint32_t child = trie.nodes[node].first_child; child != 0; child = trie.nodes[child].next_sibling) {
      const std::uint32_t failure = node == 0 ? 0 : trie.go(trie.nodes[node].failure, trie.nodes[child].column);
      trie.nodes[child].failure = failure;
      const std::vector<int>& shorter = trie.nodes[failure].ends;
      if (!shorter.empty()) trie.nodes[child].ends.insert(trie.nodes[child].ends.end(), shorter.begin(), shorter.end());
      order.push_back(child);
    }
  }
  number(trie, order);
}

void WordFinder::number(Trie& trie, const std::vector<std::uint32_t>& order) {
  const auto is_row = [&](std::uint32_t node) { return trie.nodes[node].depth <= k_rows_to_depth; };
  const auto rank = [&](std::uint32_t node) { return !is_row(node) ? 2 : trie.nodes[node].ends.empty() ? 0 : 1; };
  std::vector<std::uint32_t> sorted;
  sorted.reserve(order.size());
  std::array<std::vector<std::uint32_t>, 3> ranks;
  for (const std::uint32_t node : order) ranks[static_cast<std::size_t>(rank(node))].push_back(node);
  for (const std::vector<std::uint32_t>& nodes : ranks) sorted.insert(sorted.end(), nodes.begin(), nodes.end());
  trie.state_of.resize(sorted.size());
  m_plain_to += static_cast<std::uint32_t>(ranks[0].size()) * m_columns;
  const auto rows = static_cast<std::uint32_t>(ranks[0].size() + ranks[1].size());
  m_deep_from = rows * m_columns;
  for (std::uint32_t number = 0; number < sorted.size(); ++number)
    trie.state_of[sorted[number]] = number < rows ? number * m_columns : number - rows + m_deep_from;
  m_ends_from.reserve(sorted.size() + 1);
  m_deep.reserve(sorted.size() - rows);
  m_children.reserve(sorted.size());
  m_next.reserve(m_deep_from);
  m_ends_from.push_back(0);
  for (std::uint32_t number = 0; number < sorted.size(); ++number) {
    const Trie::Node& node = trie.nodes[sorted[number]];
    m_ends.insert(m_ends.end(), node.ends.begin(), node.ends.end());
    m_ends_from.push_back(static_cast<std::uint32_t>(m_ends.size()));
    if (number < rows) {
      // Where its failure link goes, which comes before it in this order; but its own children go first.
      const std::size_t row = m_next.size();
      m_next.resize(row + m_columns);
      if (sorted[number] != 0)
        std::copy_n(m_next.begin() + trie.state_of[node.failure], m_columns,
                    m_next.begin() + static_cast<std::ptrdiff_t>(row));
      for (std::uint32_t child = node.first_child; child != 0; child = trie.nodes[child].next_sibling)
        m_next[row + trie.nodes[child].column] = trie.state_of[child];
      continue;
    }
    const auto first = static_cast<std::uint32_t>(m_children.size());
    for (std::uint32_t child = node.first_child; child != 0; child = trie.nodes[child].next_sibling)
      m_children.push_back({trie.nodes[child].column, trie.state_of[child]});
    m_deep.push_back({first, static_cast<std::uint32_t>(m_children.size()) - first, trie.state_of[node.failure]});
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
