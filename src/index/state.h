#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "index/file.h"

namespace wheelsmith::index {

// What the last run left behind for the next one: the file .wheelsmith-index beside the pages. Losing it costs time and
// nothing else.
struct State {
  struct KnownFile {
    sys::FileStat stat;
    Facts facts;
  };
  struct Written {
    std::string fingerprint;  // of all that the text was made from
    sys::FileStat stat;       // as it was left
    friend bool operator==(const Written&, const Written&) = default;
  };
  std::unordered_map<std::string, KnownFile> files;   // by path in the indexed folder
  std::unordered_map<std::string, Written> sidecars;  // likewise
  std::unordered_map<std::string, Written> pages;     // by path in the folder of the pages

  // An unreadable, damaged or cut-off text, or one of another version, is an empty state: never a wrong one.
  static State parse(std::string_view text);
  [[nodiscard]] std::string to_text() const;
};

inline constexpr const char* k_state_file = ".wheelsmith-index";

}  // namespace wheelsmith::index
