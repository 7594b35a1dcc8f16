// One pass over a log of any size. Most lines are never parsed: an automaton scans the bytes and stops at words that
// some pattern needs; only those lines are extracted, cleaned and matched. A window of the log is kept behind the read
// position, to find the command a message belongs to, and one ahead of it, to join wrapped messages.
//
// A log is divided into episodes. The first one ends at the first line in which a tool reports that a command failed (a
// "hard" wrapper: "ninja: build stopped", "make: *** [x] Error 1"), unless no possible cause was seen by then: pip
// reports that a subprocess failed before it prints the subprocess's output. Later messages follow from the first
// failure or are unrelated, so the cause is searched in the first episode.

#include "diagnose/reader.h"

#include <algorithm>

#include "base/text.h"
#include "diagnose/line.h"

namespace wheelsmith::diagnose {

namespace {

constexpr std::size_t k_slice = 256 << 10;
constexpr std::size_t k_behind = 64 << 10;
constexpr std::size_t k_ahead = 16 << 10;
constexpr std::size_t k_longest_line = 1 << 20;
constexpr std::size_t k_kept_of_line = 16 << 10;
constexpr std::size_t k_kept_text = 600;
constexpr std::size_t k_kept_command = 4000;
constexpr std::size_t k_most_sightings = 2000;
constexpr unsigned k_most_episodes = 64;
// Looking back costs up to 400 lines; a log of a hundred thousand errors has been understood before that.
constexpr unsigned k_most_lookups = 2000;
constexpr unsigned k_most_lines_back = 400;
constexpr unsigned k_lines_of_fallback = 3;  // between a shell's command and what its `|| echo …` printed
constexpr unsigned k_most_lines_of_frame = 40;
constexpr std::uint64_t k_most_block_lines = 300;

// "kernel.cpp" of "src/kernel.cpp:3:5: error: …" and "src/kernel.cpp(3): error: …".
std::string_view file_named(std::string_view message) {
  const std::size_t end = message.find_first_of(":( ");
  if (end == message.npos || end == 0 || message[end] == ' ') return {};
  const std::string_view name = base_name(message.substr(0, end));
  const std::size_t dot = name.rfind('.');
  return dot == name.npos || dot == 0 || dot + 1 == name.size() ? std::string_view() : name;
}

bool starts_cmake_block(std::string_view text) {
  return text.starts_with("CMake Error") || text.starts_with("CMake Warning") ||
         text.starts_with("CMake Deprecation Warning");
}

}  // namespace

void Reader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (m_skipping) {
      const std::size_t end = bytes.find('\n');
      if (end == bytes.npos) return;
      bytes.remove_prefix(end);
      m_skipping = false;
    }
    const std::string_view slice = bytes.substr(0, k_slice);
    bytes.remove_prefix(slice.size());
    m_buffer += slice;
    const std::size_t last_end = m_buffer.rfind('\n');
    if (m_buffer.size() - m_done > k_longest_line && (last_end == m_buffer.npos || last_end < m_done)) {
      m_buffer.resize(m_done + k_kept_of_line);
      m_skipping = true;
      continue;
    }
    if (m_buffer.size() <= m_done + k_ahead) continue;
    const std::size_t end = m_buffer.rfind('\n', m_buffer.size() - k_ahead);
    if (end != m_buffer.npos && end >= m_done) process(end + 1);
  }
}

const Observations& Reader::finish() {
  process(m_buffer.size());
  m_seen.lines = count_to(m_buffer.size()) + (m_buffer.empty() || m_buffer.ends_with('\n') ? 0 : 1);
  if (m_seen.causes.empty() && !m_seen.wrappers.empty()) find_last_words();
  return m_seen;
}

void Reader::find_last_words() {
  std::string space;
  std::size_t end = m_buffer.size();
  std::uint64_t number = m_seen.lines + 1;
  for (unsigned lines = 0; end > 0 && lines < k_most_lines_back; ++lines) {
    const std::size_t before = end < 2 ? std::string::npos : m_buffer.rfind('\n', end - 2);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    --number;
    if (number <= m_seen.wrappers.front().line) return;
    const Line line = clean(raw_line(begin), space);
    end = begin;
    if (line.text.empty() || line.indent == 0 || line.in_tree || tone_of(line.text) != Tone::plain ||
        line.text.starts_with('[') || line.text.starts_with('^') || line.text.find(' ') == line.text.npos)
      continue;
    // A frame of Python's traceback, and the source line below it, are not a message.
    if (line.text.starts_with("File \"") && line.text.find(", line ") != line.text.npos) continue;
    if (const std::size_t above = before == std::string::npos || before < 2 ? std::string::npos : before;
        above != std::string::npos) {
      const std::size_t start = m_buffer.rfind('\n', above - 1);
      std::string other;
      const std::string_view text = clean(raw_line(start == std::string::npos ? 0 : start + 1), other).text;
      if (text.starts_with("File \"") && text.find(", line ") != text.npos) continue;
    }
    if (!m_knowledge.match_patterns(line.text).empty() || is_in_framed_warning(begin)) continue;
    m_seen.last_words = std::string(line.text.substr(0, k_kept_text));
    m_seen.last_words_line = number;
    return;
  }
}

void Reader::process(std::size_t limit) {
  const std::string_view text = std::string_view(m_buffer).substr(0, limit);
  std::size_t at = m_done;
  while (at < limit) {
    const std::size_t found = m_knowledge.find_interesting(text, at);
    if (found == text.npos) break;
    const std::size_t before = text.rfind('\n', found - 1);
    const std::size_t start = before == text.npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find('\n', found - 1), limit);
    line(start, end);
    at = end + 1;
  }
  m_done = limit;
  forget_behind();
}

std::uint64_t Reader::count_to(std::size_t offset) {
  // From end to end is far quicker than byte by byte.
  const std::string_view text = std::string_view(m_buffer).substr(0, offset);
  for (std::size_t end = text.find('\n', m_counted); end != text.npos; end = text.find('\n', end + 1)) ++m_lines;
  m_counted = std::max(m_counted, offset);
  return m_lines;
}

void Reader::forget_behind() {
  if (m_done < k_behind + k_slice) return;
  const std::size_t end = m_buffer.find('\n', m_done - k_behind);
  const std::size_t drop = end == m_buffer.npos || end >= m_done ? m_done : end + 1;
  count_to(std::max(drop, m_counted));
  m_buffer.erase(0, drop);
  m_counted -= drop;
  m_done -= drop;
}

void Reader::line(std::size_t start, std::size_t end) {
  const std::uint64_t number = count_to(start) + 1;
  if (number <= m_block_end) return;
  std::string_view raw = std::string_view(m_buffer).substr(start, end - start);
  raw = raw.substr(0, k_kept_of_line);
  // What a progress bar overwrote is lines of their own.
  for (;;) {
    const std::size_t next = raw.find('\r');
    if (const std::string_view part = raw.substr(0, next); !part.empty()) segment(part, number, start, end);
    if (next == raw.npos) return;
    raw.remove_prefix(next + 1);
  }
}

void Reader::segment(std::string_view raw, std::uint64_t number, std::size_t start, std::size_t end) {
  std::string space;
  const Line cleaned = clean(raw, space);
  if (cleaned.text.empty()) return;
  Sighting sighting;
  sighting.line = number;
  std::string block = in_english(cleaned.text);
  std::string_view text = block;
  // pip announces a whole output behind its branch: "╰─> [20 lines of output]".
  if (starts_cmake_block(text) || (cleaned.in_tree && !text.starts_with('['))) {
    block = joined(text, cleaned.indent, cleaned.in_tree, number, end);
    text = block;
  }
  const Tone tone = tone_of(text);
  std::vector<Match> matches = m_knowledge.match_facts(text);
  if (tone != Tone::command) {
    std::vector<Match> more = m_knowledge.match_patterns(text);
    matches.insert(matches.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  sighting.warning = tone == Tone::warning;
  sighting.weak = sighting.warning || tone == Tone::quote;
  sighting.text = std::string(text.substr(0, k_kept_text));
  if (text.starts_with("FAILED: ")) {
    if (m_episode_has_cause && m_episode < k_most_episodes) {
      ++m_episode;
      m_episode_has_cause = false;
    }
    if (!m_seen.failed_blocks) {
      std::string command_space;
      m_seen.failed_command = std::string(clean(raw_line(end + 1), command_space).text.substr(0, k_kept_command));
    }
    m_seen.failed_blocks = true;
  }
  // Its place in the buffer is needed for reading the lines before it.
  const bool belongs = std::any_of(matches.begin(), matches.end(), [](const Match& m) {
    return m.pattern != nullptr && (m.pattern->role == Role::cause || m.pattern->role == Role::wrapper);
  });
  if (belongs && !sighting.warning && m_lookups++ < k_most_lookups) {
    sighting.warning = is_in_framed_warning(start);
    sighting.weak |= sighting.warning;
    if (!sighting.warning) find_command(sighting, start);
  }
  sight(matches, std::move(sighting));
}

void Reader::sight(const std::vector<Match>& matches, Sighting sighting) {
  int harmless = -1;
  bool spoken_for = false, known_as_weak = false;
  for (const Match& match : matches) {
    if (match.pattern == nullptr) continue;
    if (match.pattern->role == Role::harmless) harmless = std::max(harmless, match.pattern->priority);
    if (match.pattern->role == Role::wrapper || match.pattern->role == Role::success) spoken_for = true;
    known_as_weak |= match.pattern->weak && match.pattern->priority > k_generic;
  }
  bool closes = false;
  const bool had_cause = m_episode_has_cause;
  int own_priority = 0;
  const bool weak_line = sighting.weak, warning = sighting.warning;
  for (const Match& match : matches) {
    if (match.fact != nullptr) {
      std::string value = "yes";
      for (const auto& [name, text] : match.groups) {
        if (name == "value") value = text;
      }
      if (match.fact->last) {
        m_seen.facts[match.fact->name] = value;
      } else {
        m_seen.facts.emplace(match.fact->name, value);
      }
      continue;
    }
    const Pattern& pattern = *match.pattern;
    if (pattern.role == Role::cause && (pattern.priority <= harmless || (spoken_for && pattern.priority <= k_generic)))
      continue;
    Sighting one = sighting;
    one.pattern = &pattern;
    // A specific pattern determines a line's weight; a generic one does not override it.
    one.weak = weak_line || pattern.weak || (known_as_weak && pattern.priority <= k_generic);
    one.warning = warning;
    one.episode = m_episode;
    one.groups = Values(match.groups.begin(), match.groups.end());
    if (pattern.role == Role::cause) {
      own_priority = std::max(own_priority, pattern.priority);
      keep_cause(std::move(one));
    } else if (pattern.role == Role::wrapper) {
      closes |= pattern.hard && !weak_line && !one.tolerated;
      if (m_seen.wrappers.size() < k_most_sightings && !weak_line) m_seen.wrappers.push_back(std::move(one));
    } else if (pattern.role == Role::fallback) {
      if (m_seen.fallbacks.size() < k_most_sightings) m_seen.fallbacks.push_back(std::move(one));
    } else if (pattern.role == Role::success) {
      if (m_seen.successes.size() >= k_most_sightings) m_seen.successes.erase(m_seen.successes.begin());
      one.weak = pattern.weak;  // CMake's "-- Configuring done" is no warning
      m_seen.successes.push_back(std::move(one));
    }
  }
  // "error: linking with `cc` failed" announces a failure, and the reason follows: rustc prints it below.
  if (closes && (had_cause || own_priority > k_vague) && m_episode_has_cause && m_episode < k_most_episodes) {
    ++m_episode;
    m_episode_has_cause = false;
  }
}

// The first of each pattern in each episode is enough; a weak one is replaced by one that is not.
void Reader::keep_cause(Sighting sighting) {
  const bool of_finished = sighting.after_progress && !sighting.in_failed && m_seen.failed_blocks;
  if (!sighting.weak && !sighting.tolerated && !of_finished && sighting.pattern->priority > 5)
    m_episode_has_cause = true;
  for (auto known = m_seen.causes.rbegin(); known != m_seen.causes.rend() && known->episode == sighting.episode;
       ++known) {
    if (known->pattern != sighting.pattern) continue;
    const bool better = (known->weak && !sighting.weak) || (!known->in_failed && sighting.in_failed && !sighting.weak);
    // A later warning of the same kind is nearer to the failure.
    if (better || (known->weak && sighting.weak)) *known = std::move(sighting);
    return;
  }
  if (m_seen.causes.size() < k_most_sightings) m_seen.causes.push_back(std::move(sighting));
}

std::string_view Reader::raw_line(std::size_t start) const {
  if (start >= m_buffer.size()) return {};
  const std::string_view rest = std::string_view(m_buffer).substr(start);
  return rest.substr(0, std::min(rest.find('\n'), k_kept_of_line));
}

std::string Reader::joined(std::string_view first, std::size_t indent, bool tree, std::uint64_t number,
                           std::size_t end) {
  std::string result(first);
  std::string space;
  std::uint64_t last = number;
  std::size_t at = end + 1;
  unsigned blank = 0;
  for (std::uint64_t next = number + 1; next <= number + k_most_block_lines && at < m_buffer.size(); ++next) {
    const std::string_view raw = raw_line(at);
    const Line line = clean(raw, space);
    at += std::min(m_buffer.find('\n', at), m_buffer.size()) - at + 1;
    if (line.text.empty()) {
      if (tree || ++blank > 3) break;
      continue;
    }
    // A wrapped branch goes on below its words; CMake's text is indented below "CMake Error at …".
    if (line.indent <= indent || (tree && (line.in_tree || line.text.starts_with("[")))) break;
    blank = 0;
    result += ' ';
    result += line.text;
    last = next;
    if (result.size() > k_kept_of_line) break;
  }
  m_block_end = std::max(m_block_end, last);
  // CMake writes two blanks after a full stop.
  std::string single;
  for (const char c : result) {
    if (c != ' ' || single.empty() || single.back() != ' ') single += c;
  }
  return single;
}

// setuptools frames the text of a warning by lines of "!!" below the line that names the warning.
bool Reader::is_in_framed_warning(std::size_t start) const {
  std::string space;
  bool framed = false;
  std::size_t end = start;
  for (unsigned lines = 0; end > 0 && lines < k_most_lines_of_frame; ++lines) {
    const std::size_t before = end < 2 ? std::string::npos : m_buffer.rfind('\n', end - 2);
    end = before == std::string::npos ? 0 : before + 1;
    const std::string_view text = clean(raw_line(end), space).text;
    if (text.empty()) continue;
    if (framed) return text.find("Warning: ") != text.npos;
    framed = text == "!!";
  }
  return false;
}

void Reader::find_command(Sighting& sighting, std::size_t start) const {
  std::string space;
  // A command that make shows, not its output.
  if (sighting.text.find(" || echo ") != std::string::npos && sighting.text.find("exit ") == std::string::npos) {
    sighting.tolerated = true;
    return;
  }
  bool passed_progress = false, names_file = false;
  // Of parallel jobs the nearest command may be another's: the one that names the file is better.
  const std::string_view file = file_named(sighting.text);
  std::size_t end = start;
  for (unsigned lines = 0; end > 0 && lines < k_most_lines_back; ++lines) {
    const std::size_t before = end < 2 ? std::string::npos : m_buffer.rfind('\n', end - 2);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::string_view text = clean(raw_line(begin), space).text;
    if (text.starts_with("FAILED: ")) {
      sighting.in_failed = !passed_progress;
      std::string next_space;
      if (sighting.in_failed && end < start)
        sighting.command = std::string(clean(raw_line(end), next_space).text.substr(0, k_kept_command));
      return;
    }
    if (read_progress(text)) {
      if (!passed_progress) sighting.after_progress = true;
      passed_progress = true;
    }
    if (const std::string_view command = echoed_command(text); !command.empty() && !names_file) {
      names_file = !file.empty() && command.find(file) != command.npos;
      if (sighting.command.empty() || names_file) sighting.command = std::string(command.substr(0, k_kept_command));
      sighting.tolerated = sighting.command.find(" || ") != std::string::npos;
    }
    // make shows the line `test -f x || echo "error: no x, creating it"` and then what it printed.
    if (lines < k_lines_of_fallback && sighting.text.size() > 8 && text.size() > sighting.text.size() &&
        text.find(" || ") != text.npos && text.find("exit ") == text.npos && text.find(sighting.text) != text.npos)
      sighting.tolerated = true;
    if (passed_progress && !sighting.command.empty() && (file.empty() || names_file)) return;
    end = begin;
  }
}

}  // namespace wheelsmith::diagnose
