#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gpu/arch.h"

namespace wheelsmith::gpu {

// Which device code a library, or several matching a pattern, must, may and must not contain. Packages compile some
// kernels for part of the list only, and some for other architectures (9.0a where 9.0 was requested).
struct ExpectedCode {
  // each: code for exactly each requested architecture. all-or-none: the same, or no device code at all. served: code
  // that runs there without JIT (sm_80 on an 8.6). some: for at least one of them.
  enum class Must : std::uint8_t { each, all_or_none, served, some, nothing } must = Must::each;
  std::string library;  // shell pattern of its path
  // Shell patterns for architectures: "9.0a", "gfx942".
  std::vector<std::string> only;      // the requested ones that count; empty: all
  std::vector<std::string> may;       // code that is allowed without being requested
  std::vector<std::string> must_not;  // code that must be absent, requested or not
  std::string why;
};

// "9.0a", "gfx942": as in a list.
std::string list_name(const Arch& arch);

struct CodeJudgement {
  std::vector<std::string> missing;  // "9.0"; "any of 9.0, 10.0"
  std::set<Arch> unexpected;         // of must_not
  std::set<Arch> unasked;            // neither usable for a requested architecture nor in `may`

  [[nodiscard]] bool is_good() const { return missing.empty() && unexpected.empty() && unasked.empty(); }
};

// `code` is the binary code of one library that the runtime selects directly.
CodeJudgement judge_code(const std::set<Arch>& code, const ArchList& asked, const ExpectedCode& expected);

}  // namespace wheelsmith::gpu
