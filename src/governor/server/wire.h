#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_names.h"

// Messages between shims and the governor: one line each, a message name and then name=value pairs, separated by tabs.
// Text rather than JSON, since a shim that starts thousands of times should not include a parser.

namespace wheelsmith::governor {

enum class Word : std::uint8_t {
  none,  // no message received
  // from shims
  ask,
  adopt,
  done,
  place,  // after a grant for another node: the request file
  parts,  // the compile runs in parts, which ask for themselves
  // from the process that started a build
  hello,
  end,
  // from the governor
  grant,
  refused,
  wait,
  set_back,
  verdict,
  ran,  // the compile on another node has ended
  welcome,
  status,
  ended,
  // not sent: files of one line
  run,
  compile,   // what another node is to run
  compiled,  // and how that ended
};

struct Message {
  Word word = Word::none;
  std::map<std::string, std::string, std::less<>> fields;

  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t fallback = 0) const;
  [[nodiscard]] bool flag(std::string_view name) const { return number(name) != 0; }
};

inline constexpr std::size_t k_longest_line = 64 << 10;

// With its line end. Tabs, line ends and '%' in values are escaped.
std::string to_line(const Message& message);
// Without its line end. Nothing for an invalid line.
std::optional<Message> parse_message(std::string_view line);

}  // namespace wheelsmith::governor

template <>
struct wheelsmith::EnumNames<wheelsmith::governor::Word> {
  static constexpr std::array list = {"",        "ask",    "adopt",   "done", "place",   "parts",   "hello",
                                      "end",     "grant",  "refused", "wait", "setback", "verdict", "ran",
                                      "welcome", "status", "ended",   "run",  "compile", "compiled"};
};
