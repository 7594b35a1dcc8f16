#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/arch.h"

namespace wheelsmith::gpu {

// The kinds of code in a wheel or library, without counts and sizes.
struct CodePiece {
  Arch arch;
  CodeKind kind = CodeKind::sass;

  friend auto operator<=>(const CodePiece&, const CodePiece&) = default;
};

// Requested code compared with existing code.
struct Coverage {
  enum class State : std::uint8_t {
    exact,       // exactly this code
    compatible,  // other code that runs there without JIT (or, for a PTX request, PTX of an older architecture)
    jit,         // only PTX or SPIR-V, compiled on first use
    missing,
  };
  struct Item {
    // One form: a request for binary code and PTX ("9.0+PTX") becomes two items.
    ArchRequest request;
    State state = State::missing;
    std::string by;  // the code that satisfies it: "sm_80"; "" if missing
  };
  std::vector<Item> items;           // in the order of the requests
  std::vector<std::string> unasked;  // code that satisfies no item, sorted by architecture
};

// A suffix requests exactly that code: only sm_90a is exact for "9.0a". sm_90 runs on a 9.0, so it is compatible; but
// sm_100a does not satisfy "10.0f", which means the whole family.
Coverage cover(std::span<const CodePiece> pieces, const ArchList& wanted);
// One item: binary code for the device. Any code of its own processor is exact (sm_90 and sm_90a on an H100); unasked
// is code that does not run on it at all.
Coverage cover(std::span<const CodePiece> pieces, const Device& device);

}  // namespace wheelsmith::gpu
