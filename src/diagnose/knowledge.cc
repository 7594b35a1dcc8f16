// Lines are matched in two passes. Running 600 expressions on every line of a 100 MB log would take minutes; but each
// of them needs some word that healthy lines do not contain ("signal 9", "no module named"). needed_words() determines
// these words, one automaton searches for all of them at once, and only the expressions whose words occur are compiled
// and tried.

#include "diagnose/knowledge.h"

#include <re2/filtered_re2.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "diagnose/line.h"
#include "diagnose/needed_words.h"
#include "diagnose/quick_scan.h"
#include "diagnose/word_finder.h"

namespace wheelsmith::diagnose {

namespace {

// Shorter words are in every line.
constexpr int k_shortest_word = 4;
constexpr std::int64_t k_most_memory = 1 << 20;  // of one expression's automaton

// Bytes, not characters: the automata are a fraction of the size, and lines come with plain quotes (clean()).
re2::RE2::Options options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(k_most_memory);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  return options;
}

// ".{0,200}" costs 200 automaton states; within one line, ".*" is equivalent.
std::string unbounded(const std::string& expression) {
  static const re2::RE2 with_zero(R"(\.\{0,(?:[2-9][0-9]|[0-9]{3,})\})"),
      with_more(R"(\.\{[1-9],(?:[2-9][0-9]|[0-9]{3,})\})");
  std::string result = expression;
  re2::RE2::GlobalReplace(&result, with_zero, ".*");
  re2::RE2::GlobalReplace(&result, with_more, ".+");
  return result;
}

// What a word costs that lines are to be found by: much when healthy text has it, less the longer it is.
class WordCost {
 public:
  explicit WordCost(std::string_view healthy) : m_healthy(to_lower(healthy)) {}
  double operator()(const std::string& word) {
    const auto [known, is_new] = m_known.emplace(word, 0.0);
    if (is_new)
      known->second =
          (m_healthy.find(word) != std::string::npos ? 1000.0 : 1.0) + 8.0 / static_cast<double>(word.size());
    return known->second;
  }

 private:
  std::string m_healthy;
  std::unordered_map<std::string, double> m_known;
};

// What RE2 finds out about an expression that needed_words() makes nothing of.
std::vector<std::string> words_by_filter(const std::string& expression) {
  re2::FilteredRE2 filter(k_shortest_word);
  int id = 0;
  std::vector<std::string> words;
  if (filter.Add(unbounded(expression), options(), &id) != re2::RE2::NoError) return words;
  filter.Compile(&words);
  std::vector<int> always;
  filter.AllPotentials({}, &always);
  return always.empty() ? words : std::vector<std::string>();
}

// Expressions, found through the words that they need. Compiling one takes a thousand times as long as searching for
// its words, so each is compiled when a line first contains one of them.
class Expressions {
 public:
  void add(std::size_t owner, const std::string& expression, const std::string& where, bool ours, WordCost& cost) {
    const std::size_t number = m_all.size();
    m_all.push_back({owner, expression, nullptr});
    if (!ours && !compiled(m_all.back()).ok()) fail(where, expression);
    std::vector<std::string> words = needed_words(expression, k_shortest_word, std::ref(cost));
    if (words.empty()) words = words_by_filter(expression);
    if (words.empty()) m_unreachable.push_back(expression);
    for (const std::string& word : words) {
      const auto [known, is_new] = m_numbers.emplace(word, m_words.size());
      if (is_new) {
        m_words.push_back(word);
        m_uses.emplace_back();
      }
      m_uses[known->second].push_back(number);
    }
  }

  // Words that lead to no expression, but make a line worth reading.
  void finish(const std::vector<std::string>& more) {
    for (const std::string& word : more) {
      if (word.size() < k_shortest_word || !m_numbers.emplace(word, m_words.size()).second) continue;
      m_words.push_back(word);
      m_uses.emplace_back();
    }
    m_finder = WordFinder(m_words);
  }

  [[noreturn]] static void fail(const std::string& where, const std::string& expression) {
    throw Error(where + ": " + re2::RE2(expression, options()).error() + " in the expression " + expression);
  }

  [[nodiscard]] const std::vector<std::string>& unreachable() const { return m_unreachable; }
  [[nodiscard]] const std::vector<std::string>& words() const { return m_words; }
  [[nodiscard]] const WordFinder& finder() const { return m_finder; }

  // Calls `take` with the owner and an expression for each that matches, of the owners from `first` to before `last`,
  // in order.
  template <class Take>
  void match(std::string_view line, std::size_t first, std::size_t last, Take take) const {
    std::vector<int> words;
    m_finder.all(line, words);
    std::vector<std::size_t> numbers;
    for (const int word : words) {
      const std::vector<std::size_t>& more = m_uses[static_cast<std::size_t>(word)];
      numbers.insert(numbers.end(), more.begin(), more.end());
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const std::size_t number : numbers) {
      const Expression& one = m_all[number];
      if (one.owner < first || one.owner >= last) continue;
      const re2::RE2& expression = compiled(one);
      if (re2::RE2::PartialMatch(line, expression)) take(one.owner, expression);
    }
  }

 private:
  struct Expression {
    std::size_t owner;
    std::string text;
    mutable std::unique_ptr<re2::RE2> compiled;
  };

  const re2::RE2& compiled(const Expression& one) const {
    const std::lock_guard guard(m_mutex);
    if (!one.compiled) one.compiled = std::make_unique<re2::RE2>(unbounded(one.text), options());
    return *one.compiled;
  }

  std::vector<Expression> m_all;
  std::vector<std::string> m_words;
  std::unordered_map<std::string, std::size_t> m_numbers;
  std::vector<std::vector<std::size_t>> m_uses;  // by word: the numbers of expressions
  std::vector<std::string> m_unreachable;
  WordFinder m_finder;
  mutable std::mutex m_mutex;
};

std::vector<std::pair<std::string, std::string>> named_groups(const re2::RE2& expression, std::string_view line) {
  std::vector<std::pair<std::string, std::string>> result;
  if (expression.NamedCapturingGroups().empty()) return result;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1);
  expression.Match(line, 0, line.size(), re2::RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()));
  for (const auto& [name, number] : expression.NamedCapturingGroups()) {
    const re2::StringPiece& group = groups[static_cast<std::size_t>(number)];
    if (group.data() != nullptr) result.emplace_back(name, std::string(group));
  }
  return result;
}

}  // namespace

namespace data {
extern const std::string_view healthy_txt;
}

struct Knowledge::Compiled {
  Expressions expressions;                        // those of patterns, then those of facts
  std::vector<std::unique_ptr<re2::RE2>> unless;  // by pattern; null if it has none, or until it is needed
  std::mutex unless_mutex;
  QuickScan quick;  // where words that make a line worth reading may be
};

void Knowledge::compile() {
  auto compiled = std::make_shared<Compiled>();
  WordCost cost(data::healthy_txt);
  for (std::size_t i = 0; i < m_patterns.size(); ++i) {
    const Pattern& pattern = m_patterns[i];
    for (const std::string& expression : pattern.match)
      compiled->expressions.add(i, expression, pattern.where, pattern.ours, cost);
    if (!pattern.ours && !pattern.unless.empty() && !re2::RE2(unbounded(pattern.unless), options()).ok())
      Expressions::fail(pattern.where, pattern.unless);
  }
  compiled->unless.resize(m_patterns.size());
  for (std::size_t i = 0; i < m_facts.size(); ++i) {
    for (const std::string& expression : m_facts[i].match)
      compiled->expressions.add(m_patterns.size() + i, expression, m_facts[i].where, m_facts[i].ours, cost);
  }
  std::vector<std::string> foreign_words;
  for (const auto& [foreign, english] : translations()) foreign_words.push_back(to_lower(foreign));
  compiled->expressions.finish(foreign_words);
  compiled->quick = QuickScan(compiled->expressions.words(), data::healthy_txt);
  m_compiled = std::move(compiled);
}

std::vector<std::string> Knowledge::unreachable() const { return m_compiled->expressions.unreachable(); }

std::size_t Knowledge::find_interesting(std::string_view text, std::size_t from) const {
  // A quick find is a part of a word; the rest of the word is beside it.
  const std::size_t around = m_compiled->quick.longest_word();
  for (std::size_t at = from; at < text.size();) {
    const std::size_t maybe = std::min(m_compiled->quick.find(text, at), text.size());
    const std::string_view before = text.substr(0, maybe);
    const std::size_t special = std::min(before.find('\x1b', at), before.find('\r', at));
    if (special != text.npos) return special + 1;
    if (maybe == text.size()) break;
    const std::size_t start = std::max(from, maybe - std::min(maybe, around));
    const std::size_t found = m_compiled->expressions.finder().find(text.substr(0, maybe + around), start);
    if (found != text.npos) return found;
    at = maybe + 1;
  }
  return text.npos;
}

bool Knowledge::is_excepted(std::size_t pattern, std::string_view line) const {
  const std::lock_guard guard(m_compiled->unless_mutex);
  std::unique_ptr<re2::RE2>& unless = m_compiled->unless[pattern];
  if (!unless) unless = std::make_unique<re2::RE2>(unbounded(m_patterns[pattern].unless), options());
  return re2::RE2::PartialMatch(line, *unless);
}

std::vector<Match> Knowledge::match_patterns(std::string_view line) const {
  std::vector<Match> result;
  const Pattern* before = nullptr;
  m_compiled->expressions.match(line, 0, m_patterns.size(), [&](std::size_t owner, const re2::RE2& expression) {
    const Pattern* pattern = &m_patterns[owner];
    if (pattern == before) return;  // another expression of the same pattern
    if (!pattern->unless.empty() && is_excepted(owner, line)) return;
    before = pattern;
    result.push_back({pattern, nullptr, named_groups(expression, line)});
  });
  return result;
}

std::vector<Match> Knowledge::match_facts(std::string_view line) const {
  std::vector<Match> result;
  const std::size_t first = m_patterns.size();
  m_compiled->expressions.match(line, first, first + m_facts.size(),
                                [&](std::size_t owner, const re2::RE2& expression) {
                                  const Fact* fact = &m_facts[owner - first];
                                  if (result.empty() || result.back().fact != fact)
                                    result.push_back({nullptr, fact, named_groups(expression, line)});
                                });
  return result;
}

}  // namespace wheelsmith::diagnose
