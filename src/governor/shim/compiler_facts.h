#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "governor/server/run_file.h"

// A compiler's self-description, which the compile cache needs. Only src/governor includes this.

namespace wheelsmith::governor {

struct CompilerFacts {
  std::string identity;               // its version and target; "": unknown, so its compiles are not cached
  std::vector<std::string> tools{};   // files that do the work (cc1plus, cicc)
  std::vector<std::string> search{};  // its built-in include folders

  // Parses the output of `gcc -E -v` and `clang -E -v`.
  static CompilerFacts from_verbose(std::string_view text);
  // Parses the output of `nvcc --version` and `nvcc --dryrun`.
  static CompilerFacts from_nvcc(std::string_view version, std::string_view dry_run);
};

// Whether a compile cache runs under this name: a link to one, or a script that calls one.
bool is_compile_cache(const std::string& program);

// Queries `program`, once per state of its file: the run's folder caches the answers. `argv` may contain options that
// select another target; `source` decides the language.
CompilerFacts compiler_facts(const std::string& shims, const RunFile& run, const std::string& program,
                             const std::vector<std::string>& argv, std::string_view source);

}  // namespace wheelsmith::governor
