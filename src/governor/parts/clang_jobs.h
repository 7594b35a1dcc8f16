#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "governor/parts/dry_run.h"
#include "governor/parts/graph.h"

namespace wheelsmith::governor {

// The output of `clang -###` for a HIP compile.
std::variant<PartGraph, Whole> read_clang_jobs(std::string_view text);

// The command that compiles only the code for one GPU, by public options: what the compile cache is asked for. Nothing
// for a command with options that this cannot be said of.
std::optional<std::vector<std::string>> offload_request(const std::vector<std::string>& argv, const std::string& arch,
                                                        const std::string& output, const std::string& headers);

// Whether a command names the ID of its compile, or how to choose it.
bool chooses_compile_id(const std::vector<std::string>& argv);

}  // namespace wheelsmith::governor
