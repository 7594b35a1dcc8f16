#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/env.h"

namespace wheelsmith::env {

// The wheels in a `pip install --dry-run --report` document, with normalized names and sorted. A wheel of a local
// folder may lack its SHA-256. Throws Error for an invalid report, and for a project without a wheel.
std::vector<PinnedWheel> parse_pip_report(std::string_view text);

// Why pip failed, from its output.
struct PipFailure {
  enum class Kind { no_match, conflict, network, old_pip, other };
  Kind kind = Kind::other;
  std::string reason;       // one sentence
  std::string requirement;  // the unmatched requirement, if that is the reason
};
PipFailure read_pip_failure(std::string_view output);

}  // namespace wheelsmith::env
