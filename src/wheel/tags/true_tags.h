#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pep/wheel_name.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

struct TrueTags {
  std::string python, abi;  // compressed sets: "cp311" and "cp311", "cp39" and "abi3", "py3" and "none"
  bool pure = false;        // no file for this machine: the platform is "any"
  std::string why;          // a sentence: the file that decided
};

// The Python and ABI tags that the binaries deserve, whatever the wheel's own name claims. `files` are those of a Scan
// or an Inspection; `building_python` is "cp311", "cp313t"; the claim counts only where binaries leave a choice.
TrueTags true_tags(const std::vector<ElfFacts>& files, std::string_view building_python, const pep::WheelName& claimed);

}  // namespace wheelsmith::wheel
