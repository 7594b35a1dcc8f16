#include "gpu/slim/containers.h"

#include <algorithm>
#include <cstring>

#include "base/endian.h"
#include "gpu/code/fatbin.h"

namespace wheelsmith::gpu {

namespace {

std::optional<CodePiece> piece_of(const FatbinEntry& entry) {
  CodePiece piece;
  switch (entry.kind) {
    case FatbinKind::ptx: piece.kind = CodeKind::ptx; break;
    case FatbinKind::elf: piece.kind = CodeKind::sass; break;
    case FatbinKind::ltoir: piece.kind = CodeKind::ltoir; break;
    default: return std::nullopt;
  }
  piece.arch = nvidia_arch(entry.arch, entry.suffix);
  return piece;
}

}  // namespace

std::uint64_t Replacement::used() const {
  std::uint64_t used = head.size();
  for (const OldPart& part : parts) used += part.size;
  return used;
}

void append_packed(Splice& splice, const Replacement& replacement) {
  splice.bytes(replacement.head);
  for (const OldPart& part : replacement.parts) splice.copy(part.offset, part.size);
}

void append_range(Splice& splice, std::uint64_t begin, std::uint64_t end,
                  const std::vector<Replacement>& replacements) {
  for (const Replacement& one : replacements) {
    if (one.offset < begin || one.offset >= end) continue;
    splice.copy(begin, one.offset - begin);
    append_packed(splice, one);
    splice.zeros(one.size - one.used());
    begin = one.offset + one.size;
  }
  splice.copy(begin, end - begin);
}

void ChangeTally::add(const std::string& section, const CodePiece& piece, std::uint64_t bytes, bool kept,
                      std::uint64_t kept_bytes) {
  CodeChange& change = m_changes[{piece.arch, piece.kind, section}];
  change.arch = piece.arch;
  change.kind = piece.kind;
  change.section = section;
  change.count += 1;
  change.bytes += bytes;
  if (!kept) return;
  change.kept_count += 1;
  change.kept_bytes += kept_bytes;
}

std::vector<CodeChange> ChangeTally::finish() const {
  std::vector<CodeChange> changes;
  for (const auto& [key, change] : m_changes) changes.push_back(change);
  return changes;
}

std::vector<CodePiece> FatbinPlan::known_pieces() const {
  std::vector<CodePiece> known;
  for (const std::optional<CodePiece>& piece : pieces) {
    if (piece) known.push_back(*piece);
  }
  return known;
}

bool FatbinPlan::drops_nothing() const {
  return std::ranges::all_of(kept, [](bool one) { return one; });
}

Replacement FatbinPlan::compacted() const {
  Replacement made{offset, size, {}, {}};
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!kept[i]) continue;
    made.parts.push_back(entries[i]);
    bytes += entries[i].size;
  }
  // The magic number, the version and the size of the header stay; the size of what follows is new.
  const le64 field(bytes);
  made.head = std::string(k_fatbin_magic);
  made.head.append(reinterpret_cast<const char*>(&field), sizeof field);
  return made;
}

FatbinSection read_fatbin_section(std::string name, Bytes contents, std::uint64_t offset, std::uint64_t address,
                                  const std::vector<std::uint64_t>& wrapped) {
  FatbinSection section{std::move(name), offset, address, contents.size(), false, {}};
  FatbinWalk walk;
  walk.container = [&](const FatbinContainer& container) {
    FatbinPlan plan;
    plan.offset = offset + container.offset;
    plan.address = address + container.offset;
    plan.size = container.size;
    plan.editable = std::binary_search(wrapped.begin(), wrapped.end(), plan.address);
    for (const FatbinEntry& entry : container.entries) {
      plan.entries.push_back({offset + entry.offset, entry.bytes});
      plan.pieces.push_back(piece_of(entry));
    }
    plan.kept.assign(plan.entries.size(), true);
    section.containers.push_back(std::move(plan));
  };
  walk.broken = [&](std::uint64_t, std::uint64_t, const std::string&) { section.broken = true; };
  walk_fatbins(contents, walk);
  return section;
}

}  // namespace wheelsmith::gpu
