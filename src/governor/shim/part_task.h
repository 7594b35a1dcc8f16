#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/compile.h"
#include "governor/parts/graph.h"
#include "governor/record.h"
#include "governor/server/run_file.h"

// One part of a compile in parts, in a process of its own. Only src/governor includes this.

namespace wheelsmith::governor {

// What all parts of one compile have in common.
struct PartSite {
  std::string shims, run_file;
  const RunFile& run;
  std::string folder;                    // of temporary files
  std::vector<std::string> environment;  // for the commands
  std::string name, output;              // of the compile, for records
  std::string token;                     // of the compile, for the governor
  std::vector<std::string> digests;      // of its sources
  std::string archs;                     // "800,900"
  bool positions = false;                // a result contains lines of the source
  std::vector<std::string> maps{};       // the arguments with -ffile-prefix-map options
  // HIP: the whole compile as the cache is asked for it. The code of one GPU is asked for by a similar command.
  std::optional<cache::CompileRequest> offload{};
};

struct PartResult {
  int code = 0, signal = 0;
  std::string output, errors;
  CacheUse cache = CacheUse::none;
  std::uint64_t cpu_ms = 0, saved_ms = 0;  // CPU time that it took; that a hit saved
  bool ungoverned = false;
  std::string why;  // of the cache

  [[nodiscard]] std::string to_bytes() const;
  static PartResult from_bytes(std::string_view bytes);  // throws Error
};

// Waits for a grant, runs the part, and runs it again where it was killed for lack of memory. In the part's process.
PartResult run_part(const Part& part, const PartSite& site);

// "cicc compute_90".
std::string part_label(const Part& part);
// The identity of a part in the memory model: the same in other folders and beside other architectures.
std::string part_unit(const Part& part, const std::vector<std::string>& digests);

// NAME=value entries; later ones replace earlier ones.
std::vector<std::string> with_variables(std::vector<std::string> environment, const std::vector<std::string>& more);

}  // namespace wheelsmith::governor
