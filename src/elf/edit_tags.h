#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elf/edit.h"
#include "elf/edit_versions.h"
#include "elf/elf_file.h"

// What an edit asks for as a list of tags, apart from where it will stand.

namespace wheelsmith::elf {

struct EditedTag {
  std::uint64_t tag = 0;
  std::uint64_t value = 0;
  std::optional<std::string> text;  // when its string is a new one; then the value is not known yet
};

struct EditedVersions {
  std::uint64_t offset = 0;  // of the field in the file
  std::string text;
  std::uint64_t hash_offset = 0;  // of the name's hash, 0 where there is none
};

struct TagEdit {
  std::vector<EditedTag> tags;  // all of them, without the DT_NULL
  std::vector<EditedVersions> versions;
  std::vector<std::uint64_t> kept, released;  // strings that somebody still names, that somebody named
  bool changed = false;
};

// Throws Error for names that cannot be, and where the loader would stop at the result.
TagEdit edit_tags(const ElfFile& file, const VersionFields& versions, const Edit& edit);

// Whether the tag's value may be an offset into the dynamic strings: known tags that are, and unknown ones.
bool may_name_string(std::uint64_t tag);

}  // namespace wheelsmith::elf
