// Symbol versions: which versions the file needs of which other file (DT_VERNEED), and which it defines (DT_VERDEF).
// Both are chains of records that link forward by offsets relative to themselves, each with a chain of its own:
//
//   Verneed (libc.so.6) -> Vernaux (GLIBC_2.17, index 3) -> Vernaux (GLIBC_2.2.5, index 2)
//     `-> Verneed (libm.so.6) -> ...
//
// Offsets are unsigned, so a chain cannot turn back; but many records may share one inner chain, so the number of inner
// records is bounded by how many fit into the bytes.

#include <fmt/format.h>

#include "elf/parser.h"

namespace wheelsmith::elf {

template <class F>
void Parser<F>::read_version_needs() {
  using Verneed = typename F::Verneed;
  using Vernaux = typename F::Vernaux;
  const auto address = m_file.dynamic.value(k_tag_version_needs);
  if (!address) return;
  const Bytes table = m_file.mapped_from(*address);
  const std::uint64_t most = table.size() / sizeof(Vernaux);
  const std::uint64_t count = m_file.dynamic.value(k_tag_version_need_count).value_or(most);
  const auto broken = [&] {
    problem(fmt::format("the chain of needed versions at address {:#x} is broken", *address));
  };
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!table.contains(at, sizeof(Verneed))) return broken();
    const auto need = table.get<Verneed>(at);
    const auto file = m_strings.at(need.file);
    std::uint64_t aux_at = at + need.aux;
    for (std::uint16_t left = need.count; left > 0; --left) {
      if (!table.contains(aux_at, sizeof(Vernaux)) || m_file.version_needs.size() >= most) return broken();
      const auto aux = table.get<Vernaux>(aux_at);
      const auto version = m_strings.at(aux.name);
      if (!file || !version) return broken();
      const auto index = static_cast<std::uint16_t>(aux.index & 0x7fff);
      m_file.version_needs.push_back({*file, *version, index, (aux.flags & 2) != 0});
      if (aux.next == 0) {
        if (left > 1) broken();
        break;
      }
      aux_at += aux.next;
    }
    if (need.next == 0) return;
    at += need.next;
  }
}

template <class F>
void Parser<F>::read_version_definitions() {
  using Verdef = typename F::Verdef;
  using Verdaux = typename F::Verdaux;
  const auto address = m_file.dynamic.value(k_tag_version_definitions);
  if (!address) return;
  const Bytes table = m_file.mapped_from(*address);
  const std::uint64_t most = table.size() / sizeof(Verdef);
  const std::uint64_t count = m_file.dynamic.value(k_tag_version_definition_count).value_or(most);
  const auto broken = [&] {
    problem(fmt::format("the chain of defined versions at address {:#x} is broken", *address));
  };
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!table.contains(at, sizeof(Verdef))) return broken();
    const auto definition = table.get<Verdef>(at);
    if (!table.contains(at + definition.aux, sizeof(Verdaux))) return broken();
    // The first name is the version; the following ones are its predecessors.
    const auto name = m_strings.at(table.get<Verdaux>(at + definition.aux).name);
    if (!name) return broken();
    const auto index = static_cast<std::uint16_t>(definition.index & 0x7fff);
    m_file.version_definitions.push_back({*name, index, (definition.flags & 1) != 0});
    if (definition.next == 0) return;
    at += definition.next;
  }
}

// If two records have the same index, the first one counts.
template <class F>
void Parser<F>::index_versions() {
  const auto index = [](std::vector<std::uint32_t>& places, const auto& versions) {
    for (std::uint32_t i = 0; i < versions.size(); ++i) {
      const std::uint16_t at = versions[i].index;
      if (at >= places.size()) places.resize(at + 1U);
      if (places[at] == 0) places[at] = i + 1;
    }
  };
  index(m_file.m_need_by_index, m_file.version_needs);
  index(m_file.m_definition_by_index, m_file.version_definitions);
}

template void Parser<Elf32Le>::read_version_needs();
template void Parser<Elf32Be>::read_version_needs();
template void Parser<Elf64Le>::read_version_needs();
template void Parser<Elf64Be>::read_version_needs();
template void Parser<Elf32Le>::read_version_definitions();
template void Parser<Elf32Be>::read_version_definitions();
template void Parser<Elf64Le>::read_version_definitions();
template void Parser<Elf64Be>::read_version_definitions();
template void Parser<Elf32Le>::index_versions();
template void Parser<Elf32Be>::index_versions();
template void Parser<Elf64Le>::index_versions();
template void Parser<Elf64Be>::index_versions();

}  // namespace wheelsmith::elf
