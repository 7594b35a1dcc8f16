#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/arch.h"

namespace wheelsmith::gpu {

// What a wheel or a library holds, without how often and how large.
struct CodePiece {
  Arch arch;
  CodeKind kind = CodeKind::sass;

  friend auto operator<=>(const CodePiece&, const CodePiece&) = default;
};

// What was asked for against what is there.
struct Coverage {
  enum class State : std::uint8_t {
    exact,       // this very code
    compatible,  // other code that runs there as it is (or, where PTX was asked for, PTX of an older architecture)
    jit,         // nothing but PTX or SPIR-V that is compiled at the first use
    missing,
  };
  struct Item {
    // One form: a request for binary code and PTX ("9.0+PTX") becomes two items.
    ArchRequest request;
    State state = State::missing;
    std::string by;  // the code that serves it: "sm_80"; "" if missing
  };
  std::vector<Item> items;           // in the order of the requests
  std::vector<std::string> unasked;  // code that serves no item, sorted by architecture
};

// A suffix in a request is a wish for that very code: "9.0a" is exact by sm_90a only. Yet sm_90 runs on a 9.0, so it is
// compatible; but sm_100a is no answer to "10.0f", which is meant for the whole family.
Coverage cover(std::span<const CodePiece> pieces, const ArchList& wanted);
// One item: binary code for the device. Any code of its own processor is exact (sm_90 and sm_90a on an H100); unasked
// is what does not run on it at all.
Coverage cover(std::span<const CodePiece> pieces, const Device& device);

}  // namespace wheelsmith::gpu
