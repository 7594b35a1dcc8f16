#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "index/file.h"

namespace wheelsmith::index {

// The state of the last run: the file .wheelsmith-index next to the pages. Losing it only costs time.
struct State {
  struct KnownFile {
    sys::FileStat stat;
    Facts facts;
  };
  struct Written {
    std::string fingerprint;  // of all inputs of the text
    sys::FileStat stat;       // as it was left
    friend bool operator==(const Written&, const Written&) = default;
  };
  std::unordered_map<std::string, KnownFile> files;   // by path in the indexed folder
  std::unordered_map<std::string, Written> sidecars;  // likewise
  std::unordered_map<std::string, Written> pages;     // by path in the folder of the pages

  // An unreadable, corrupt or truncated file, or one of another version, gives an empty state, never a wrong one.
  static State parse(std::string_view text);
  [[nodiscard]] std::string to_text() const;
};

inline constexpr const char* k_state_file = ".wheelsmith-index";

}  // namespace wheelsmith::index
