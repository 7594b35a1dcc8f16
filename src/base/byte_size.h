#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wheelsmith {

// "100MB", "1.5 GB", "2GiB", "250000000": bytes, in powers of 1000 unless the unit has an i. Nothing for any other
// text.
std::optional<std::uint64_t> parse_byte_size(std::string_view text);

}  // namespace wheelsmith
