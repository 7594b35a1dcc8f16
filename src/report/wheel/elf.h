#pragma once

#include <cstdint>
#include <string>
#include <vector>

// `elf edit` and `elf prove`.

namespace wheelsmith::report {

struct EditedFile {
  std::string path;
  std::string error;  // why it was not changed; "" if the edit succeeded
  bool changed = false;
  std::uint64_t old_size = 0, size = 0;
};
// Omits files with an error: those are reported as they occur.
std::string edited_files_text(const std::vector<EditedFile>& files);
std::string edited_files_json(const std::vector<EditedFile>& files);

std::string proof_text(const std::vector<std::string>& differences);
std::string proof_json(const std::vector<std::string>& differences);

}  // namespace wheelsmith::report
