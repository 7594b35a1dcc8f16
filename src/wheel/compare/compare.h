#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/enum_names.h"
#include "zip/archive.h"

// Compares two wheels that should be identical, member by member: what is only in one, what differs, and why, as far as
// the bytes show. Both are untrusted.

namespace wheelsmith::wheel {

struct MemberDifference {
  enum class Kind : std::uint8_t { only_first, only_second, differs } kind = Kind::differs;
  std::string name;
  std::vector<std::string> reasons{};  // of `differs`: sentences
};

struct WheelComparison {
  bool same_bytes = false;
  std::vector<MemberDifference> members;  // sorted by name
  std::vector<std::string> archive;       // differences of the archives besides member contents
  std::size_t compared = 0;               // members that both have

  // Whether everything is identical except build records (Wheelsmith's files in .dist-info, the SBOM, RECORD).
  [[nodiscard]] bool same_payload() const;
};

// Throws Error if either is not an archive.
WheelComparison compare_wheels(Bytes first, Bytes second);

// How two archives differ besides the contents of members that both have: time stamps, modes, compression, order,
// folder entries.
std::vector<std::string> compare_archive_headers(const zip::Archive& first, const zip::Archive& second);

// Why the contents of a member differ. `name` determines the file type.
std::vector<std::string> why_different(const std::string& name, Bytes first, Bytes second);

}  // namespace wheelsmith::wheel

template <>
struct wheelsmith::EnumNames<wheelsmith::wheel::MemberDifference::Kind> {
  static constexpr std::array list = {"only-first", "only-second", "differs"};
};
