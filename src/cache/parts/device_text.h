#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "cache/path_map.h"

// The texts between the parts of a GPU compile, compared without what does not decide the result.

namespace wheelsmith::cache {

// What is spelled differently in two compiles of the same device code.
struct Spelling {
  std::string archs;                  // "800_900": all architectures of the compile, as CCCL's namespaces contain them
  std::vector<std::string> spaces{};  // these namespaces: "THRUST_300001_SM_800_900_NS"
  std::string id;                     // of the module, which names of internal symbols contain
  std::vector<std::string> files{};   // generated files, by path: lines like `# 1 "FILE"`
};

struct TextDigest {
  Digest digest{};
  std::vector<std::string> spaces{};  // namespaces that contain the list of architectures
};
// The digest of a preprocessed text; `map` gives other names to folders of the files that it came from. `archs`:
// "800_900", or "" to count their spelling. Without `positions`, blank lines, file names and line numbers do not count.
TextDigest digest_of_text(std::string_view text, const std::string& archs, bool positions, const PathMap& map = {});

// A generated text without its spelling. Nothing if that is not certain: another compile then needs its own.
std::optional<std::string> neutral_text(std::string_view text, const Spelling& spelling);
// And with another spelling. Nothing for a text that was not made by neutral_text(), and for an ID of another length.
std::optional<std::string> spelled_text(std::string_view text, const Spelling& spelling);

}  // namespace wheelsmith::cache
