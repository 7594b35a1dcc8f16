#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/process/foreground.h"

// A compile on another node, as its shim and that node see it. Only src/governor includes this.

namespace wheelsmith::governor {

// What is to run: a file that the shim writes into the build's tree.
struct NodeRequest {
  std::string program, folder;
  std::string digest;  // of the compiler's file: another compiler would make other objects, and the cache keeps them
  std::vector<std::string> argv, environment;
  bool one_stream = false;  // output and errors go to one place, in order
  unsigned umask = 022;

  void write(const std::filesystem::path& path) const;  // throws Error
  // Nothing for a missing or incomplete file.
  static std::optional<NodeRequest> read(const std::filesystem::path& path);
  static std::optional<NodeRequest> parse(std::string_view text);
};

// How it ended: a file beside it. There is none if the node failed.
struct NodeResult {
  sys::ForegroundExit exit;
  double seconds = 0;
  std::string output, errors;
  std::string unfit{};  // why the node cannot run it; then nothing ran

  void write(const std::filesystem::path& path) const;
  static std::optional<NodeResult> read(const std::filesystem::path& path);
  static std::optional<NodeResult> parse(std::string_view text);
};
std::filesystem::path result_of(const std::filesystem::path& request);
std::string program_digest(const std::string& program);

}  // namespace wheelsmith::governor
