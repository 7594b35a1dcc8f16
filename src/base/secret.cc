#include "base/secret.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace wheelsmith {

bool names_a_secret(std::string_view variable) {
  // Matches whole words, so that KEYBOARD, MONKEY and PATH do not match.
  static constexpr std::array<std::string_view, 12> words = {"token",      "secret",     "password",    "passwd",
                                                             "passphrase", "credential", "credentials", "key",
                                                             "apikey",     "pat",        "auth",        "pass"};
  const std::string name = to_lower(variable);
  const std::vector<std::string_view> parts = split(name, '_');
  return std::ranges::any_of(parts,
                             [](std::string_view part) {
                               return is_one_of(part, words) || part.ends_with("password") ||
                                      part.ends_with("passwd") || part.ends_with("pwd") || part == "sshpass";
                             }) &&
         name != "pwd" && name != "oldpwd";
}

}  // namespace wheelsmith
