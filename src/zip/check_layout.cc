#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "zip/check_parts.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr std::uint64_t k_slack = 64;  // padding that tools use to align members

constexpr Rule k_overlap{"zip-overlap", Severity::error,
                         "Shared data lets a small file unpack to terabytes; current readers reject it.",
                         "Rebuild the wheel with a tool that writes correct ZIP files."};
constexpr Rule k_prepended_data{"zip-prepended-data", Severity::warning,
                                "PyPI rejects it, and streaming readers find no member at the start.",
                                "Remove the bytes before the first member."};
constexpr Rule k_gap{"zip-gap", Severity::warning,
                     "They are downloaded but never installed, and listing the archive does not show them.",
                     "Repack the wheel: a tool that replaced members kept the old bytes."};
constexpr Rule k_hidden_member{"zip-hidden-member", Severity::error,
                               "Streaming installers install a file that the directory does not list.",
                               "Repack the wheel: a tool that removed a member kept its bytes."};

class Sweep {
 public:
  Sweep(Bytes file, Report& report) : m_file(file), m_report(report) {}

  // The next region of the file, in order of offset.
  void visit(std::uint64_t begin, std::uint64_t end, std::string_view name) {
    if (begin > m_covered) report_gap(begin);
    if (begin < m_covered) {
      m_report.add(k_overlap, m_last,
                   fmt::format("its data overlaps {1} by {0} bytes", m_covered - begin, printable(name)));
    }
    if (end >= m_covered) {
      m_covered = end;
      m_last = name;
    }
  }

 private:
  void report_gap(std::uint64_t begin) {
    const Bytes gap = m_file.slice(m_covered, begin - m_covered);
    if (find_at<LocalHeader>(gap, 0, k_local_signature)) {
      const auto header = gap.get<LocalHeader>(0);
      m_report.add(k_hidden_member, k_whole_archive,
                   fmt::format("a member at offset {:#x} is not listed in the directory: {}", m_covered,
                               printable(gap.clamp(sizeof header, header.name_size).text())));
    } else if (m_covered == 0) {
      m_report.add(k_prepended_data, k_whole_archive, fmt::format("{} precede the first member", human_bytes(begin)));
    } else if (gap.size() > k_slack) {
      m_report.add(k_gap, k_whole_archive,
                   fmt::format("{} at offset {:#x} belong to no member", human_bytes(gap.size()), m_covered));
    }
  }

  Bytes m_file;
  Report& m_report;
  std::uint64_t m_covered = 0;  // everything before this is accounted for
  std::string_view m_last = k_whole_archive;
};

}  // namespace

void check_layout(Bytes file, const End& end, std::vector<Region> regions, Report& report) {
  std::erase_if(regions, [](const Region& region) { return region.entry == nullptr; });
  std::stable_sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
  Sweep sweep(file, report);
  const auto behind = std::partition_point(regions.begin(), regions.end(),
                                           [&](const Region& region) { return region.begin < end.directory_offset; });
  for (auto it = regions.begin(); it != behind; ++it) sweep.visit(it->begin, it->end, it->entry->name);
  sweep.visit(end.directory_offset, end.directory_offset + end.directory_size, "the central directory");
  for (auto it = behind; it != regions.end(); ++it) sweep.visit(it->begin, it->end, it->entry->name);
  sweep.visit(end.zip64 ? end.record64_offset : end.offset, file.size(), "the end record");
}

}  // namespace wheelsmith::zip
