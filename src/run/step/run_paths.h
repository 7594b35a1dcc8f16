#pragma once

#include <set>

#include "run/step/phases.h"
#include "wheel/read/inspect.h"

namespace wheelsmith::run {

// The wheel without RPATH and RUNPATH entries of this machine, and how many entries each file lost.
struct PortableWheel {
  std::filesystem::path path;
  std::vector<std::pair<std::string, std::size_t>> removed;  // member, entries
  std::set<std::string> entries;                             // all of them
};
// Nothing when no file has such an entry, or the recipe accepts them (accept.runpath-absolute).
std::optional<PortableWheel> without_machine_run_paths(const FinishInputs& inputs, const wheel::Inspection& inspection,
                                                       Bytes built, const StepServices& services);

}  // namespace wheelsmith::run
