#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elf/edit.h"
#include "elf/edit_versions.h"
#include "elf/elf_file.h"

// An edit as a list of tags, independent of their final location.

namespace wheelsmith::elf {

struct EditedTag {
  std::uint64_t tag = 0;
  std::uint64_t value = 0;
  std::optional<std::string> text;  // set for a new string, whose value is not known yet
};

struct EditedVersions {
  std::uint64_t offset = 0;  // of the field in the file
  std::string text;
  std::uint64_t hash_offset = 0;  // of the name's hash, 0 if there is none
};

struct TagEdit {
  std::vector<EditedTag> tags;  // all of them, without the DT_NULL
  std::vector<EditedVersions> versions;
  std::vector<std::uint64_t> kept, released;  // strings still referenced, and no longer referenced
  bool changed = false;
};

// Throws Error for invalid names, and if the loader would reject the result.
TagEdit edit_tags(const ElfFile& file, const VersionFields& versions, const Edit& edit);

// Whether the tag's value may be an offset into the dynamic strings: known tags that are, and unknown ones.
bool may_name_string(std::uint64_t tag);

}  // namespace wheelsmith::elf
