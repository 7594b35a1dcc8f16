#pragma once

#include <cstdint>
#include <string>

#include "base/enum_names.h"
#include "run/outcome.h"

namespace wheelsmith::run {

// What happens in a build, as it happens; for status lines and plain lines.
struct Event {
  enum class Kind : std::uint8_t { started, phase, progress, note, output, memory, finished } kind = Kind::note;
  std::string step;
  std::string text;  // phase: "build"; note, output, memory: the text
  std::uint64_t done = 0, total = 0;
  const StepOutcome* outcome = nullptr;  // finished
};

}  // namespace wheelsmith::run

template <>
struct wheelsmith::EnumNames<wheelsmith::run::Event::Kind> {
  static constexpr std::array list = {"started", "phase", "progress", "note", "output", "memory", "finished"};
};
