#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gpu/arch.h"

namespace wheelsmith::gpu {

// Which device code one library, or several of a pattern, must, may and must not hold. Packages compile some kernels
// for part of the list only, and some for architectures of their own (9.0a where 9.0 was asked for).
struct ExpectedCode {
  // each: code of its own for each architecture asked for. all-or-none: the same, or no device code at all. served:
  // code that runs there as it is (sm_80 on an 8.6). some: for at least one of them.
  enum class Must : std::uint8_t { each, all_or_none, served, some, nothing } must = Must::each;
  std::string library;  // shell pattern of its path
  // Shell patterns of architectures as people write them: "9.0a", "gfx942".
  std::vector<std::string> only;      // of those asked for these count; empty: all
  std::vector<std::string> may;       // code that was not asked for and belongs there
  std::vector<std::string> must_not;  // code that must not be there, asked for or not
  std::string why;
};

// "9.0a", "gfx942": as in a list.
std::string list_name(const Arch& arch);

struct CodeJudgement {
  std::vector<std::string> missing;  // "9.0"; "any of 9.0, 10.0"
  std::set<Arch> unexpected;         // of must_not
  std::set<Arch> unasked;            // neither of use for what was asked for nor in `may`

  [[nodiscard]] bool is_good() const { return missing.empty() && unexpected.empty() && unasked.empty(); }
};

// `code` is the binary code of one library: what the runtime picks by itself.
CodeJudgement judge_code(const std::set<Arch>& code, const ArchList& asked, const ExpectedCode& expected);

}  // namespace wheelsmith::gpu
