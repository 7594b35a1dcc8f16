// A line is matched in two passes. Six hundred expressions on every line of a log of 100 MB would take minutes; but
// each of them needs some word that healthy lines do not hold ("signal 9", "no module named"). RE2 finds these words
// out (FilteredRE2), one automaton looks for all of them at once, and only the expressions whose words are there are
// tried.

#include "diagnose/knowledge.h"

#include <re2/filtered_re2.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "diagnose/line.h"
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

// Expressions, reached through the words that they need. Each owner's have a filter of their own: RE2 drops words that
// many expressions of one filter share, and those are the telling ones ("no such file", "undefined reference to").
class Expressions {
 public:
  // One filter for each owner; making them is most of a start, and they do not know of each other.
  template <class Owner>
  void compile(const std::vector<Owner>& owners) {
    std::vector<std::vector<std::string>> words(owners.size());
    for (std::size_t i = 0; i < owners.size(); ++i) m_filters.emplace_back(k_shortest_word);
    parallel_for(owners.size(), usable_threads(), [&](std::size_t i) {
      for (const std::string& expression : owners[i].match) {
        int id = 0;
        if (m_filters[i].Add(unbounded(expression), options(), &id) != re2::RE2::NoError)
          fail(owners[i].where, expression);
      }
      m_filters[i].Compile(&words[i]);
    });
    std::map<std::string, std::size_t> numbers;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      for (std::size_t own = 0; own < words[i].size(); ++own) {
        const auto [word, is_new] = numbers.emplace(words[i][own], m_words.size());
        if (is_new) {
          m_words.push_back(words[i][own]);
          m_uses.emplace_back();
        }
        m_uses[word->second].push_back({i, static_cast<int>(own)});
      }
    }
    m_finder = WordFinder(m_words);
  }

  [[noreturn]] static void fail(const std::string& where, const std::string& expression) {
    throw Error(where + ": " + re2::RE2(expression, options()).error() + " in the expression " + expression);
  }

  // Those that no word leads to.
  [[nodiscard]] std::vector<std::string> unreachable() const {
    std::vector<std::string> result;
    for (const re2::FilteredRE2& filter : m_filters) {
      for (const int id : potential(filter, {})) result.push_back(filter.GetRE2(id).pattern());
    }
    return result;
  }

  // Words of which every line that could match holds at least one, and healthy lines as few as can be: a word that bulk
  // text has too is left out wherever an expression needs another beside it.
  [[nodiscard]] std::vector<std::string> telling_words(std::string_view healthy) const {
    std::vector<int> common;
    m_finder.all(healthy, common);
    std::vector<bool> tells(m_words.size(), true);
    for (const int word : common) tells[static_cast<std::size_t>(word)] = false;
    std::vector<std::vector<std::pair<int, std::size_t>>> of_filter(
        m_filters.size());  // its common words: own number, ours
    for (const int word : common) {
      for (const Use& use : m_uses[static_cast<std::size_t>(word)])
        of_filter[use.filter].emplace_back(use.word, static_cast<std::size_t>(word));
    }
    for (std::size_t i = 0; i < m_filters.size(); ++i) {
      std::vector<int> quiet;  // in the order of their lengths: the shortest is the last to be made telling
      auto& words = of_filter[i];
      std::erase_if(words, [&](const auto& word) { return tells[word.second]; });
      std::sort(words.begin(), words.end(),
                [&](const auto& a, const auto& b) { return m_words[a.second].size() < m_words[b.second].size(); });
      for (const auto& [own, ours] : words) quiet.push_back(own);
      while (!quiet.empty() && !potential(m_filters[i], quiet).empty()) {
        tells[words[quiet.size() - 1].second] = true;
        quiet.pop_back();
      }
    }
    std::vector<std::string> telling;
    for (std::size_t i = 0; i < m_words.size(); ++i) {
      if (tells[i]) telling.push_back(m_words[i]);
    }
    return telling;
  }

  // Calls `take` with the owner and an expression for each that matches, in order.
  template <class Take>
  void match(std::string_view line, Take take) const {
    std::vector<int> words;
    m_finder.all(line, words);
    std::vector<Use> uses;
    for (const int word : words) {
      const std::vector<Use>& more = m_uses[static_cast<std::size_t>(word)];
      uses.insert(uses.end(), more.begin(), more.end());
    }
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.filter < b.filter; });
    std::vector<int> own, ids;
    for (std::size_t i = 0; i < uses.size();) {
      const std::size_t filter = uses[i].filter;
      own.clear();
      for (; i < uses.size() && uses[i].filter == filter; ++i) own.push_back(uses[i].word);
      m_filters[filter].AllMatches(line, own, &ids);
      std::sort(ids.begin(), ids.end());
      for (const int id : ids) take(filter, m_filters[filter].GetRE2(id));
    }
  }

 private:
  struct Use {
    std::size_t filter;
    int word;  // as the filter numbers it
  };

  static std::vector<int> potential(const re2::FilteredRE2& filter, const std::vector<int>& words) {
    std::vector<int> ids;
    filter.AllPotentials(words, &ids);
    return ids;
  }

  std::vector<re2::FilteredRE2> m_filters;  // by owner
  std::vector<std::string> m_words;
  std::vector<std::vector<Use>> m_uses;  // by word
  WordFinder m_finder;
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
  Expressions patterns, facts;
  std::vector<std::unique_ptr<re2::RE2>> unless;  // by pattern; null where there is none
  QuickScan quick;                                // where words that make a line worth reading may be
  WordFinder telling;                             // where they are
};

void Knowledge::compile() {
  auto compiled = std::make_shared<Compiled>();
  compiled->patterns.compile(m_patterns);
  compiled->facts.compile(m_facts);
  for (const Pattern& pattern : m_patterns) {
    auto unless = pattern.unless.empty() ? nullptr : std::make_unique<re2::RE2>(unbounded(pattern.unless), options());
    if (unless && !unless->ok()) Expressions::fail(pattern.where, pattern.unless);
    compiled->unless.push_back(std::move(unless));
  }
  std::vector<std::string> words = compiled->patterns.telling_words(data::healthy_txt);
  const std::vector<std::string> of_facts = compiled->facts.telling_words(data::healthy_txt);
  words.insert(words.end(), of_facts.begin(), of_facts.end());
  for (const auto& [foreign, english] : translations()) words.push_back(to_lower(foreign));
  std::erase_if(words, [](const std::string& word) { return word.size() < k_shortest_word; });
  compiled->quick = QuickScan(words, data::healthy_txt);
  compiled->telling = WordFinder(words);
  m_compiled = std::move(compiled);
}

std::vector<std::string> Knowledge::unreachable() const {
  std::vector<std::string> all = m_compiled->patterns.unreachable(), more = m_compiled->facts.unreachable();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::size_t Knowledge::find_interesting(std::string_view text, std::size_t from) const {
  // A word that the bytes of a quick find are part of lies around them.
  const std::size_t around = m_compiled->quick.longest_word();
  for (std::size_t at = from; at < text.size();) {
    const std::size_t maybe = std::min(m_compiled->quick.find(text, at), text.size());
    const std::string_view before = text.substr(0, maybe);
    const std::size_t special = std::min(before.find('\x1b', at), before.find('\r', at));
    if (special != text.npos) return special + 1;
    if (maybe == text.size()) break;
    const std::size_t start = std::max(from, maybe - std::min(maybe, around));
    const std::size_t found = m_compiled->telling.find(text.substr(0, maybe + around), start);
    if (found != text.npos) return found;
    at = maybe + 1;
  }
  return text.npos;
}

std::vector<Match> Knowledge::match_patterns(std::string_view line) const {
  std::vector<Match> result;
  const Pattern* before = nullptr;
  m_compiled->patterns.match(line, [&](std::size_t owner, const re2::RE2& expression) {
    const Pattern* pattern = &m_patterns[owner];
    if (pattern == before) return;  // another expression of the same pattern
    const re2::RE2* unless = m_compiled->unless[owner].get();
    if (unless != nullptr && re2::RE2::PartialMatch(line, *unless)) return;
    before = pattern;
    result.push_back({pattern, nullptr, named_groups(expression, line)});
  });
  return result;
}

std::vector<Match> Knowledge::match_facts(std::string_view line) const {
  std::vector<Match> result;
  m_compiled->facts.match(line, [&](std::size_t owner, const re2::RE2& expression) {
    if (result.empty() || result.back().fact != &m_facts[owner])
      result.push_back({nullptr, &m_facts[owner], named_groups(expression, line)});
  });
  return result;
}

}  // namespace wheelsmith::diagnose
