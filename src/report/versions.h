#pragma once

#include <map>
#include <string>

#include "wheel/read/elf_facts.h"

namespace wheelsmith::report {

// The highest version of each family that the file needs: {"GLIBC": "2.28", "GLIBCXX": "3.4.22"}. Names without a
// number ("GLIBC_PRIVATE") are ignored.
std::map<std::string, std::string> highest_versions(const wheel::ElfFacts& file);

// Compares "2.9" and "2.17" number by number.
bool is_lower_version(std::string_view a, std::string_view b);

}  // namespace wheelsmith::report
