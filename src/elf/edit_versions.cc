#include "elf/edit_versions.h"

#include "elf/elf_format.h"

// The chains that versions.cc reads as values, here as file offsets.

namespace wheelsmith::elf {

namespace {

template <class F>
class VersionWalk {
 public:
  explicit VersionWalk(const ElfFile& file) : m_file(file) {}

  VersionFields walk() {
    walk_needs();
    walk_definitions();
    return std::move(m_fields);
  }

 private:
  using Verneed = typename F::Verneed;
  using Vernaux = typename F::Vernaux;
  using Verdef = typename F::Verdef;
  using Verdaux = typename F::Verdaux;

  std::uint64_t offset_in_file(Bytes table, std::uint64_t at) const {
    return static_cast<std::uint64_t>(table.data() - m_file.bytes().data()) + at;
  }

  void walk_needs() {
    const auto address = m_file.dynamic.value(k_tag_version_needs);
    if (!address) return;
    const Bytes table = m_file.mapped_from(*address);
    std::uint64_t left_in_all = table.size() / sizeof(Vernaux);
    std::uint64_t count = m_file.dynamic.value(k_tag_version_need_count).value_or(left_in_all);
    for (std::uint64_t at = 0; count > 0 && table.contains(at, sizeof(Verneed)); --count) {
      const auto need = table.get<Verneed>(at);
      m_fields.need_files.push_back({offset_in_file(table, at) + offsetof(Verneed, file), need.file});
      std::uint64_t aux_at = at + need.aux;
      for (std::uint16_t left = need.count; left > 0 && left_in_all > 0; --left, --left_in_all) {
        if (!table.contains(aux_at, sizeof(Vernaux))) break;
        const auto aux = table.get<Vernaux>(aux_at);
        m_fields.names.push_back(aux.name);
        if (aux.next == 0) break;
        aux_at += aux.next;
      }
      if (need.next == 0) return;
      at += need.next;
    }
  }

  void walk_definitions() {
    const auto address = m_file.dynamic.value(k_tag_version_definitions);
    if (!address) return;
    const Bytes table = m_file.mapped_from(*address);
    std::uint64_t left_in_all = table.size() / sizeof(Verdaux);
    std::uint64_t count = m_file.dynamic.value(k_tag_version_definition_count).value_or(left_in_all);
    for (std::uint64_t at = 0; count > 0 && table.contains(at, sizeof(Verdef)); --count) {
      const auto definition = table.get<Verdef>(at);
      std::uint64_t aux_at = at + definition.aux;
      for (std::uint16_t i = 0; i < definition.count && left_in_all > 0; ++i, --left_in_all) {
        if (!table.contains(aux_at, sizeof(Verdaux))) break;
        const auto aux = table.get<Verdaux>(aux_at);
        if (i == 0 && (definition.flags & 1) != 0 && !m_fields.base_name) {
          m_fields.base_name = {offset_in_file(table, aux_at) + offsetof(Verdaux, name), aux.name};
          m_fields.base_hash = offset_in_file(table, at) + offsetof(Verdef, hash);
        } else {
          m_fields.names.push_back(aux.name);
        }
        if (aux.next == 0) break;
        aux_at += aux.next;
      }
      if (definition.next == 0) return;
      at += definition.next;
    }
  }

  const ElfFile& m_file;
  VersionFields m_fields;
};

}  // namespace

VersionFields version_fields(const ElfFile& file) {
  const bool little = file.endian == Endian::little;
  if (file.is_64bit) return little ? VersionWalk<Elf64Le>(file).walk() : VersionWalk<Elf64Be>(file).walk();
  return little ? VersionWalk<Elf32Le>(file).walk() : VersionWalk<Elf32Be>(file).walk();
}

std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<std::uint8_t>(c);
    hash ^= hash >> 24 & 0xf0;
    hash &= 0x0fffffff;
  }
  return hash;
}

}  // namespace wheelsmith::elf
