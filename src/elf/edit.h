#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/sink.h"

// Edits the RPATH/RUNPATH, NEEDED libraries and soname of a shared library or dynamic executable. Nothing that is
// loaded moves or changes except the dynamic tags and their strings (see edit.cc), and each edit is verified before it
// is returned.

namespace wheelsmith::elf {

struct RunPath {
  bool runpath = false;              // DT_RUNPATH instead of DT_RPATH
  std::vector<std::string> entries;  // empty: remove it
};

// Names in rename_needed and remove_needed that are not in NEEDED are ignored, as are added ones that are: edits are
// idempotent.
struct Edit {
  std::optional<RunPath> run_path;
  std::map<std::string, std::string> rename_needed;  // including their version requirements
  std::vector<std::string> add_needed;               // appended after the existing ones, so searched last
  std::vector<std::string> remove_needed;
  std::optional<std::string> soname;  // including the base entry of its version definitions

  [[nodiscard]] bool empty() const {
    return !run_path && rename_needed.empty() && add_needed.empty() && remove_needed.empty() && !soname;
  }
};

struct Patch {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};

// The edited file as the old bytes plus patches and a tail: nothing large is copied.
struct Edited {
  std::vector<Patch> patches;     // ascending, apart, inside the original
  std::vector<std::byte> tail;    // appended to the original
  std::uint64_t tail_offset = 0;  // zeros fill the space between the end of the original and it
  std::uint64_t size = 0;         // of the edited file
  bool changed = false;
};

// Whether the bytes are a complete dynamic ELF object for a machine with a known loader: not data with the magic
// number, not a static program, not device code, not truncated. Never throws.
bool can_edit(Bytes bytes);

// Throws Error if the edit cannot be done safely. The result has been read back and compared (prove).
Edited edit(Bytes original, const Edit& edit);

void write(const Edited& edited, Bytes original, Sink& sink);
std::vector<std::byte> apply(const Edited& edited, Bytes original);

// Whether two files differ only in run path, NEEDED libraries and soname, whichever tool edited them. Empty if so;
// otherwise sentences that say what differs: bytes at an address, a segment, a symbol, a relocation, a tag, an unmapped
// address. Throws Error if the original cannot be read.
std::vector<std::string> prove(Bytes original, Bytes edited);

}  // namespace wheelsmith::elf
