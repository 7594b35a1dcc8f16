#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "elf/elf_file.h"

namespace wheelsmith::elf {

// Where in the file the version tables name strings: what an edit must change, and what it must not tread on.
struct VersionFields {
  struct Field {
    std::uint64_t offset = 0;  // in the file: a number of 4 bytes
    std::uint64_t string = 0;  // its value, an offset into the dynamic strings
  };
  std::vector<Field> need_files;     // the files of which versions are needed
  std::vector<std::uint64_t> names;  // all other strings that the tables name
  std::optional<Field> base_name;    // the file's own name among the versions it defines
  std::uint64_t base_hash = 0;       // offset in the file of that name's hash
};

// Stops where a chain is broken; the file's problems tell of it.
VersionFields version_fields(const ElfFile& file);

// The hash of names in version tables (and DT_HASH).
std::uint32_t sysv_hash(std::string_view name);

}  // namespace wheelsmith::elf
