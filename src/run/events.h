#pragma once

#include <cstdint>
#include <string>

#include "base/enum_names.h"
#include "run/outcome.h"

namespace wheelsmith::run {

// The state of a step's compilers.
struct CompileStatus {
  std::uint64_t running = 0, finished = 0;
  std::uint64_t used = 0, limit = 0;    // bytes of memory
  std::uint64_t hits = 0, lookups = 0;  // in the compile cache
  std::string unit;                     // the compile that has run longest
  std::string waits_for;                // "2 compiles of torch"; "" when no wait is worth reporting
};

// Events of a build as they happen, for the status line and plain output.
struct Event {
  enum class Kind : std::uint8_t {
    started,
    phase,
    progress,
    note,
    output,
    compiling,
    finished,
    queued,  // a cluster has it, and it does not run yet
    placed,  // it has started on a machine of a cluster
    usage,   // the memory of its job, now and at most
  } kind = Kind::note;
  std::string step{};
  // phase: "build"; note, output: the text; progress: the file that is downloaded, "" for units; queued: the job and
  // the reason why it waits; placed: the machine
  std::string text{};
  std::uint64_t done = 0, total = 0;     // progress: units, or bytes of a download
  const StepOutcome* outcome = nullptr;  // finished
  CompileStatus compiles{};              // compiling, usage
};

}  // namespace wheelsmith::run

template <>
struct wheelsmith::EnumNames<wheelsmith::run::Event::Kind> {
  static constexpr std::array list = {"started",   "phase",    "progress", "note",   "output",
                                      "compiling", "finished", "queued",   "placed", "usage"};
};
