#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "governor/model/unit.h"

// The compile cache behind the shim: ccache, which knows what a compile depends on. The essay is in cache.cc.

namespace wheelsmith::governor {

struct CacheOptions {
  std::filesystem::path program{};  // ccache; empty: no cache
  std::filesystem::path folder{};   // where objects are kept
  std::filesystem::path base{};     // paths below it count as the same in every folder
  std::uint64_t size = 0;           // bytes; 0: no bound
  std::string compression = "1";    // a level, or "off"
  std::string remote{};             // storage that several machines share; may hold a password
};

// Throws Error for what ccache could not use.
void check_cache_remote(std::string_view url);
void check_cache_compression(std::string_view text);

// ccache's configuration. `asker` is the program, in PATH, that ccache calls instead of a compiler.
std::string cache_config(const CacheOptions& options, std::string_view asker);

// A compile as ccache is told it: to find its key, and what a hit has to bring back.
struct CachedCommand {
  std::vector<std::string> argv;  // without the compiler
  // True: the compiler is called as the build called it, whatever ccache was told.
  bool exact = false;
  // What it depends on is told by the compiler (-MD), not by a preprocessor's output.
  bool by_dependencies = false;
  std::string dependencies;   // the file for that, where the build asked for none
  std::string host_compiler;  // nvcc's, where it is named
  std::string more;           // what else decides the result
};

// Nothing for what is not worth it or not safe. `environment` is as execve takes it.
std::optional<CachedCommand> cached_command(const CompilerCommand& command, const std::vector<std::string>& argv,
                                            const std::vector<std::string>& environment,
                                            const std::filesystem::path& base, const ReadFile& read_file);

// What ccache notes of one call (CCACHE_STATSLOG).
struct CacheOutcome {
  bool miss = false, remote = false, remote_failed = false;
};
CacheOutcome read_cache_log(std::string_view text);

}  // namespace wheelsmith::governor
