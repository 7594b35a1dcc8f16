#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The tables inside an ELF file that hold no addresses, as bytes: what ElfBuilder puts together.

namespace wheelsmith::testing {

// Appends integers in the byte order and word size of the file.
class ElfWriter {
 public:
  ElfWriter(bool is_64bit, bool big_endian) : m_is_64bit(is_64bit), m_big_endian(big_endian) {}

  void u8(std::uint64_t value) { number(value, 1); }
  void u16(std::uint64_t value) { number(value, 2); }
  void u32(std::uint64_t value) { number(value, 4); }
  void word(std::uint64_t value) { number(value, m_is_64bit ? 8 : 4); }
  void bytes(std::string_view bytes) { m_out += bytes; }
  void pad_to(std::uint64_t size) { m_out.resize(size > m_out.size() ? size : m_out.size()); }
  void align(std::uint64_t align) { pad_to((m_out.size() + align - 1) / align * align); }

  [[nodiscard]] std::uint64_t word_size() const { return m_is_64bit ? 8 : 4; }
  [[nodiscard]] bool is_64bit() const { return m_is_64bit; }
  [[nodiscard]] ElfWriter empty() const { return {m_is_64bit, m_big_endian}; }
  [[nodiscard]] const std::string& out() const { return m_out; }
  [[nodiscard]] std::uint64_t size() const { return m_out.size(); }

 private:
  void number(std::uint64_t value, int size);

  bool m_is_64bit;
  bool m_big_endian;
  std::string m_out;
};

// Strings, each stored once, as offsets.
class StringTable {
 public:
  std::uint64_t add(std::string_view text);
  [[nodiscard]] const std::string& out() const { return m_out; }

 private:
  std::string m_out = std::string(1, '\0');
  std::map<std::string, std::uint64_t, std::less<>> m_known;
};

std::uint32_t gnu_hash_of(std::string_view name);
std::uint32_t sysv_hash_of(std::string_view name);

// DT_GNU_HASH for the symbols from `first` on, which must already be sorted by hash modulo buckets.
std::string gnu_hash_table(ElfWriter out, const std::vector<std::string>& names, std::uint64_t first,
                           std::uint32_t buckets);
std::string sysv_hash_table(ElfWriter out, const std::vector<std::string>& names, bool wide);

struct NeededVersions {
  std::string file;
  struct One {
    std::string name;
    std::uint16_t index = 0;
    bool weak = false;
  };
  std::vector<One> versions;
};
std::string verneed_table(ElfWriter out, StringTable& strings, const std::vector<NeededVersions>& files);
// The first name is the file's own (base); the index of a name is its place + 1.
std::string verdef_table(ElfWriter out, StringTable& strings, const std::vector<std::string>& names);

// Sorted, even addresses as RELR words, padded with empty bitmaps to one word per address.
std::string relr_table(ElfWriter out, const std::vector<std::uint64_t>& addresses);

}  // namespace wheelsmith::testing
