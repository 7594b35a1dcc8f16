#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/version.h"

namespace wheelsmith::pep {

struct Specifier {
  std::string op;       // "==", "!=", "<=", ">=", "<", ">", "~=", "==="
  std::string version;  // "1.2", "1.2.*"
  // Plain containment: a pre-release is contained wherever its place in the order is. Skipping pre-releases unless
  // requested is a policy of the caller, not a property of the set.
  [[nodiscard]] bool contains(const Version& candidate) const;
  friend bool operator==(const Specifier&, const Specifier&) = default;
};

// Nothing, or why the text is not a valid version for that operator ("1.2.*" is valid for "==", but not for ">=").
std::optional<std::string> specifier_problem(std::string_view op, std::string_view version);

// ">=3.9,!=3.10.1". Throws Error if it is invalid; an empty text is an empty set, which contains every version.
std::vector<Specifier> parse_specifiers(std::string_view text);
std::optional<std::vector<Specifier>> try_parse_specifiers(std::string_view text);
// Whether all of them contain the version.
bool contains(const std::vector<Specifier>& specifiers, const Version& version);

// A dependency by PEP 508: name [extras] (specifiers | @ url) ; marker.
struct Requirement {
  std::string name;
  std::vector<std::string> extras;
  std::vector<Specifier> specifiers;
  std::string url;
  std::string marker;  // as written; its grammar has been checked

  // Throws Error that names the place of the first mistake.
  static Requirement parse(std::string_view text);
  static std::optional<Requirement> try_parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// A project's name as PEP 508 allows it: letters, digits, "-", "_" and ".", the first and last a letter or digit.
bool is_valid_name(std::string_view name);

}  // namespace wheelsmith::pep
