#include "rocm/filter_library.h"

// Some libraries are loaded by two names: by their SONAME, because others are linked with them, and without a version,
// by dlopen or LD_PRELOAD. In an install folder the second name is a link; a wheel would contain the library twice. ELF
// supports one library that stands for another: DT_FILTER. The loader searches the filtee first, so that a preloaded
// library precedes those whose functions it replaces; DT_NEEDED would put it after them.
//
//   ELF header, program headers, hash table, null symbol, strings    mapped read-only
//   dynamic section                                                  mapped writable: older loaders relocate it in
//   place
//
// There are no section headers: nothing uses them at run time.

#include <fmt/format.h>

#include <cstring>

#include "base/endian.h"
#include "base/error.h"
#include "base/text.h"
#include "elf/elf_file.h"

namespace wheelsmith::rocm {

namespace {

struct FileHeader {
  std::uint8_t ident[16];
  le16 type, machine;
  le32 version;
  le64 entry, program_headers, section_headers;
  le32 flags;
  le16 header_size, program_header_size, program_header_count, section_header_size, section_header_count, names;
};
struct ProgramHeader {
  le32 type, flags;
  le64 offset, address, physical, file_size, memory_size, align;
};
static_assert(sizeof(FileHeader) == 64 && sizeof(ProgramHeader) == 56);

enum : std::uint64_t {
  k_tag_null = 0,
  k_tag_hash = 4,
  k_tag_strings = 5,
  k_tag_symbols = 6,
  k_tag_strings_size = 10,
  k_tag_symbol_size = 11,
  k_tag_rpath = 15,
  k_tag_filter = 0x7fffffff,
};
constexpr std::uint64_t k_align = 0x10000;  // the largest page that these machines have
constexpr std::uint64_t k_symbol = 24;

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

ProgramHeader segment(std::uint32_t type, std::uint32_t flags, std::uint64_t offset, std::uint64_t address,
                      std::uint64_t size, std::uint64_t align) {
  ProgramHeader header{};
  header.type = type;
  header.flags = flags;
  header.offset = offset;
  header.address = address;
  header.physical = address;
  header.file_size = size;
  header.memory_size = size;
  header.align = align;
  return header;
}

}  // namespace

std::string filter_library(std::uint16_t machine, std::string_view target) {
  if (machine != elf::k_machine_x86_64 && machine != elf::k_machine_aarch64)
    throw Error(fmt::format("unsupported ELF machine {}", machine));
  if (target.empty() || target.find('/') != target.npos || target.find('\0') != target.npos)
    throw Error(fmt::format("{} is not a valid library name", printable(target)));

  constexpr std::string_view k_origin = "$ORIGIN";
  std::string strings(1, '\0');
  const std::uint64_t target_at = strings.size();
  strings.append(target).push_back('\0');
  const std::uint64_t origin_at = strings.size();
  strings.append(k_origin).push_back('\0');

  const std::uint64_t hash_at = sizeof(FileHeader) + 4 * sizeof(ProgramHeader);
  const std::uint64_t symbols_at = hash_at + 16;
  const std::uint64_t strings_at = symbols_at + k_symbol;
  const std::uint64_t dynamic_at = (strings_at + strings.size() + 7) / 8 * 8;
  const std::pair<std::uint64_t, std::uint64_t> tags[] = {
      {k_tag_filter, target_at},     {k_tag_rpath, origin_at},
      {k_tag_hash, hash_at},         {k_tag_strings, strings_at},
      {k_tag_symbols, symbols_at},   {k_tag_strings_size, strings.size()},
      {k_tag_symbol_size, k_symbol}, {k_tag_null, 0}};
  const std::uint64_t dynamic_size = std::size(tags) * 16;

  FileHeader header{};
  std::memcpy(header.ident, "\177ELF\2\1\1", 7);
  header.type = elf::k_type_dyn;
  header.machine = machine;
  header.version = 1;
  header.program_headers = sizeof(FileHeader);
  header.header_size = sizeof(FileHeader);
  header.program_header_size = sizeof(ProgramHeader);
  header.program_header_count = 4;
  header.section_header_size = 64;

  std::string file;
  append(file, header);
  append(file, segment(elf::k_segment_load, elf::k_readable, 0, 0, dynamic_at, k_align));
  const std::uint32_t writable = elf::k_readable | elf::k_writable;
  append(file, segment(elf::k_segment_load, writable, dynamic_at, k_align + dynamic_at, dynamic_size, k_align));
  append(file, segment(elf::k_segment_dynamic, writable, dynamic_at, k_align + dynamic_at, dynamic_size, 8));
  append(file, segment(elf::k_segment_gnu_stack, writable, 0, 0, 0, 16));
  for (const std::uint32_t word : {1U, 1U, 0U, 0U}) append(file, le32(word));  // one bucket, one chain, both empty
  file.append(k_symbol, '\0');
  file += strings;
  file.resize(dynamic_at, '\0');
  for (const auto& [tag, value] : tags) {
    append(file, le64(tag));
    append(file, le64(value));
  }
  return file;
}

}  // namespace wheelsmith::rocm
