#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "gpu/arch.h"
#include "gpu/code/device_code.h"
#include "gpu/slim/keep.h"
#include "gpu/slim/splice.h"

namespace wheelsmith::gpu {

// What happens to the code of one architecture, kind and section.
struct CodeChange {
  Arch arch;
  CodeKind kind = CodeKind::sass;
  std::string section;
  std::uint64_t count = 0, bytes = 0;            // before
  std::uint64_t kept_count = 0, kept_bytes = 0;  // after
};

struct SlimOptions {
  bool shorten = true;  // cut freed space out of ELF files where that is safe; otherwise zeros fill it
};

// One file with the code for the kept GPUs only.
struct Slimmed {
  bool changed = false;
  bool empty = false;              // a file of device code alone, of which nothing is kept
  Splice splice;                   // the new file, if it is changed and not empty
  std::vector<CodeChange> code;    // sorted by architecture, kind and section; empty: no device code
  std::set<Arch> runs_on;          // the kept devices that find code in the file
  std::vector<std::string> notes;  // sentences

  [[nodiscard]] std::uint64_t code_bytes() const;
  [[nodiscard]] std::uint64_t kept_bytes() const;
};

// Plans the edit of a host library, fat binary, HIP bundle, kpack archive, cubin or code object; see slim.cc. Each edit
// has been read back and compared with the old file (prove_slim). Throws Error if the file cannot be read or edited
// safely.
Slimmed slim_code(Bytes file, const KeepSet& keep, const SlimOptions& options);

// Whether `slimmed` is `original` with less device code: every remaining entry is byte-identical to one of the same
// wrapper, bundle or kernel, and everything else is the same at the same address. Empty if so; otherwise sentences.
// Throws Error if the original cannot be read.
std::vector<std::string> prove_slim(Bytes original, Bytes slimmed);

}  // namespace wheelsmith::gpu
