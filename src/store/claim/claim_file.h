#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sys/shared_folder.h"

namespace wheelsmith::store {

// The content of a claim file: the holder, and a counter that advances while the holder lives. Its size does not
// change while it is held, since it is overwritten in place.
struct ClaimText {
  bool held = true;
  std::string token;                // 32 hex digits, different for each claim
  std::uint64_t beat = 0;           // advances
  std::uint64_t interval = 10'000;  // milliseconds between beats
  sys::ProcessIdentity holder;

  bool operator==(const ClaimText&) const = default;
};

std::string to_text(const ClaimText& claim);
// Empty for an incomplete or invalid claim.
std::optional<ClaimText> parse_claim(std::string_view text);

}  // namespace wheelsmith::store
