// A line is matched in two passes. Six hundred expressions on every line of a log of 100 MB would take minutes; but
// each of them needs some word that healthy lines do not hold ("signal 9", "no module named"). RE2 finds these words
// out (FilteredRE2), one automaton looks for all of them at once, and only the expressions whose words are there are
// tried.

#include "diagnose/knowledge.h"

#include <re2/filtered_re2.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "diagnose/line.h"
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

// ".{0,200}" keeps a person's eye within a sentence, but is two hundred states of an automaton; within one line, ".*"
// says the same.
std::string unbounded(const std::string& expression) {
  static const re2::RE2 with_zero(R"(\.\{0,(?:[2-9][0-9]|[0-9]{3,})\})"),
      with_more(R"(\.\{[1-9],(?:[2-9][0-9]|[0-9]{3,})\})");
  std::string result = expression;
  re2::RE2::GlobalReplace(&result, with_zero, ".*");
  re2::RE2::GlobalReplace(&result, with_more, ".+");
  return result;
}

}  // namespace

struct Knowledge::Compiled {
  re2::FilteredRE2 expressions{k_shortest_word};
  WordFinder words;        // of the expressions, and those that make a line interesting by themselves
  std::vector<int> owner;  // of an expression: the pattern's index, or ~index of the fact
  std::vector<std::unique_ptr<re2::RE2>> unless;  // by pattern; null where there is none
  int expression_words = 0;
  std::vector<std::string> unreachable;

  void add(const std::vector<std::string>& match, int belongs_to, const std::string& where) {
    for (const std::string& expression : match) {
      int id = 0;
      if (expressions.Add(unbounded(expression), options(), &id) != re2::RE2::NoError) fail(where, expression);
      owner.push_back(belongs_to);
    }
  }

  [[noreturn]] static void fail(const std::string& where, const std::string& expression) {
    throw Error(where + ": " + re2::RE2(expression, options()).error() + " in the expression " + expression);
  }
};

void Knowledge::compile() {
  auto compiled = std::make_shared<Compiled>();
  for (std::size_t i = 0; i < m_patterns.size(); ++i) {
    compiled->add(m_patterns[i].match, static_cast<int>(i), m_patterns[i].where);
    const std::string& unless = m_patterns[i].unless;
    compiled->unless.push_back(unless.empty() ? nullptr : std::make_unique<re2::RE2>(unbounded(unless), options()));
    if (!unless.empty() && !compiled->unless.back()->ok()) Compiled::fail(m_patterns[i].where, unless);
  }
  for (std::size_t i = 0; i < m_facts.size(); ++i)
    compiled->add(m_facts[i].match, ~static_cast<int>(i), m_facts[i].where);
  std::vector<std::string> words;
  compiled->expressions.Compile(&words);
  compiled->expression_words = static_cast<int>(words.size());
  words.insert(words.end(), {"\x1b", "\r"});
  for (const auto& [foreign, english] : translations()) words.push_back(to_lower(foreign));
  compiled->words = WordFinder(words);
  std::vector<int> always;
  compiled->expressions.AllPotentials({}, &always);
  for (const int id : always) compiled->unreachable.push_back(compiled->expressions.GetRE2(id).pattern());
  m_compiled = std::move(compiled);
}

const std::vector<std::string>& Knowledge::unreachable() const { return m_compiled->unreachable; }

const Pattern* Knowledge::find(std::string_view id) const {
  const auto found = std::find_if(m_patterns.begin(), m_patterns.end(), [&](const Pattern& p) { return p.id == id; });
  return found == m_patterns.end() ? nullptr : &*found;
}

std::size_t Knowledge::find_interesting(std::string_view text, std::size_t from) const {
  return m_compiled->words.find(text, from);
}

std::vector<Match> Knowledge::match(std::string_view line) const {
  std::vector<int> words, ids;
  m_compiled->words.all(line, words);
  std::erase_if(words, [&](int word) { return word >= m_compiled->expression_words; });
  std::vector<Match> result;
  if (words.empty()) return result;
  m_compiled->expressions.AllMatches(line, words, &ids);
  std::sort(ids.begin(), ids.end());
  int before = -1;
  for (const int id : ids) {
    const int owner = m_compiled->owner[static_cast<std::size_t>(id)];
    if (owner == before && id != ids.front()) continue;  // another expression of the same pattern
    Match match;
    if (owner >= 0) {
      const re2::RE2* unless = m_compiled->unless[static_cast<std::size_t>(owner)].get();
      if (unless != nullptr && re2::RE2::PartialMatch(line, *unless)) continue;
      match.pattern = &m_patterns[static_cast<std::size_t>(owner)];
    } else {
      match.fact = &m_facts[static_cast<std::size_t>(~owner)];
    }
    before = owner;
    const re2::RE2& expression = m_compiled->expressions.GetRE2(id);
    if (!expression.NamedCapturingGroups().empty()) {
      std::vector<re2::StringPiece> groups(static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1);
      expression.Match(line, 0, line.size(), re2::RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()));
      for (const auto& [name, number] : expression.NamedCapturingGroups()) {
        const re2::StringPiece& group = groups[static_cast<std::size_t>(number)];
        if (group.data() != nullptr) match.groups.emplace_back(name, std::string(group));
      }
    }
    result.push_back(std::move(match));
  }
  return result;
}

}  // namespace wheelsmith::diagnose
