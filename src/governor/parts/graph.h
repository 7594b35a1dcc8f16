#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"

// One GPU compile as a graph of commands: values, made by read_dry_run() (nvcc) and read_jobs() (clang).

namespace wheelsmith::governor {

enum class PartKind : std::uint8_t {
  preprocess,    // a source for one pass
  front,         // cudafe++: the host's text with the launches of kernels replaced
  device,        // cicc, or clang for one GPU: device text to PTX or to an object
  assemble,      // ptxas, or lld: to the code of one GPU
  bundle,        // fatbinary, clang-offload-bundler: all device code as one file
  host,          // the object
  dependencies,  // the list of headers, which nvcc writes by itself
};

// The stand-in for the folder of temporary files in argv: "\x1f/k.ptx".
inline constexpr std::string_view k_place = "\x1f/";

struct Part {
  PartKind kind = PartKind::host;
  std::string arch;  // "compute_90", "sm_90a", "gfx90a"; "" for the host
  std::vector<std::string> argv{};
  std::vector<std::string> then{};             // a second command, which follows at once: clang's linker of device code
  std::vector<std::string> reads{}, writes{};  // temporary files, by name
  std::string headers{};                       // the one of them that lists the files it read; "": none does
  std::string output{};                        // of `dependencies`: the file; of the last part: the result, as given
};

// A temporary file by our name and the one that the compiler would have used: messages show the latter.
struct PartFile {
  std::string name, original;
};

struct PartGraph {
  std::vector<Part> parts{};               // in the order in which the compiler runs them
  std::vector<std::string> environment{};  // NAME=value, for all commands
  std::vector<PartFile> files{};
  std::string messages{};  // what the compiler itself prints first
  std::string source;      // as given
  std::string archs;       // of all device parts as the compiler passes it to them: "800,900"; "" for clang

  [[nodiscard]] unsigned devices() const;
};

// A command with the folder of temporary files.
std::vector<std::string> argv_in(const std::vector<std::string>& words, std::string_view folder);

}  // namespace wheelsmith::governor

template <>
struct wheelsmith::EnumNames<wheelsmith::governor::PartKind> {
  static constexpr std::array list = {"preprocess", "front", "device", "assemble", "bundle", "host", "dependencies"};
};
