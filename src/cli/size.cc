#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "cli/command.h"

namespace wheelsmith::cli {

std::uint64_t parse_size(const std::string& option, const std::string& text) {
  const std::string lower = to_lower(trim(text));
  const std::size_t unit_at = lower.find_first_not_of("0123456789.");
  const std::string_view unit = unit_at == lower.npos ? "" : trim(std::string_view(lower).substr(unit_at));
  double factor = 0;
  if (unit.empty() || unit == "b") factor = 1;
  if (unit == "k" || unit == "kb") factor = 1e3;
  if (unit == "m" || unit == "mb") factor = 1e6;
  if (unit == "g" || unit == "gb") factor = 1e9;
  if (unit == "t" || unit == "tb") factor = 1e12;
  if (unit == "kib") factor = 1024.0;
  if (unit == "mib") factor = 1024.0 * 1024;
  if (unit == "gib") factor = 1024.0 * 1024 * 1024;
  char* end = nullptr;
  const std::string digits = lower.substr(0, unit_at);
  const double number = std::strtod(digits.c_str(), &end);
  if (factor == 0 || digits.empty() || *end != '\0' || number * factor > 1e18) {
    throw UsageError(fmt::format("{} {} is no size; write it like 100MB or 1.5GB", option, printable(text)));
  }
  return static_cast<std::uint64_t>(std::llround(number * factor));
}

}  // namespace wheelsmith::cli
