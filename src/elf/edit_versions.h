#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "elf/elf_file.h"

namespace wheelsmith::elf {

// Where the version tables reference strings: what an edit must change, and what it must not overwrite.
struct VersionFields {
  struct Field {
    std::uint64_t offset = 0;  // in the file: a number of 4 bytes
    std::uint64_t string = 0;  // its value, an offset into the dynamic strings
  };
  std::vector<Field> need_files;     // the libraries whose versions are needed
  std::vector<std::uint64_t> names;  // all other strings that the tables reference
  std::optional<Field> base_name;    // the soname among the version definitions
  std::uint64_t base_hash = 0;       // offset in the file of that name's hash
};

// Stops where a chain is broken; `problems` reports it.
VersionFields version_fields(const ElfFile& file);

// The hash of names in version tables (and DT_HASH).
std::uint32_t sysv_hash(std::string_view name);

}  // namespace wheelsmith::elf
