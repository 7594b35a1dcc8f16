#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::cache {

// Dependencies that a source or header declares by itself, besides its own text and the files that the compiler lists.
// Comments and strings count too: a false positive costs a compile, a missed one a wrong object.
struct ScannedText {
  bool time = false;                  // __DATE__ or __TIME__
  bool timestamp = false;             // __TIMESTAMP__: the file's own time
  bool other_files = false;           // the assembler's .incbin: an unlisted file
  std::vector<std::string> asked{};   // names in __has_include and __has_embed
  std::vector<std::string> quoted{};  // names in #include "…": searched for beside the file first
  friend bool operator==(const ScannedText&, const ScannedText&) = default;
};
ScannedText scan_text(std::string_view text);

}  // namespace wheelsmith::cache
