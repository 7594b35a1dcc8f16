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

bool looks_secret(std::string_view value) {
  for (std::size_t at = value.find("://"); at != std::string_view::npos; at = value.find("://", at + 3)) {
    const std::string_view host = value.substr(at + 3, value.find_first_of("/?# \t\n", at + 3) - at - 3);
    if (host.find('@') != std::string_view::npos) return true;
  }
  constexpr std::string_view k_marks[] = {"-----BEGIN ", "ghp_",  "gho_", "ghs_", "github_pat_", "glpat-",
                                          "hf_",         "pypi-", "sk-",  "xox",  "AKIA"};
  return std::ranges::any_of(
      k_marks, [&](std::string_view mark) { return value.starts_with(mark) && value.size() >= mark.size() + 12; });
}

}  // namespace wheelsmith
