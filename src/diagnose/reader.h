#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnose.h"

namespace wheelsmith::diagnose {

// Up to this priority a pattern only says that there is a failure: a wrapper's or a success's own message wins over
// it, and alone it proves nothing.
inline constexpr int k_generic = 20;
// Up to this one an error says less than a warning may, and the details may follow it.
inline constexpr int k_vague = 30;

// A line that some pattern knows, with what is needed to judge it when the whole log is known.
struct Sighting {
  const Pattern* pattern = nullptr;
  std::uint64_t line = 0;
  std::string text;
  Values groups;
  std::string command;          // the nearest command above it, or that of the failed block it is in
  unsigned episode = 0;         // 0 until the first command has failed, then counted on
  bool tolerated = false;       // its command says what is done when it fails: "a || b"
  bool warning = false;         // the line's tone
  bool weak = false;            // the pattern is, or the line's tone
  bool in_failed = false;       // inside a block that ninja marks as failed
  bool after_progress = false;  // in the output of a command of ninja's that is not marked so
};

struct Observations {
  std::vector<Sighting> causes, wrappers, successes;
  std::vector<Sighting> fallbacks;
  Values facts;
  std::string failed_command;  // of the first block that ninja marks as failed
  bool failed_blocks = false;
  // The last line that no tool around the build wrote, where pip or uv report a failure above it: all that a package's
  // own message leaves when no pattern knows it.
  std::string last_words;
  std::uint64_t last_words_line = 0;
  std::uint64_t lines = 0;
};

class Reader {
 public:
  explicit Reader(const Knowledge& knowledge) : m_knowledge(knowledge) {}
  void feed(std::string_view bytes);
  const Observations& finish();

 private:
  void process(std::size_t limit);
  void find_last_words();
  void line(std::size_t start, std::size_t end);
  void segment(std::string_view raw, std::uint64_t number, std::size_t start, std::size_t end);
  void sight(const std::vector<Match>& matches, Sighting sighting);
  void keep_cause(Sighting sighting);
  // The wrapped lines of a message of CMake's or uv's, joined to one; m_block_end is set to its last line.
  [[nodiscard]] std::string joined(std::string_view first, std::size_t indent, bool tree, std::uint64_t number,
                                   std::size_t end);
  [[nodiscard]] bool is_in_framed_warning(std::size_t start) const;
  void find_command(Sighting& sighting, std::size_t start) const;
  [[nodiscard]] std::string_view raw_line(std::size_t start) const;
  std::uint64_t count_to(std::size_t offset);
  void forget_behind();

  const Knowledge& m_knowledge;
  std::string m_buffer;
  std::size_t m_done = 0;     // the bytes before it have been read
  std::size_t m_counted = 0;  // up to where lines are counted
  std::uint64_t m_lines = 0;  // how many end before m_counted
  bool m_skipping = false;    // inside a line that was cut
  std::uint64_t m_block_end = 0;
  unsigned m_episode = 0;
  unsigned m_lookups = 0;
  bool m_episode_has_cause = false;
  Observations m_seen;
};

}  // namespace wheelsmith::diagnose
