#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "elf/elf_file.h"

namespace wheelsmith::elf {

// Layout problems that no linker produces: traces of broken edits (program headers outside all segments, segments whose
// offset and address disagree, overlaps, read-only data moved after the writable data, dangling dynamic tags),
// executable stack, text relocations. `subject` is the file's name for the findings.
std::vector<Finding> check_layout(const ElfFile& file, const std::string& subject);

}  // namespace wheelsmith::elf
