#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elf/edit.h"
#include "elf/elf_file.h"

namespace wheelsmith::elf {

// prove() of an edit that was just made, without a copy of the large parts that it does not touch.
std::vector<std::string> prove_edit(const ElfFile& original, const Edited& edited);

}  // namespace wheelsmith::elf
