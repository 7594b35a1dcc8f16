#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/env.h"

namespace wheelsmith::env {

// What `pip install --dry-run --report` says it would install, by normalized name and sorted by it. A wheel of a local
// folder may come without its SHA-256. Throws Error for what is no such report, and for a project of which pip took no
// wheel.
std::vector<PinnedWheel> parse_pip_report(std::string_view text);

// Why pip gave up, told from what it printed.
struct PipFailure {
  enum class Kind { no_match, conflict, network, old_pip, other };
  Kind kind = Kind::other;
  std::string reason;       // one sentence
  std::string requirement;  // that nothing matches, where that is the reason
};
PipFailure read_pip_failure(std::string_view output);

}  // namespace wheelsmith::env
