#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Inside this module only: .ini files as Python's configparser reads them, without interpolation.

namespace wheelsmith::fetch {

struct IniEntry {
  std::string section;
  std::string key;    // lower case
  std::string value;  // lines of a long value joined with '\n'
  std::size_t line = 0;
};

// In the order written; for a repeated key the last one wins, where Python would fail. Throws Error "FILE:LINE: …".
std::vector<IniEntry> parse_ini(std::string_view text, std::string_view file_name);

}  // namespace wheelsmith::fetch
