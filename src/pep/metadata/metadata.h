#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/finding.h"

namespace wheelsmith::pep {

// The header block of METADATA or WHEEL: RFC 822 fields with continuation lines, then a body.
struct Headers {
  std::vector<std::pair<std::string, std::string>> fields;  // in order, names as written
  std::string body;
  bool has_byte_order_mark = false;

  // As Python's email parser reads a well-formed file: a value's continuation lines are kept with their indentation,
  // joined by "\n"; the body begins behind the first empty line. Where that parser would silently take a malformed
  // line and all that follows for the body, this one throws Error with the line number.
  static Headers parse(Bytes text);
  // The first field of that name (any case), or "".
  [[nodiscard]] std::string get(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
};

// Core metadata (PEP 241 to 643, Metadata-Version 1.0 to 2.5). Findings for what is missing, malformed or not allowed
// in its version; `subject` is the member's name.
std::vector<Finding> check_metadata(const Headers& metadata, const std::string& subject);

// The WHEEL file. Findings for a missing or unknown Wheel-Version, bad Root-Is-Purelib, missing or malformed tags.
std::vector<Finding> check_wheel_file(const Headers& wheel, const std::string& subject);

}  // namespace wheelsmith::pep
