#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "governor/parts/graph.h"

namespace wheelsmith::governor {

// Why a compile cannot be taken apart.
struct Whole {
  std::string why;
};

inline constexpr std::size_t k_longest_dry_run = 4 << 20;

// The output of `nvcc --dryrun`.
std::variant<PartGraph, Whole> read_dry_run(std::string_view text);

}  // namespace wheelsmith::governor
