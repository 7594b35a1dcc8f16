#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::bundle {

// data/sdk_table.toml as values: which files of an SDK belong to which library.
struct SdkTable {
  struct Library {
    std::vector<std::string> names, also, data;
  };
  std::vector<std::string> sdk_folders, distributions, never;
  std::string init_module, init_list;
  std::vector<Library> libraries;

  [[nodiscard]] bool is_sdk_folder(std::string_view name) const;
  [[nodiscard]] bool is_inside(std::string_view distribution) const;  // a requirement that a standalone wheel drops
  [[nodiscard]] bool is_never(std::string_view library) const;
};

// Throws Error that names the place and the problem.
SdkTable read_sdk_table(std::string_view toml, std::string_view file_name);
// The embedded one.
const SdkTable& sdk_table();

}  // namespace wheelsmith::bundle
