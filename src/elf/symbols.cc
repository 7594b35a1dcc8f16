// Dynamic symbols. The table has an address (DT_SYMTAB) but no length, which the loader never needs. The hash tables
// give it. DT_HASH has a chain cell for every symbol. DT_GNU_HASH covers the exported symbols, which stand at the end
// of the table in the order of their buckets:
//
//   u32 buckets, u32 first symbol, u32 filter words, u32 shift; word filter[]; u32 bucket[]; u32 chain[]
//
// so the chain of the highest bucket ends (lowest bit 1) with the last symbol. A library that exports nothing has an
// empty GNU table; then the section headers give the length, or the table ends where the next one starts.

#include <fmt/format.h>

#include <algorithm>

#include "elf/parser.h"

namespace wheelsmith::elf {

template <class F>
std::optional<std::uint64_t> Parser<F>::count_by_gnu_hash() {
  using U32 = typename F::U32;
  const auto address = m_file.dynamic.value(k_tag_gnu_hash);
  if (!address) return {};
  const Bytes table = m_file.mapped_from(*address);
  if (table.size() < 16) {
    problem(fmt::format("the GNU hash table at address {:#x} is outside the file", *address));
    return {};
  }
  const std::uint64_t buckets = table.get<U32>(0);
  const std::uint64_t first = table.get<U32>(4);
  const std::uint64_t buckets_at = 16 + table.get<U32>(8) * std::uint64_t{sizeof(typename F::Word)};
  const std::uint64_t chains_at = buckets_at + buckets * 4;
  if (chains_at > table.size()) {
    problem(fmt::format("the GNU hash table at address {:#x} claims {} buckets, more than its segment has", *address,
                        buckets));
    return {};
  }
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < buckets; ++i) last = std::max<std::uint64_t>(last, table.get<U32>(buckets_at + i * 4));
  if (last == 0 || last < first) return {};
  for (; table.contains(chains_at + (last - first) * 4, 4); ++last) {
    if ((table.get<U32>(chains_at + (last - first) * 4) & 1) != 0) return last + 1;
  }
  problem(fmt::format("the last chain of the GNU hash table at address {:#x} is not terminated", *address));
  return {};
}

template <class F>
std::optional<std::uint64_t> Parser<F>::count_by_hash() {
  const auto address = m_file.dynamic.value(k_tag_hash);
  if (!address) return {};
  const Bytes table = m_file.mapped_from(*address);
  // The cells of s390x have 8 bytes; all others have 4.
  const bool wide = m_file.machine == k_machine_s390 && F::is_64bit;
  const std::uint64_t cell = wide ? 8 : 4;
  if (!table.contains(0, 2 * cell)) {
    problem(fmt::format("the hash table at address {:#x} is outside the file", *address));
    return {};
  }
  const std::uint64_t count =
      wide ? std::uint64_t{table.get<typename F::U64>(8)} : std::uint64_t{table.get<typename F::U32>(4)};
  if (count > table.size() / cell) {
    problem(
        fmt::format("the hash table at address {:#x} claims {} symbols, more than its segment has", *address, count));
    return {};
  }
  return count;
}

template <class F>
std::uint64_t Parser<F>::count_by_next_table(Bytes table, std::uint64_t address) {
  std::uint64_t size = table.size();
  for (const std::uint64_t tag : k_address_tags) {
    const std::uint64_t other = m_file.dynamic.value(tag).value_or(0);
    if (other > address) size = std::min(size, other - address);
  }
  // If the strings followed it and were moved away, the leftover bytes are read as invalid names.
  const std::uint64_t most = size / sizeof(typename F::Symbol);
  const auto is_plausible = [&](std::uint64_t i) {
    return table.get<typename F::Symbol>(i * sizeof(typename F::Symbol)).name < m_strings.size();
  };
  std::uint64_t count = std::min<std::uint64_t>(most, 1);
  while (count < most && is_plausible(count)) ++count;
  return count;
}

template <class F>
std::uint64_t Parser<F>::count_symbols(Bytes table) {
  constexpr std::uint32_t k_section_dynsym = 11;
  if (const auto count = count_by_gnu_hash()) return *count;
  if (const auto count = count_by_hash()) return *count;
  const std::uint64_t address = *m_file.dynamic.value(k_tag_symbols);
  for (const Section& section : m_file.sections) {
    if (section.type == k_section_dynsym && section.address == address)
      return section.size / sizeof(typename F::Symbol);
  }
  return count_by_next_table(table, address);
}

template <class F>
void Parser<F>::read_symbols() {
  using RawSymbol = typename F::Symbol;
  const auto address = m_file.dynamic.value(k_tag_symbols);
  if (!address) return;
  const Bytes table = m_file.mapped_from(*address);
  std::uint64_t count = count_symbols(table);
  if (count > table.size() / sizeof(RawSymbol)) {
    problem(fmt::format("{} dynamic symbols at address {:#x} exceed their segment", count, *address));
    count = table.size() / sizeof(RawSymbol);
  }
  m_file.symbols.reserve(count);
  std::uint64_t bad = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto raw = table.get<RawSymbol>(i * sizeof(RawSymbol));
    const auto name = m_strings.at(raw.name);
    bad += name ? 0 : 1;
    m_file.symbols.push_back({.name = name.value_or(std::string_view()),
                              .binding = static_cast<Binding>(raw.info >> 4),
                              .type = static_cast<std::uint8_t>(raw.info & 15),
                              .visibility = static_cast<std::uint8_t>(raw.other & 3),
                              .section = raw.section,
                              .value = raw.value,
                              .size = raw.size});
  }
  if (bad > 0)
    problem(fmt::format("the names of {} of {} dynamic symbols are outside the dynamic strings", bad, count));
  read_symbol_versions();
}

template <class F>
void Parser<F>::read_symbol_versions() {
  constexpr std::uint16_t k_hidden = 0x8000;
  const auto address = m_file.dynamic.value(k_tag_version_symbols);
  if (!address) return;
  const Bytes table = m_file.mapped_from(*address);
  if (!table.contains(0, m_file.symbols.size() * 2)) {
    problem(fmt::format("the symbol versions at address {:#x} exceed their segment", *address));
    return;
  }
  for (std::uint64_t i = 0; i < m_file.symbols.size(); ++i) {
    const std::uint16_t version = table.get<typename F::U16>(i * 2);
    m_file.symbols[i].version = static_cast<std::uint16_t>(version & ~k_hidden);
    m_file.symbols[i].hidden_version = (version & k_hidden) != 0;
  }
}

template void Parser<Elf32Le>::read_symbols();
template void Parser<Elf32Be>::read_symbols();
template void Parser<Elf64Le>::read_symbols();
template void Parser<Elf64Be>::read_symbols();

}  // namespace wheelsmith::elf
