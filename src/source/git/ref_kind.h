#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/enum_names.h"

namespace wheelsmith::source {

// The kind of a ref's name.
enum class RefKind : std::uint8_t { commit, tag, branch };

}  // namespace wheelsmith::source

template <>
struct wheelsmith::EnumNames<wheelsmith::source::RefKind> {
  static constexpr std::array list = {"commit", "tag", "branch"};
};

namespace wheelsmith::source {

constexpr std::string_view to_string(RefKind kind) { return enum_name(kind); }

}  // namespace wheelsmith::source
