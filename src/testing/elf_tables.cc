#include "testing/elf_tables.h"

#include "base/error.h"

namespace wheelsmith::testing {

void ElfWriter::number(std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) {
    const int shift = 8 * (m_big_endian ? size - 1 - i : i);
    m_out.push_back(static_cast<char>(value >> shift & 0xff));
  }
}

std::uint64_t StringTable::add(std::string_view text) {
  if (text.empty()) return 0;
  const auto [place, is_new] = m_known.try_emplace(std::string(text), m_out.size());
  if (is_new) m_out.append(text).push_back('\0');
  return place->second;
}

std::uint32_t gnu_hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<std::uint8_t>(c);
  return hash;
}

std::uint32_t sysv_hash_of(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<std::uint8_t>(c);
    hash ^= (hash & 0xf0000000) >> 24;
    hash &= 0x0fffffff;
  }
  return hash;
}

std::string gnu_hash_table(ElfWriter out, const std::vector<std::string>& names, std::uint64_t first,
                           std::uint32_t buckets) {
  out.u32(buckets);
  out.u32(first);
  out.u32(1);       // words in the Bloom filter
  out.u32(0);       // its shift
  out.word(~0ULL);  // a filter that lets every name pass
  std::vector<std::uint64_t> starts(buckets), chain;
  for (std::uint64_t i = first; i < names.size(); ++i) {
    const std::uint32_t hash = gnu_hash_of(names[i]);
    const bool is_last = i + 1 == names.size() || gnu_hash_of(names[i + 1]) % buckets != hash % buckets;
    if (starts[hash % buckets] == 0) starts[hash % buckets] = i;
    chain.push_back((hash & ~1U) | (is_last ? 1U : 0U));
  }
  for (const std::uint64_t start : starts) out.u32(start);
  for (const std::uint64_t entry : chain) out.u32(entry);
  return out.out();
}

std::string sysv_hash_table(ElfWriter out, const std::vector<std::string>& names, bool wide) {
  const auto put = [&](std::uint64_t value) { wide ? out.word(value) : out.u32(value); };
  put(1);
  put(names.size());
  put(names.size() > 1 ? 1 : 0);
  put(0);
  for (std::uint64_t i = 1; i < names.size(); ++i) put(i + 1 < names.size() ? i + 1 : 0);
  return out.out();
}

std::string verneed_table(ElfWriter out, StringTable& strings, const std::vector<NeededVersions>& files) {
  for (const NeededVersions& file : files) {
    out.u16(1);
    out.u16(file.versions.size());
    out.u32(strings.add(file.file));
    out.u32(16);
    out.u32(&file == &files.back() ? 0 : 16 + 16 * file.versions.size());
    for (const NeededVersions::One& version : file.versions) {
      out.u32(sysv_hash_of(version.name));
      out.u16(version.weak ? 2 : 0);
      out.u16(version.index);
      out.u32(strings.add(version.name));
      out.u32(&version == &file.versions.back() ? 0 : 16);
    }
  }
  return out.out();
}

std::string verdef_table(ElfWriter out, StringTable& strings, const std::vector<std::string>& names) {
  for (std::uint64_t i = 0; i < names.size(); ++i) {
    out.u16(1);
    out.u16(i == 0 ? 1 : 0);
    out.u16(i + 1);
    out.u16(1);
    out.u32(sysv_hash_of(names[i]));
    out.u32(20);
    out.u32(i + 1 == names.size() ? 0 : 28);
    out.u32(strings.add(names[i]));
    out.u32(0);
  }
  return out.out();
}

std::string relr_table(ElfWriter out, const std::vector<std::uint64_t>& addresses) {
  const std::uint64_t word = out.word_size();
  const std::uint64_t bits = word * 8 - 1;
  for (std::size_t i = 0; i < addresses.size();) {
    if (addresses[i] % 2 != 0) throw Error("RELR cannot hold an odd address");
    out.word(addresses[i]);
    std::uint64_t base = addresses[i] + word;
    for (++i; i < addresses.size();) {
      std::uint64_t bitmap = 0;
      while (i < addresses.size() && (addresses[i] - base) % word == 0 && addresses[i] - base < bits * word) {
        bitmap |= 1ULL << (addresses[i++] - base) / word;
      }
      if (bitmap == 0) break;
      out.word(bitmap << 1 | 1);
      base += bits * word;
    }
  }
  while (out.size() < addresses.size() * word) out.word(1);
  return out.out();
}

}  // namespace wheelsmith::testing
