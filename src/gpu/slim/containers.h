#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "elf/elf_file.h"
#include "gpu/slim/slim.h"

// Parts shared by the files that slim each kind of container.

namespace wheelsmith::gpu {

// A part of the old file: entries that stay.
struct OldPart {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// New contents of a range of the old file: a head of new bytes, then old parts, then zeros up to the old size.
struct Replacement {
  std::uint64_t offset = 0;  // in the old file
  std::uint64_t size = 0;
  std::string head;
  std::vector<OldPart> parts;

  [[nodiscard]] std::uint64_t used() const;
};

// Appends the old range [begin, end) with the replacements in it, which are sorted and do not overlap.
void append_range(Splice& splice, std::uint64_t begin, std::uint64_t end, const std::vector<Replacement>& replacements);
// Appends a replacement without the zeros after it.
void append_packed(Splice& splice, const Replacement& replacement);

// Counts code before and after.
class ChangeTally {
 public:
  void add(const std::string& section, const CodePiece& piece, std::uint64_t bytes, bool kept,
           std::uint64_t kept_bytes);
  void add(const std::string& section, const CodePiece& piece, std::uint64_t bytes, bool kept) {
    add(section, piece, bytes, kept, kept ? bytes : 0);
  }
  [[nodiscard]] std::vector<CodeChange> finish() const;

 private:
  std::map<std::tuple<Arch, CodeKind, std::string>, CodeChange> m_changes;
};

// One NVIDIA container and the decision about its entries.
struct FatbinPlan {
  std::uint64_t offset = 0;   // in the file
  std::uint64_t address = 0;  // 0 in a standalone file
  std::uint64_t size = 0;     // header included
  bool editable = false;      // registered by a wrapper, or the file itself
  std::vector<OldPart> entries;
  std::vector<std::optional<CodePiece>> pieces;  // nothing for an unknown kind, which stays
  std::vector<bool> kept;

  [[nodiscard]] std::vector<CodePiece> known_pieces() const;
  [[nodiscard]] bool drops_nothing() const;
  // The compacted container.
  [[nodiscard]] Replacement compacted() const;
};

struct FatbinSection {
  std::string name;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool broken = false;  // some container cannot be read
  std::vector<FatbinPlan> containers;
};

// All containers in the bytes at `offset` of the file.
FatbinSection read_fatbin_section(std::string name, Bytes contents, std::uint64_t offset, std::uint64_t address,
                                  const std::vector<std::uint64_t>& wrapped);

// Moves the containers of the section together and cuts the space after them out of the file. `others` are replacements
// outside the section. Nothing, and the reason in `why_not`, if that is not safe or not worth it. See shorten.cc.
std::optional<Splice> shorten(const elf::ElfFile& file, const FatbinSection& section,
                              const std::vector<Replacement>& others, std::string& why_not);

// The replacement of a HIP bundle, plain or compressed, at the offset of the file; nothing if it stays as it is.
struct SlimmedBundle {
  std::optional<Replacement> replacement;  // never larger than the bundle
  bool kept_any = false;                   // some device code stays
};
SlimmedBundle slim_bundle(Bytes bundle, std::uint64_t offset, const std::string& section, const KeepSet& keep,
                          Slimmed& result, ChangeTally& tally);

// Bundles in a section or a file; `starts` are offsets in the bytes that wrappers point to.
std::vector<Replacement> slim_bundles(Bytes contents, std::uint64_t offset, const std::string& section,
                                      const std::vector<std::uint64_t>& starts, const KeepSet& keep, Slimmed& result,
                                      ChangeTally& tally);

// A .kpack archive without the code objects that are not kept.
void slim_kpack(Bytes archive, const KeepSet& keep, Slimmed& result, ChangeTally& tally);

// Adds the kept devices that find code in the container.
void note_devices(std::span<const CodePiece> container, const KeepSet& keep, Slimmed& result);

}  // namespace wheelsmith::gpu
