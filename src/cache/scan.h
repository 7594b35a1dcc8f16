#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::cache {

// What a source or header says by itself about what its compile depends on besides its own text and the files that the
// compiler lists. Comments and strings count too: a false alarm costs a compile, a missed one a wrong object.
struct ScannedText {
  bool time = false;                  // __DATE__ or __TIME__
  bool timestamp = false;             // __TIMESTAMP__: the file's own time
  bool other_files = false;           // the assembler's .incbin: a file that nothing lists
  std::vector<std::string> asked{};   // names in __has_include and __has_embed
  std::vector<std::string> quoted{};  // names in #include "…": looked for beside the file first
  friend bool operator==(const ScannedText&, const ScannedText&) = default;
};
ScannedText scan_text(std::string_view text);

}  // namespace wheelsmith::cache
