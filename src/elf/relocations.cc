// Relocations are locations that the loader writes to. RELA entries carry the value, REL entries store it at the
// location. RELR packs the locations of plain pointers: an even word is an address, an odd word is a bitmap of the 63
// (or 31) words that follow what came before.
//
//   relr := (address bitmap*)*
//
// A big library has a million of them and callers need a handful, so one pass reads only the addresses.

#include <algorithm>

#include "elf/elf_file.h"
#include "elf/elf_format.h"

namespace wheelsmith::elf {

namespace {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] bool has(std::uint64_t address) const { return address >= begin && address < end; }
};

template <class F, class Entry>
void collect(Bytes table, Range range, std::vector<Relocation>& found) {
  const std::uint64_t count = table.size() / sizeof(Entry);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto entry = table.get<Entry>(i * sizeof(Entry));
    if (!range.has(entry.address)) continue;
    const std::uint64_t info = entry.info;
    Relocation relocation;
    relocation.address = entry.address;
    relocation.symbol = static_cast<std::uint32_t>(info >> F::symbol_shift);
    relocation.type = static_cast<std::uint32_t>(info & ((1ULL << F::symbol_shift) - 1));
    if constexpr (requires { entry.addend; }) {
      // A 32 bit addend is signed too.
      using Signed = std::conditional_t<F::is_64bit, std::int64_t, std::int32_t>;
      relocation.addend = static_cast<Signed>(entry.addend);
    }
    found.push_back(relocation);
  }
}

template <class F>
void collect_relr(Bytes table, Range range, std::vector<Relocation>& found) {
  using Word = typename F::Word;
  constexpr std::uint64_t k_word = sizeof(Word);
  constexpr std::uint64_t k_bits = k_word * 8 - 1;
  const auto add = [&](std::uint64_t address) {
    if (range.has(address)) found.push_back({.address = address});
  };
  std::uint64_t next = 0;
  for (std::uint64_t at = 0; table.contains(at, k_word); at += k_word) {
    const std::uint64_t entry = table.get<Word>(at);
    if (entry % 2 == 0) {
      add(entry);
      next = entry + k_word;
      continue;
    }
    if (next < range.end && next + k_bits * k_word > range.begin) {
      for (std::uint64_t bit = 0; bit < k_bits; ++bit) {
        if ((entry >> (bit + 1) & 1) != 0) add(next + bit * k_word);
      }
    }
    next += k_bits * k_word;
  }
}

}  // namespace

std::vector<Relocation> ElfFile::relocations_in(std::uint64_t begin, std::uint64_t end) const {
  std::vector<Relocation> found;
  const auto collect_all = [&]<class F>(F) {
    for (const RelocationTable& table : m_relocation_tables) {
      switch (table.kind) {
        case RelocationTable::Kind::rela: collect<F, typename F::Rela>(table.bytes, {begin, end}, found); break;
        case RelocationTable::Kind::rel: collect<F, typename F::Rel>(table.bytes, {begin, end}, found); break;
        case RelocationTable::Kind::relr: collect_relr<F>(table.bytes, {begin, end}, found); break;
      }
    }
  };
  const bool little = endian == Endian::little;
  if (is_64bit) {
    little ? collect_all(Elf64Le()) : collect_all(Elf64Be());
  } else {
    little ? collect_all(Elf32Le()) : collect_all(Elf32Be());
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Relocation& a, const Relocation& b) { return a.address < b.address; });
  return found;
}

}  // namespace wheelsmith::elf
