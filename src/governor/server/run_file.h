#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

// What holds for one governed build, in a file that its shims and the governor read. It is a file and not something
// that the governor was told once, so that the next governor knows it too.

namespace wheelsmith::governor {

// How a shim finds it, in the environment. (Names that begin with WHEELSMITH_ are settings.)
inline constexpr const char* k_run_variable = "_WHEELSMITH_RUN";      // the run file
inline constexpr const char* k_shims_variable = "_WHEELSMITH_SHIMS";  // the folder of the shims, for the exec hook
inline constexpr const char* k_real_variable = "_WHEELSMITH_REAL";    // from the exec hook: the compiler that was meant
inline constexpr const char* k_grant_variable = "_WHEELSMITH_GRANT";  // the process that holds the grant above us
inline constexpr const char* k_passed_variable = "_WHEELSMITH_PASSED";  // let pass ungoverned: it asks something

struct RunFile {
  std::string id;
  std::string name{};                // for people: a step's id, a command
  unsigned jobs = 0;                 // the most compiles at once; 0: as many as cores
  unsigned cores = 0;                // 0: the machine's
  std::uint64_t memory = 0;          // the most for all its compiles; 0: as much as there is
  std::filesystem::path record;      // lines of JSON, one for each compile
  std::filesystem::path units;       // the folder of the memory model
  std::filesystem::path runtime;     // where the governor's lock and socket are
  std::filesystem::path program;     // what is started as governor; empty: shims start none
  std::filesystem::path versions{};  // where shims note what compilers say of themselves; empty: beside the shims
  std::filesystem::path cache{};     // the socket of the compile cache; empty: there is none

  void write(const std::filesystem::path& path) const;
  // Nothing when it is gone or broken.
  static std::optional<RunFile> read(const std::filesystem::path& path);
};

}  // namespace wheelsmith::governor
