#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::cache {

// The inputs of one compile of a unit.
struct Variant {
  std::vector<std::string> files{};    // all files read, the source first; mapped names
  std::vector<std::string> digests{};  // of each, 32 bytes
  std::vector<std::string> names{};    // searched for in the include folders
  std::string search;                  // search_state() of these names
  std::vector<std::string> beside{};   // searched for beside a file that was read: '+' or '-' (missing) and mapped name
  std::string result;                  // the key of the result

  friend bool operator==(const Variant&, const Variant&) = default;
};

// All recorded compiles of a unit (a command line and a source), latest first.
struct Unit {
  std::vector<Variant> variants{};
  void add(Variant variant);

  [[nodiscard]] std::string to_bytes() const;
  static Unit from_bytes(std::string_view bytes);  // throws Error
};

// The output of a compile.
struct Result {
  std::string object, output, errors;  // the two texts with mapped names
  std::uint64_t milliseconds = 0;      // CPU time of the compile; 0: unknown

  [[nodiscard]] std::string to_bytes() const;
  static Result from_bytes(std::string_view bytes);  // throws Error
};

// A stored entry: compressed, with a digest, and bound to its key. `level` 0: not compressed.
std::string pack_entry(std::string_view key, std::string_view content, int level);
// Nothing for bytes that are damaged or were stored under another key. At most `limit` bytes.
std::optional<std::string> unpack_entry(std::string_view key, std::string_view bytes, std::uint64_t limit);

}  // namespace wheelsmith::cache
