#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

// The parameters of one governed build, in a file that its shims and the governor read. A file, rather than a message,
// so that the next governor can read it too.

namespace wheelsmith::governor {

// How a shim finds it, in the environment. (Names that begin with WHEELSMITH_ are settings.)
inline constexpr const char* k_run_variable = "_WHEELSMITH_RUN";        // the run file
inline constexpr const char* k_shims_variable = "_WHEELSMITH_SHIMS";    // the folder of the shims, for the exec hook
inline constexpr const char* k_real_variable = "_WHEELSMITH_REAL";      // from the exec hook: the intended compiler
inline constexpr const char* k_grant_variable = "_WHEELSMITH_GRANT";    // the parent process that holds the grant
inline constexpr const char* k_passed_variable = "_WHEELSMITH_PASSED";  // passed ungoverned: a query

struct RunFile {
  std::string id;
  std::string name{};                // for display: a step's id, a command
  unsigned jobs = 0;                 // maximum concurrent compiles; 0: one per core
  unsigned cores = 0;                // 0: the machine's
  std::uint64_t memory = 0;          // maximum for all its compiles; 0: all memory
  std::filesystem::path record;      // lines of JSON, one per compile
  std::filesystem::path units;       // the folder of the memory model
  std::filesystem::path runtime;     // folder of the governor's lock and socket
  std::filesystem::path program;     // the governor's program; empty: shims start none
  std::filesystem::path versions{};  // where shims cache compilers' answers; empty: beside the shims
  std::filesystem::path cache{};     // the compile cache's socket; empty: no cache
  // With several nodes: where shims leave requests for compiles on others, in the build's tree; empty: there is one.
  std::filesystem::path exchange{};
  bool private_tmp = false;  // /tmp is a folder of the tree, too
  bool parts = false;        // GPU compiles run in parts

  void write(const std::filesystem::path& path) const;
  // Nothing when it is missing or invalid.
  static std::optional<RunFile> read(const std::filesystem::path& path);
};

}  // namespace wheelsmith::governor
