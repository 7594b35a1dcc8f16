#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/sink.h"

// Changes what a shared library or a dynamic executable says to the loader: its run path, the files it needs, its own
// name. Nothing that is loaded moves or changes but the dynamic tags and their strings (edit.cc has the essay), and
// each edit is proved before it is handed out.

namespace wheelsmith::elf {

struct RunPath {
  bool runpath = false;              // DT_RUNPATH instead of DT_RPATH
  std::vector<std::string> entries;  // empty: the file shall have none
};

// Names in rename_needed and remove_needed that the file does not need are passed over, and so is an added one that it
// needs already: the same edit twice is the edit once.
struct Edit {
  std::optional<RunPath> run_path;
  std::map<std::string, std::string> rename_needed;  // with the versions that are asked of them
  std::vector<std::string> add_needed;               // behind those that are there: they are looked at last
  std::vector<std::string> remove_needed;
  std::optional<std::string> soname;  // with the base entry of the versions it defines

  [[nodiscard]] bool empty() const {
    return !run_path && rename_needed.empty() && add_needed.empty() && remove_needed.empty() && !soname;
  }
};

struct Patch {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};

// The edited file as the old bytes with patches laid over them and a tail behind them: nothing large is copied.
struct Edited {
  std::vector<Patch> patches;     // ascending, apart, inside the original
  std::vector<std::byte> tail;    // what comes behind the original
  std::uint64_t tail_offset = 0;  // zeros stand between the end of the original and it
  std::uint64_t size = 0;         // of the edited file
  bool changed = false;
};

// Whether the bytes are a whole dynamic ELF object of a machine whose loader we know: not data with the magic, not a
// static program, not device code, not cut off. Never throws.
bool can_edit(Bytes bytes);

// Throws Error when the edit cannot be done safely. What comes out was read again and compared (prove).
Edited edit(Bytes original, const Edit& edit);

void write(const Edited& edited, Bytes original, Sink& sink);
std::vector<std::byte> apply(const Edited& edited, Bytes original);

// Whether one file is the other with nothing changed but run path, needed files and own name; whoever edited it. Empty
// when it is; else sentences that say what differs: bytes at an address, a segment, a symbol, a relocation, a tag, an
// address that leads nowhere. Throws Error when the original cannot be read.
std::vector<std::string> prove(Bytes original, Bytes edited);

}  // namespace wheelsmith::elf
