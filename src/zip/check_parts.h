#pragma once

// The parts of Archive::check(), which share one Report. A Rule holds the common parts of all findings with one id.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "zip/archive.h"

namespace wheelsmith::zip {

struct Rule {
  std::string_view id;
  Severity severity;
  std::string_view why;
  std::string_view fix;
};

inline constexpr std::string_view k_whole_archive = "archive";
inline constexpr std::string_view k_build_again = "Rebuild the wheel with a tool that writes correct ZIP files.";
// One member alone, or all of them together.
inline constexpr Rule k_bomb{"zip-bomb", Severity::error,
                             "Unpacking it can fill the disk, and scanners reject such files.",
                             "Find out what was packed: gigabytes of one repeated byte do not belong in a package."};

// Collects findings, only the first 50 of each id, so that an archive of 100,000 bad members gives a short report.
class Report {
 public:
  void add(const Rule& rule, std::string_view subject, std::string what);
  // The findings, with one more for each id that had too many.
  [[nodiscard]] std::vector<Finding> take();

 private:
  struct Count {
    Rule rule;
    std::size_t count = 0;
  };
  std::vector<Finding> m_findings;
  std::map<std::string_view, Count> m_counts;
};

// The bytes of a member: header, data and descriptor.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const Entry* entry = nullptr;
};

// check_end.cc: the end records, compared with each other and with the file.
void check_end(Bytes file, const End& end, std::size_t entry_count, Report& report);

// check_entry.cc: one record of the directory by itself. `record` is the source of the entry.
struct DirectoryRecord;
void check_entry(const Entry& entry, const DirectoryRecord& record, Report& report);

// check_local.cc: the local header and descriptor against the directory. Without a local header the region is empty.
Region check_local(Bytes file, const Entry& entry, Report& report);

// check_layout.cc: which region each byte of the file belongs to.
void check_layout(Bytes file, const End& end, std::vector<Region> regions, Report& report);

}  // namespace wheelsmith::zip
