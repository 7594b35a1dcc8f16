#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/toolchain.h"

namespace wheelsmith::toolchain {

// An interpreter by version in any common spelling: "", "3", "3.12", "3.12.1", "3.13t", "cp312", "cp313t",
// "python3.12", "pp310", "pypy3.10".
struct WantedPython {
  bool pypy = false;
  bool free_threaded = false;
  std::vector<std::uint64_t> version;  // as many numbers as given

  static WantedPython parse(std::string_view text);  // throws Error
  [[nodiscard]] bool fits(const Python& python) const;
  // File names to try, most specific first.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string words() const;        // "3.13t"
  [[nodiscard]] std::string name_suffix() const;  // "3.13t": without the patch version
};

}  // namespace wheelsmith::toolchain
