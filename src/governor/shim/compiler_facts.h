#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "governor/server/run_file.h"

// A compiler's answers to questions about itself, which the compile cache needs. Only src/governor includes this.

namespace wheelsmith::governor {

struct CompilerFacts {
  std::string identity;               // its version and target; "": it cannot be asked, so it is not cached
  std::vector<std::string> tools{};   // files that do the work (cc1plus, cicc)
  std::vector<std::string> search{};  // the include folders that it searches by itself

  // What `gcc -E -v` and `clang -E -v` print.
  static CompilerFacts from_verbose(std::string_view text);
  // What `nvcc --version` and `nvcc --dryrun` print.
  static CompilerFacts from_nvcc(std::string_view version, std::string_view dry_run);
};

// Asks `program`, and once for each state of its file: the answers are noted in the run's folder for them. `argv` may
// hold options that choose another target; `source` decides the language.
CompilerFacts compiler_facts(const std::string& shims, const RunFile& run, const std::string& program,
                             const std::vector<std::string>& argv, std::string_view source);

}  // namespace wheelsmith::governor
