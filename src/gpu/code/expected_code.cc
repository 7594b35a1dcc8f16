#include "gpu/code/expected_code.h"

#include <algorithm>

#include "base/text.h"

namespace wheelsmith::gpu {

namespace {

using Must = ExpectedCode::Must;

bool fits_any(const std::vector<std::string>& patterns, const Arch& arch) {
  const std::string name = list_name(arch);
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, name); });
}

bool runs_there(const Arch& code, const Arch& asked) {
  return fit(code, code.vendor == Vendor::amd ? CodeKind::hip : CodeKind::sass, asked) == Fit::native;
}

// sm_90 and sm_90a satisfy 9.0; only sm_90a satisfies 9.0a.
bool is_own_code(const Arch& code, const Arch& asked) {
  if (code.vendor != asked.vendor || code.vendor == Vendor::amd) return runs_there(code, asked);
  return code.number == asked.number && (asked.suffix.empty() || code.suffix == asked.suffix);
}

std::string listed(const std::vector<Arch>& archs) {
  std::vector<std::string> names;
  for (const Arch& arch : archs) names.push_back(list_name(arch));
  return join(names, ", ");
}

}  // namespace

std::string list_name(const Arch& arch) { return to_string(ArchRequest{.arch = arch, .binary = true, .ptx = false}); }

CodeJudgement judge_code(const std::set<Arch>& code, const ArchList& asked, const ExpectedCode& expected) {
  CodeJudgement result;
  std::vector<Arch> wanted, counted;
  for (const ArchRequest& request : asked.requests) {
    if (!request.binary) continue;
    wanted.push_back(request.arch);
    if (expected.only.empty() || fits_any(expected.only, request.arch)) counted.push_back(request.arch);
  }
  const bool own = expected.must == Must::each || expected.must == Must::all_or_none;
  const auto is_there = [&](const Arch& arch) {
    return std::any_of(code.begin(), code.end(),
                       [&](const Arch& one) { return own ? is_own_code(one, arch) : runs_there(one, arch); });
  };
  if (expected.must == Must::some) {
    if (!counted.empty() && std::none_of(counted.begin(), counted.end(), is_there))
      result.missing.push_back("any of " + listed(counted));
  } else if (expected.must != Must::nothing && !(expected.must == Must::all_or_none && code.empty())) {
    for (const Arch& arch : counted) {
      if (!is_there(arch)) result.missing.push_back(list_name(arch));
    }
  }
  for (const Arch& arch : code) {
    if (fits_any(expected.must_not, arch)) result.unexpected.insert(arch);
    // Code that runs on a requested architecture counts: 9.0a for 9.0, sm_80 for 8.6.
    const auto is_of_use = [&](const Arch& one) { return is_own_code(arch, one) || runs_there(arch, one); };
    if (std::none_of(wanted.begin(), wanted.end(), is_of_use) && !fits_any(expected.may, arch))
      result.unasked.insert(arch);
  }
  return result;
}

}  // namespace wheelsmith::gpu
