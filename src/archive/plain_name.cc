#include <fmt/format.h>

#include "archive/archive.h"
#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::archive {

namespace {

constexpr std::size_t k_longest_name = 4096;
constexpr std::size_t k_deepest = 128;

}  // namespace

std::string plain_name(std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    throw Error(fmt::format("{}: a member name {}", printable(name.substr(0, 200)), why));
  };
  if (name.starts_with('/')) refuse("must not be absolute");
  if (name.find('\0') != std::string_view::npos) refuse("must not contain NUL");
  if (name.size() > k_longest_name) refuse("must not be longer than 4096 bytes");
  std::string plain;
  std::size_t depth = 0;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") refuse("must not contain \"..\"");
    if (++depth > k_deepest) refuse("must not be deeper than 128 folders");
    if (!plain.empty()) plain += '/';
    plain += part;
  }
  return plain;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && if_valid([&] { return plain_name(name); }) == name;
}

}  // namespace wheelsmith::archive
