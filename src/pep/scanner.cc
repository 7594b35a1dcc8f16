#include "pep/scanner.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::pep {

std::string quoted_text(std::string_view text) {
  constexpr std::size_t k_longest = 80;
  if (text.size() <= k_longest) return '"' + printable(text) + '"';
  return '"' + printable(text.substr(0, k_longest)) + "…\"";
}

void Scanner::fail(std::string_view why, std::size_t at) const {
  throw Error(fmt::format("{} is not a valid {}: {} (column {})", quoted_text(m_text), m_kind, why, at + 1));
}

}  // namespace wheelsmith::pep
