#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith::pep {

struct RecordLine {
  std::string path;
  std::string algorithm;  // "sha256"; "" when no hash is given
  std::string hash;       // as written, URL-safe base64 without '='
  std::optional<std::uint64_t> size;
  std::uint64_t line = 0;  // counted from 1

  friend bool operator==(const RecordLine&, const RecordLine&) = default;
};

struct Record {
  std::vector<RecordLine> lines;
  // What is no RECORD line, as sentences with line numbers; 100 at most, then a count. A line whose path can be read
  // stands in `lines` all the same, without the part that is wrong.
  std::vector<std::string> problems;

  // CSV as Python's csv module reads it (quotes, \r\n). Never throws.
  static Record parse(Bytes text);
};

// The line as a writer puts it, without its end; parses to the same values.
std::string to_csv_line(const RecordLine& line);

}  // namespace wheelsmith::pep
