#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

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
  // Invalid lines, as sentences with line numbers; at most 100, then a count. A line with a readable path is still in
  // `lines`, without the invalid part.
  std::vector<std::string> problems;

  // CSV as Python's csv module reads it (quotes, \r\n). Never throws.
  static Record parse(Bytes text);
};

// "demo-1.0.dist-info/RECORD".
std::string record_path(std::string_view dist_info);
// Whether a path inside the wheel is RECORD or one of its signatures (RECORD.jws, RECORD.p7s). They cannot contain
// their own hash, and tools that rewrite RECORD drop the old ones.
bool is_record_or_signature(std::string_view path, std::string_view dist_info);

RecordLine record_line(std::string path, const Digest& sha256, std::uint64_t size);
// The line as CSV without its end; parses to the same values.
std::string to_csv_line(const RecordLine& line);
// The whole of RECORD: these lines in this order, then RECORD's own, which has neither hash nor size.
std::string record_text(std::span<const RecordLine> lines, std::string_view dist_info);

}  // namespace wheelsmith::pep
