#pragma once

#include "governor/cache/cache.h"

namespace wheelsmith::governor {

// cached_command() for nvcc.
std::optional<CachedCommand> nvcc_command(const CompilerCommand& command, const std::vector<std::string>& argv,
                                          const std::vector<std::string>& environment, const std::string& base,
                                          const ReadFile& read_file);

}  // namespace wheelsmith::governor
