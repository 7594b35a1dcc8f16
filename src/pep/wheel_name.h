#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"

namespace wheelsmith::pep {

// One compatibility tag, "cp311-cp311-manylinux_2_28_x86_64".
struct Tag {
  std::string python, abi, platform;

  // Throws Error unless it has three parts.
  static Tag parse(std::string_view text);
  // All tags of a compressed tag set ("py2.py3-none-any" is two). Throws if there would be more than 10,000.
  static std::vector<Tag> expand(std::string_view text);
  static std::optional<std::vector<Tag>> try_expand(std::string_view text);
  [[nodiscard]] std::string to_string() const;
  friend auto operator<=>(const Tag&, const Tag&) = default;
};

// The parts of a wheel's file name: {name}-{version}(-{build})?-{python}-{abi}-{platform}(-{label})?.whl
struct WheelName {
  std::string name;                   // as written
  std::string version;                // as written
  std::string build;                  // "" for none
  std::string python, abi, platform;  // compressed tag sets, as written
  std::string label;                  // variant label (PEP 825), "" for none

  // From a base name. Throws Error that names the invalid part.
  static WheelName parse(std::string_view file_name);
  static std::optional<WheelName> try_parse(std::string_view file_name);
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] std::vector<Tag> tags() const;
  [[nodiscard]] std::vector<std::string> platforms() const;
  friend bool operator==(const WheelName&, const WheelName&) = default;
};

// Findings for names that parse but are not valid: not a PEP 440 version, invalid characters, non-normalised spellings,
// tag sets with empty, repeated or unsorted parts, malformed labels.
std::vector<Finding> check_wheel_name(const WheelName& name, const std::string& subject);

// Lower case, runs of "-", "_" and "." become one "-" (PEP 503).
std::string normalized_name(std::string_view name);
// Whether both names are of the same project.
bool same_name(std::string_view a, std::string_view b);
// The normal form with "_" for "-", as in the names of wheels and .dist-info folders.
std::string escaped_name(std::string_view name);

}  // namespace wheelsmith::pep
