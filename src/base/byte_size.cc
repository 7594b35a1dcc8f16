#include "base/byte_size.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include "base/text.h"

namespace wheelsmith {

namespace {

// 0 for an unknown unit.
double bytes_per(std::string_view unit) {
  if (unit.empty() || unit == "b") return 1;
  if (unit == "k" || unit == "kb") return 1e3;
  if (unit == "m" || unit == "mb") return 1e6;
  if (unit == "g" || unit == "gb") return 1e9;
  if (unit == "t" || unit == "tb") return 1e12;
  if (unit == "kib") return 1024.0;
  if (unit == "mib") return 1024.0 * 1024;
  if (unit == "gib") return 1024.0 * 1024 * 1024;
  return 0;
}

}  // namespace

std::optional<std::uint64_t> parse_byte_size(std::string_view text) {
  constexpr double k_most = 1e18;
  const std::string lower = to_lower(trim(text));
  const std::size_t unit_at = lower.find_first_not_of("0123456789.");
  const std::string_view unit = unit_at == lower.npos ? "" : trim(std::string_view(lower).substr(unit_at));
  const std::string digits = lower.substr(0, unit_at);
  const double factor = bytes_per(unit);
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  if (factor == 0 || digits.empty() || *end != '\0' || number * factor > k_most) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(number * factor));
}

}  // namespace wheelsmith
