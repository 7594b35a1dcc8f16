#pragma once

#include <optional>
#include <string>

#include "elf/elf_file.h"

namespace wheelsmith::elf {

// Why a file that parses cannot be edited; nothing if it can. A sentence without a full stop.
std::optional<std::string> edit_refusal(const ElfFile& file);

}  // namespace wheelsmith::elf
