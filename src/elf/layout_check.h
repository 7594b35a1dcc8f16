#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "elf/elf_file.h"

namespace wheelsmith::elf {

// What is wrong with the file's layout, beyond what any linker writes: traces of broken edits (program headers that no
// segment covers, segments whose offset and address disagree, overlaps, read-only data moved behind the writable data,
// dynamic tags that point nowhere), executable stack, text relocations. `subject` is the file's name for the findings.
std::vector<Finding> check_layout(const ElfFile& file, const std::string& subject);

}  // namespace wheelsmith::elf
