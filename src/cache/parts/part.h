#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::cache {

// A part of a GPU compile whose result can be kept: a tool that turns one text into files (cicc, ptxas). As requested
// by a shim; every path is absolute in the shim's file system.
struct PartRequest {
  std::string program;
  std::vector<std::string> tools{};    // other files that decide the result (libdevice)
  std::vector<std::string> words{};    // its arguments; files by their roles
  std::string text;                    // the file that it reads
  std::vector<std::string> outputs{};  // the files that count
  std::vector<std::string> files{};    // all files that it may name in what it writes
  std::string archs;                   // "800,900", for the device's text; "" otherwise
  std::string id;                      // of the module
  std::vector<std::string> sources{};  // paths of the source, as lines in generated texts contain them
  std::vector<std::string> maps{};     // the compile's -ffile-prefix-map options
  bool device_text = false;            // a preprocessed text; otherwise it counts as it is
  bool positions = false;              // lines count

  [[nodiscard]] std::string to_bytes() const;
  static PartRequest from_bytes(std::string_view bytes);  // throws Error
  static bool is_request(std::string_view bytes);
};

struct PartFiles {
  std::vector<std::string> outputs{};  // contents
  std::string output, errors;          // what it printed
  std::uint64_t milliseconds = 0;      // CPU time that it took; 0: unknown

  [[nodiscard]] std::string to_bytes() const;
  static PartFiles from_bytes(std::string_view bytes);  // throws Error
};

}  // namespace wheelsmith::cache
