#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pep/wheel_name.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

struct TrueTags {
  std::string python, abi;  // compressed sets: "cp311" and "cp311", "cp39" and "abi3", "py3" and "none"
  bool pure = false;        // no file for this machine; the platform is "any"
  std::string why;          // a sentence that names the deciding file
};

// The Python and ABI tags that the binaries qualify for, independent of the wheel's name. `files` are those of a Scan
// or an Inspection; `building_python` is "cp311", "cp313t"; the wheel's tag counts only where binaries leave a choice.
TrueTags true_tags(const std::vector<ElfFacts>& files, std::string_view building_python, const pep::WheelName& claimed);

}  // namespace wheelsmith::wheel
