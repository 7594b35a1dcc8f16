// Determines which words a line must contain for an expression to match. RE2 can do that too (FilteredRE2), but only
// after compiling the expression, and compiling all of them would dominate the start-up time. This parser handles the
// relevant part of RE2's syntax: literals, classes, groups, alternatives and repetitions. Unknown syntax ends a
// literal, which is always safe: fewer words are found, never wrong ones.
//
// A part of an expression is a choice between sets: each set alone says "one of these words must be there". A
// concatenation has the sets of all its parts, an alternation one set made of the best of each branch, what may be
// absent has none.

#include "diagnose/needed_words.h"

#include <algorithm>
#include <optional>

namespace wheelsmith::diagnose {

namespace {

using WordSet = std::vector<std::string>;

constexpr std::size_t k_most_words = 64;
constexpr unsigned k_deepest = 60;

class NeedReader {
 public:
  NeedReader(std::string_view text, std::size_t shortest, const std::function<double(const std::string&)>& cost)
      : m_text(text), m_shortest(shortest), m_cost(cost) {}

  WordSet read() {
    auto best = alternatives(0);
    return m_at == m_text.size() && best ? *best : WordSet();
  }

 private:
  [[nodiscard]] bool at_end() const { return m_at >= m_text.size(); }

  [[nodiscard]] double price(const WordSet& words) const {
    double sum = 0;
    for (const std::string& word : words) sum += m_cost(word);
    return sum;
  }

  // The cheapest set so far. A price is worked out only when there are two to compare.
  struct Best {
    std::optional<WordSet> words;
    std::optional<double> price;
  };

  void offer(Best& best, WordSet words) const {
    if (words.empty() || words.size() > k_most_words) return;
    if (!best.words) {
      best.words = std::move(words);
      return;
    }
    if (!best.price) best.price = price(*best.words);
    const double other = price(words);
    if (other >= *best.price) return;
    best = {std::move(words), other};
  }

  void end_literal(std::string& literal, Best& best) const {
    if (literal.size() >= m_shortest) offer(best, {literal});
    literal.clear();
  }

  // "a|b": what each of them needs, together; nothing when one of them needs nothing.
  std::optional<WordSet> alternatives(unsigned depth) {
    WordSet all;
    bool whole = true;
    for (;;) {
      if (auto one = sequence(depth)) {
        all.insert(all.end(), one->begin(), one->end());
      } else {
        whole = false;
      }
      if (at_end() || m_text[m_at] != '|') break;
      ++m_at;
    }
    if (!whole) return std::nullopt;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  std::optional<WordSet> sequence(unsigned depth) {
    Best best;
    std::string literal;
    while (!at_end() && m_text[m_at] != '|' && m_text[m_at] != ')') {
      const char c = m_text[m_at];
      if (c == '(') {
        end_literal(literal, best);
        auto inner = group(depth);
        if (!skip_repetition() && inner) offer(best, *inner);
        continue;
      }
      if (const auto letter = character()) {
        // What is optional or repeated does not continue the word before it.
        const std::size_t before = m_at;
        const bool optional = skip_repetition();
        if (optional) {
          end_literal(literal, best);
        } else {
          literal += *letter;
          if (m_at != before) end_literal(literal, best);
        }
      } else {
        end_literal(literal, best);
        skip_repetition();
      }
    }
    end_literal(literal, best);
    return best.words;
  }

  // The letter that stands here, in lower case; nothing for what stands for several, or for a place.
  std::optional<char> character() {
    const char c = m_text[m_at++];
    if (c == '[') {
      skip_class();
      return std::nullopt;
    }
    if (c == '.' || c == '^' || c == '$') return std::nullopt;
    if (c != '\\') return static_cast<unsigned char>(c) < 0x80 ? std::optional<char>(lower(c)) : std::nullopt;
    if (at_end()) return std::nullopt;
    const char escaped = m_text[m_at++];
    const bool word =
        (escaped >= 'a' && escaped <= 'z') || (escaped >= 'A' && escaped <= 'Z') || (escaped >= '0' && escaped <= '9');
    if (!word) return escaped;
    // A code point or a Unicode class has more behind it.
    if (escaped == 'x' || escaped == 'p' || escaped == 'P' || escaped == 'Q') m_at = m_text.size() + 1;
    return std::nullopt;
  }

  static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

  void skip_class() {
    if (!at_end() && m_text[m_at] == '^') ++m_at;
    if (!at_end() && m_text[m_at] == ']') ++m_at;
    while (!at_end() && m_text[m_at] != ']') {
      if (m_text.substr(m_at, 2) == "[:") {
        const std::size_t end = m_text.find(":]", m_at);
        m_at = end == m_text.npos ? m_text.size() : end + 2;
        continue;
      }
      m_at += m_text[m_at] == '\\' ? 2 : 1;
    }
    ++m_at;
  }

  std::optional<WordSet> group(unsigned depth) {
    ++m_at;
    if (depth >= k_deepest) {
      m_at = m_text.size() + 1;
      return std::nullopt;
    }
    if (!at_end() && m_text[m_at] == '?') {
      // "?:", "?i:", "?i)", "?P<name>"
      const std::size_t end = m_text.find_first_of(":)>", m_at);
      if (end == m_text.npos) {
        m_at = m_text.size() + 1;
        return std::nullopt;
      }
      m_at = end + 1;
      if (m_text[end] == ')') return std::nullopt;
    }
    auto inner = alternatives(depth + 1);
    if (at_end() || m_text[m_at] != ')') {
      m_at = m_text.size() + 1;
      return std::nullopt;
    }
    ++m_at;
    return inner;
  }

  // Skips "*", "+", "?", "{2,3}" and their lazy forms; returns whether what they repeat is optional.
  bool skip_repetition() {
    bool optional = false;
    while (!at_end()) {
      const char c = m_text[m_at];
      if (c == '*' || c == '?') {
        optional = true;
        ++m_at;
      } else if (c == '+') {
        ++m_at;
      } else if (c == '{' && m_at + 1 < m_text.size() && m_text[m_at + 1] >= '0' && m_text[m_at + 1] <= '9') {
        optional |= m_text[m_at + 1] == '0';
        const std::size_t end = m_text.find('}', m_at);
        m_at = end == m_text.npos ? m_text.size() : end + 1;
      } else {
        break;
      }
    }
    return optional;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::size_t m_shortest;
  const std::function<double(const std::string&)>& m_cost;
};

}  // namespace

std::vector<std::string> needed_words(std::string_view expression, std::size_t shortest,
                                      const std::function<double(const std::string&)>& cost) {
  return NeedReader(expression, shortest, cost).read();
}

}  // namespace wheelsmith::diagnose
