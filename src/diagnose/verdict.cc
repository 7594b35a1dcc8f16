// Selects the cause among all sightings. Three questions, in this order:
//
// Did it fail at all? A hard wrapper says so ("ninja: build stopped"), and so does a cause in a plain line; not a
// warning, not the output of a command that ninja counts as done, and nothing that a success comes after: packages that
// fall back to Python, downloads that are tried again.
//
// What belongs to the first failure? The sightings of the first episode that has any worth naming.
//
// Which of those is the root cause? The one with the highest priority in the knowledge: resources and network explain
// everything else, specific messages explain generic ones. Of equals the first. A warning ranks lower, and much lower
// if nothing failed soon after it.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "diagnose/diagnose.h"
#include "diagnose/packages.h"
#include "diagnose/reader.h"
#include "diagnose/remedy.h"

namespace wheelsmith::diagnose {

namespace {

constexpr int k_worth_naming = 12;
// What a sighting loses that healthy builds have too: a warning more than a line that the knowledge calls weak, and
// both nearly everything when nothing failed soon after it.
constexpr int k_near_weak = 20, k_near_warning = 40, k_far = 75;
constexpr std::uint64_t k_near = 40;  // lines
constexpr std::uint64_t k_end_of_log = 60;
constexpr std::uint64_t k_before_fallback = 60;
constexpr std::uint64_t k_excerpt = 8;  // lines: logs of successful builds are longer
constexpr std::size_t k_most_further = 50;
constexpr int k_compile_error = 14;  // the priority of any error of a compiler
constexpr int k_specific = 45;       // from here on a pattern knows what its line means
constexpr int k_in_failed = 8;       // what standing in a block that ninja marks as failed is worth

class Judge {
 public:
  explicit Judge(const Observations& seen) : m_seen(seen) {
    for (const Sighting& sighting : seen.causes) {
      if (holds(*sighting.pattern)) m_causes.push_back(&sighting);
    }
    for (const Sighting& success : seen.successes) {
      if (success.pattern->hard && !success.weak) m_success = std::max(m_success, success.line);
    }
  }

  Diagnosis judge(const Machine& machine) {
    Diagnosis result;
    result.lines = m_seen.lines;
    result.failed = failed();
    if (!result.failed) return result;
    m_reported_before_end = std::any_of(m_seen.wrappers.begin(), m_seen.wrappers.end(), [&](const Sighting& wrapper) {
      return wrapper.pattern->hard && !is_overcome(wrapper);
    });
    m_audience = machine.audience;
    if (machine.values) m_machine = machine.values();
    if (machine.nvcc_archs) m_nvcc_archs = machine.nvcc_archs(nvcc_version());
    fewer_jobs();
    const Sighting* chosen = choose();
    result.cause = chosen != nullptr ? describe(*chosen) : only_wrappers();
    result.command = result.cause->command.empty() ? m_seen.failed_command : result.cause->command;
    if (result.command.empty()) result.command = command_of_make();
    for (const Sighting* other : m_causes) {
      if (other == chosen || (chosen != nullptr && other->pattern == chosen->pattern)) continue;
      if (result.further.size() < k_most_further) result.further.push_back(describe(*other));
    }
    return result;
  }

 private:
  [[nodiscard]] bool holds(const Pattern& pattern) const {
    const auto known = [&](const std::string& fact) { return m_seen.facts.contains(fact); };
    return std::all_of(pattern.seen.begin(), pattern.seen.end(), known) &&
           std::none_of(pattern.unseen.begin(), pattern.unseen.end(), known);
  }

  // ninja prints a command's output after its progress line; had it failed, "FAILED:" would follow that line.
  [[nodiscard]] bool is_weak(const Sighting& sighting) const {
    return sighting.weak || sighting.tolerated || is_answered(sighting) ||
           (m_seen.failed_blocks && sighting.after_progress && !sighting.in_failed);
  }

  // "Precompiled wheel not found. Building from source": what failed just before is over.
  [[nodiscard]] bool is_answered(const Sighting& sighting) const {
    return std::any_of(m_seen.fallbacks.begin(), m_seen.fallbacks.end(), [&](const Sighting& fallback) {
      if (fallback.line < sighting.line || fallback.line - sighting.line > k_before_fallback) return false;
      // One for a download says nothing of the compiler.
      const std::string &stage = sighting.pattern->stage, &of = fallback.pattern->stage;
      return of == "any" || stage == of || stage == "any" || sighting.pattern->role == Role::wrapper ||
             (of == "configure" && stage != "fetch") || (of == "compile" && stage == "link");
    });
  }

  [[nodiscard]] bool is_overcome(const Sighting& wrapper) const {
    if (wrapper.tolerated || is_answered(wrapper)) return true;
    if (wrapper.line > m_success) return false;
    const auto package = wrapper.groups.find("package");
    if (package == wrapper.groups.end() || package->second.empty()) return true;
    // One package's success says nothing of another's failure.
    return std::any_of(m_seen.successes.begin(), m_seen.successes.end(), [&](const Sighting& success) {
      return success.line > wrapper.line && success.text.find(package->second) != std::string::npos;
    });
  }

  [[nodiscard]] bool failed() const {
    for (const Sighting& wrapper : m_seen.wrappers) {
      if (wrapper.pattern->hard && !is_overcome(wrapper)) return true;
    }
    if (m_seen.lines <= k_excerpt && m_success == 0 &&
        std::any_of(m_causes.begin(), m_causes.end(), [&](const Sighting* cause) {
          return !cause->tolerated && !is_answered(*cause) && (!cause->warning || m_seen.lines <= 2);
        }))
      return true;
    const bool near_wrapper = !m_seen.wrappers.empty();
    for (const Sighting* cause : m_causes) {
      if (is_weak(*cause) || cause->line < m_success) continue;
      // A program that is not there, and a wheel after it: the build did without.
      if (cause->pattern->priority <= k_generic && !near_wrapper && went_on_after(cause->line)) continue;
      if (cause->pattern->priority > k_generic || near_wrapper || cause->line + k_end_of_log > m_seen.lines)
        return true;
    }
    return m_causes.empty() &&
           std::any_of(m_seen.wrappers.begin(), m_seen.wrappers.end(), [&](const Sighting& wrapper) {
             return wrapper.line > m_success && wrapper.line + k_end_of_log > m_seen.lines;
           });
  }

  [[nodiscard]] bool went_on_after(std::uint64_t line) const {
    return std::any_of(m_seen.successes.begin(), m_seen.successes.end(), [&](const Sighting& success) {
      // "1 failed, 3 passed" is none.
      return success.line > line && !success.weak && success.text.find("failed") == std::string::npos;
    });
  }

  // The next line after this one that says that something failed.
  [[nodiscard]] std::uint64_t next_failure(std::uint64_t line) const {
    std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
    for (const Sighting& wrapper : m_seen.wrappers) {
      if (wrapper.line >= line) next = std::min(next, wrapper.line);
    }
    for (const Sighting* cause : m_causes) {
      if (cause->line >= line && !is_weak(*cause)) next = std::min(next, cause->line);
    }
    // pip and uv report the failure first and print the output of what failed below it.
    if (m_reported_before_end) next = std::min(next, m_seen.lines);
    return next;
  }

  // An error of a compiler or linker ends a build, and so does any error that the knowledge has a name for. A warning,
  // or a line that healthy builds have too, explains neither; what it may explain is a vague error and a failed
  // download.
  [[nodiscard]] bool is_outdone(const Sighting& doubtful) const {
    // A line of source that the compiler quotes is part of its error.
    const bool finished = m_seen.failed_blocks && doubtful.after_progress && !doubtful.in_failed;
    if (!doubtful.warning && !doubtful.pattern->weak && !doubtful.tolerated && !finished) return false;
    return std::any_of(m_causes.begin(), m_causes.end(), [&](const Sighting* cause) {
      if (is_weak(*cause) || cause->line < m_success || cause->pattern == doubtful.pattern) return false;
      const Pattern& pattern = *cause->pattern;
      if ((pattern.stage == "compile" || pattern.stage == "link") && pattern.priority >= k_compile_error) return true;
      return pattern.priority > k_vague && doubtful.pattern->stage != "fetch";
    });
  }

  // Whether the line is what the failed command itself said last: then it is the cause, and not only probably.
  [[nodiscard]] bool is_own_message(const Sighting& sighting) const {
    if (is_weak(sighting)) return false;
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
    for (const Sighting& wrapper : m_seen.wrappers) {
      if (wrapper.pattern->hard && wrapper.line > sighting.line) end = std::min(end, wrapper.line);
    }
    if (end == std::numeric_limits<std::uint64_t>::max() && !m_reported_before_end &&
        sighting.line + k_end_of_log < m_seen.lines)
      return false;
    return std::none_of(m_causes.begin(), m_causes.end(), [&](const Sighting* other) {
      return other->line > sighting.line && other->line < end && other->pattern->kind != sighting.pattern->kind &&
             other->pattern->priority > k_vague && !is_weak(*other);
    });
  }

  [[nodiscard]] int score(const Sighting& sighting) const {
    int score = sighting.pattern->priority;
    if (is_weak(sighting)) {
      if (is_outdone(sighting)) return -k_far;
      const std::uint64_t next = m_seen.lines <= k_excerpt ? sighting.line : next_failure(sighting.line);
      const bool doubtful = sighting.warning || sighting.after_progress || sighting.tolerated;
      score -= next - sighting.line > k_near || is_answered(sighting) ? k_far : doubtful ? k_near_warning : k_near_weak;
    } else if (sighting.in_failed) {
      score += k_in_failed;
    }
    return score;
  }

  [[nodiscard]] const Sighting* choose() const {
    std::vector<const Sighting*> candidates;
    for (const Sighting* cause : m_causes) {
      if (cause->line > m_success) candidates.push_back(cause);
    }
    // One package's success after another's failure: pip builds what it can.
    const Sighting* best = best_of(candidates);
    if (best == nullptr || score(*best) < k_worth_naming) best = best_of(m_causes);
    return best;
  }

  [[nodiscard]] const Sighting* best_of(const std::vector<const Sighting*>& candidates) const {
    const Sighting* best = nullptr;
    int best_score = std::numeric_limits<int>::min();
    unsigned episode = candidates.empty() ? 0 : candidates.front()->episode;
    for (const Sighting* candidate : candidates) {
      if (candidate->episode != episode && best_score >= k_worth_naming) break;
      episode = candidate->episode;
      const int one = score(*candidate);
      if (one > best_score) {
        best = candidate;
        best_score = one;
      }
    }
    // What healthy builds have too, and nothing failed after it, is no cause.
    return best_score > 0 || m_seen.lines <= k_excerpt ? best : nullptr;
  }

  // The log's own, else this machine's.
  [[nodiscard]] std::string nvcc_version() const {
    const auto said = m_seen.facts.find("nvcc"), here = m_machine.find("machine.nvcc");
    return said != m_seen.facts.end() ? said->second : here != m_machine.end() ? here->second : "";
  }

  // As many jobs as failed already are no remedy, whatever this machine could hold.
  void fewer_jobs() {
    const auto used = m_seen.facts.find("jobs");
    const auto fit = m_machine.find("machine.jobs");
    if (used == m_seen.facts.end() || fit == m_machine.end()) return;
    const auto before = to_number(used->second), now = to_number(fit->second);
    if (before && now && *before > 0 && *now >= *before)
      fit->second = fmt::format("{}", std::max<std::uint64_t>(1, *before / 2));
  }

  [[nodiscard]] Cause describe(const Sighting& sighting) const {
    const Pattern& pattern = *sighting.pattern;
    Cause cause;
    cause.id = pattern.id;
    cause.kind = pattern.kind;
    cause.stage = pattern.stage;
    cause.line = sighting.line;
    cause.command = sighting.command;
    cause.sources = pattern.sources;
    cause.check = pattern.check;
    const auto refused = sighting.groups.find("arch");
    const Values archs =
        arch_values(sighting.command, refused == sighting.groups.end() ? "" : refused->second, m_nvcc_archs);
    Values packages = package_values(sighting.groups);
    // CMake names a module of pkg-config in a line of its own, above its error.
    if (packages.empty() && pattern.cause.find("{pc|") != std::string::npos) packages = package_values(m_seen.facts);
    const std::vector<const Values*> known = {&sighting.groups, &archs, &packages, &m_seen.facts, &m_machine};
    cause.what = filled_in(pattern.cause, known).value_or(pattern.cause);
    const bool in_build = m_audience == Audience::build && !pattern.build_fix.empty();
    for (const std::string& fix : in_build ? pattern.build_fix : pattern.fix) {
      auto filled = filled_in(fix, known);
      if (!filled || filled->empty()) continue;
      // An option alone is no command, and which command it was is known to the reader.
      if (in_build && filled->starts_with("--")) *filled = "the same command with " + *filled;
      cause.fixes.push_back(std::move(*filled));
    }
    cause.why.push_back({sighting.line, sighting.text});
    for (const Sighting& wrapper : m_seen.wrappers) {
      if (wrapper.line <= sighting.line || !wrapper.pattern->hard) continue;
      cause.why.push_back({wrapper.line, wrapper.text});
      break;
    }
    cause.sure = pattern.priority >= k_specific && !pattern.indirect && is_own_message(sighting) ? "certain"
                 : pattern.priority >= 30                                                        ? "likely"
                                                                                                 : "a guess";
    return cause;
  }

  // "make: *** [Makefile:3: solver.tab] Error 2" names what can be made again.
  [[nodiscard]] std::string command_of_make() const {
    for (const Sighting& wrapper : m_seen.wrappers) {
      const std::size_t open = wrapper.text.find(": *** [");
      const std::size_t close = open == std::string::npos ? open : wrapper.text.find("] Error ", open);
      if (close == std::string::npos || wrapper.text.find("make") > open) continue;
      const std::string inside = wrapper.text.substr(open + 7, close - open - 7);
      const std::size_t colon = inside.rfind(": ");
      return "make " + (colon == std::string::npos ? inside : inside.substr(colon + 2));
    }
    return {};
  }

  // pip and uv print what the build said below their report of the failure.
  [[nodiscard]] Cause own_words() const {
    Cause cause;
    cause.id = "own-words";
    cause.kind = "unknown";
    cause.stage = "any";
    cause.sure = "a guess";
    cause.line = m_seen.last_words_line;
    cause.what = fmt::format("The build stopped with its own message: \"{}\".", printable(m_seen.last_words));
    cause.fixes = {"Read the message and the lines above it."};
    cause.why.push_back({m_seen.last_words_line, m_seen.last_words});
    return cause;
  }

  [[nodiscard]] Cause only_wrappers() const {
    if (!m_seen.last_words.empty()) return own_words();
    Cause cause;
    cause.id = "wrapper-only";
    cause.kind = "unknown";
    cause.stage = "any";
    cause.sure = "a guess";
    cause.what =
        "The log contains only tools that report another tool's failure; the failure itself is above them, outside "
        "this "
        "log.";
    if (m_audience == Audience::build) {
      cause.fixes = {
          "Run the same command with --verbose to see all output of the build; with --jobs 1 the first error is "
          "printed last."};
    } else {
      cause.fixes = {"Use the complete log: wheelsmith build writes it, `pip -v` and `ninja -v` print it.",
                     "Build with one job (MAX_JOBS=1), so that the first error is printed last."};
    }
    for (const Sighting& wrapper : m_seen.wrappers) {
      if (cause.line == 0 && wrapper.line > 0) cause.line = wrapper.line;
      if (cause.why.size() < 3) cause.why.push_back({wrapper.line, wrapper.text});
    }
    return cause;
  }

  const Observations& m_seen;
  Audience m_audience = Audience::anyone;
  Values m_machine;
  std::vector<std::string> m_nvcc_archs;
  std::vector<const Sighting*> m_causes;
  bool m_reported_before_end = false;  // a tool reports a failure, wherever; nothing after it went well
  std::uint64_t m_success = 0;         // the last line that says that all ended well
};

}  // namespace

Diagnoser::Diagnoser(const Knowledge& knowledge) : m_reader(std::make_unique<Reader>(knowledge)) {}
Diagnoser::~Diagnoser() = default;

void Diagnoser::feed(std::string_view bytes) { m_reader->feed(bytes); }

Diagnosis Diagnoser::finish(const Machine& machine) { return Judge(m_reader->finish()).judge(machine); }

Diagnosis diagnose(std::string_view log, const Knowledge& knowledge, const Machine& machine) {
  Diagnoser diagnoser(knowledge);
  diagnoser.feed(log);
  return diagnoser.finish(machine);
}

}  // namespace wheelsmith::diagnose
