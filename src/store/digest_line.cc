#include <fmt/format.h>

#include "base/hash.h"
#include "store/impl.h"

// Otherwise a disk error in one digit of a version or hash in a lock would change what is built.

namespace wheelsmith::store {

namespace {

constexpr std::string_view k_digest_title = "sha256 ";
constexpr std::size_t k_digest_digits = 64;
constexpr std::size_t k_line_digits = 16;

}  // namespace

std::string with_digest(std::string_view text) {
  return fmt::format("{}{}\n{}", k_digest_title, to_hex(sha256(Bytes(text))), text);
}

std::optional<std::string> without_digest(std::string_view file) {
  const std::size_t head = k_digest_title.size() + k_digest_digits;
  if (!file.starts_with(k_digest_title) || file.size() <= head || file[head] != '\n') return std::nullopt;
  const std::string_view text = file.substr(head + 1);
  if (file.substr(k_digest_title.size(), k_digest_digits) != to_hex(sha256(Bytes(text)))) return std::nullopt;
  return std::string(text);
}

std::string history_line(std::string_view json) {
  return fmt::format("{} {}\n", to_hex(sha256(Bytes(json))).substr(0, k_line_digits), json);
}

std::optional<std::string_view> history_text(std::string_view line) {
  if (line.starts_with('{')) return line;
  if (line.size() <= k_line_digits || line[k_line_digits] != ' ') return std::nullopt;
  const std::string_view json = line.substr(k_line_digits + 1);
  if (to_hex(sha256(Bytes(json))).substr(0, k_line_digits) != line.substr(0, k_line_digits)) return std::nullopt;
  return json;
}

}  // namespace wheelsmith::store
