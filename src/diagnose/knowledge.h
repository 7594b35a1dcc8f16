#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Knowledge about failures as data: src/diagnose/data/*.toml, embedded in the program, and user files in the same
// format (docs/diagnose.md). A pattern maps a tool's message to a cause; a fact is useful information in a log that is
// not a failure (a version, a path).

namespace wheelsmith::diagnose {

// The role of a pattern's line in the build.
enum class Role {
  cause,     // may be why it failed
  harmless,  // looks like an error but is harmless
  wrapper,   // a tool reports that another tool failed
  fallback,  // the preceding failure was expected, and an alternative is used
  success,   // it ended well
};

struct Pattern {
  std::string id;
  std::string where;  // "FILE:LINE"
  std::string kind;   // the class: "oom", "cuda-missing", … (DESIGN.md), or the role's name
  Role role = Role::cause;
  std::string stage;
  std::vector<std::string> match;
  std::string unless;                     // a line that matches this too does not count
  std::vector<std::string> seen, unseen;  // facts that must, or must not, have been seen anywhere in the log
  int priority = 50;
  bool ours = false;      // carried in the program, whose tests compile every expression
  bool weak = false;      // occurs in builds that succeed as well
  bool hard = false;      // wrapper, success: speaks of the build as a whole
  bool indirect = false;  // another process reports it, not the command that failed: never "certain"
  std::string cause;
  std::vector<std::string> fix;        // what the user of pip, uv, CMake or a compiler types
  std::vector<std::string> build_fix;  // what helps inside `wheelsmith build`; empty if `fix` helps there, too
  std::vector<std::string> sources;
  std::string check;  // the check of `doctor` that sees it before the build
  std::vector<std::string> samples;
};

struct Fact {
  std::string name;
  std::string where;
  std::vector<std::string> match;
  bool ours = false;
  bool last = false;  // the last value counts, not the first
  std::vector<std::string> samples;
};

// One pattern or fact that a line matched. `groups` are the named groups that took part.
struct Match {
  const Pattern* pattern = nullptr;
  const Fact* fact = nullptr;
  std::vector<std::pair<std::string, std::string>> groups;
};

class Knowledge {
 public:
  // Throws Error "FILE:LINE: problem". A pattern with an existing id replaces the earlier one.
  void add(std::string_view toml, std::string_view file_name, bool ours = false);
  // Afterwards lines can be matched and nothing can be added. Throws Error for an invalid expression.
  void compile();

  [[nodiscard]] const std::vector<Pattern>& patterns() const { return m_patterns; }
  [[nodiscard]] const std::vector<Fact>& facts() const { return m_facts; }

  // Where the first word that any pattern needs ends, at or after `from`; npos when there is none. Lines without such a
  // word match nothing. Escape characters and carriage returns count as such words: a line with one must be cleaned
  // before it can be read.
  [[nodiscard]] std::size_t find_interesting(std::string_view text, std::size_t from) const;
  // All that a cleaned line matches, in the order of the knowledge.
  [[nodiscard]] std::vector<Match> match_patterns(std::string_view line) const;
  [[nodiscard]] std::vector<Match> match_facts(std::string_view line) const;
  // The expressions that could not be reached through a word of their own: none, or every line would cost.
  [[nodiscard]] std::vector<std::string> unreachable() const;

 private:
  [[nodiscard]] bool is_excepted(std::size_t pattern, std::string_view line) const;
  struct Compiled;
  std::vector<Pattern> m_patterns;
  std::vector<Fact> m_facts;
  std::shared_ptr<Compiled> m_compiled;
};

// What the program carries, compiled.
const Knowledge& builtin_knowledge();
// The same as texts: file name and TOML.
std::vector<std::pair<std::string_view, std::string_view>> builtin_files();

// The ids of our patterns whose failure a check of `doctor` sees beforehand, the weightiest first.
std::vector<std::string> failures_seen_by(std::string_view check);

// The classes of DESIGN.md, in its order.
const std::vector<std::string>& all_classes();

}  // namespace wheelsmith::diagnose
