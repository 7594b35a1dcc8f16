#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "governor/model/node_rooms.h"

// How a build's compiles run on other nodes, for the governor: a file beside the run file that no sandboxed process
// sees. What foreign code can choose is only the request, and that is read inside the sandbox.

namespace wheelsmith::governor {

struct NodesFile {
  std::vector<NodeRoom> nodes;           // without the one that the build runs on
  std::string launcher;                  // srun's path
  std::vector<std::string> environment;  // of srun: "NAME=value"
  std::vector<std::string> command;      // on the node; the request's path follows
  std::filesystem::path input{};         // its standard input, the sandbox's policy; empty: none

  void write(const std::filesystem::path& path) const;
  // Nothing when it is missing or invalid.
  static std::optional<NodesFile> read(const std::filesystem::path& path);
};
std::filesystem::path nodes_file_of(const std::filesystem::path& run_file);

}  // namespace wheelsmith::governor
