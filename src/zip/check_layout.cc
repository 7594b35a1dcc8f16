#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "zip/check_parts.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr std::uint64_t k_slack = 64;  // what tools leave to align members

constexpr Rule k_overlap{
    "zip-overlap", Severity::error,
    "Data that several members share is how a small file unpacks to terabytes; current readers refuse it.",
    "Build the wheel again with a tool that writes correct ZIP files."};
constexpr Rule k_prepended_data{
    "zip-prepended-data", Severity::warning,
    "Indexes refuse it, and readers that take members as they come find no member at the start.",
    "Cut off what stands in front of the first member."};
constexpr Rule k_gap{"zip-gap", Severity::warning,
                     "They are downloaded and never installed, and nobody who lists the archive sees them.",
                     "Pack the wheel again: a tool that replaced members left the old bytes behind."};
constexpr Rule k_hidden_member{
    "zip-hidden-member", Severity::error,
    "Installers that read members as they come install a file that the directory does not list.",
    "Pack the wheel again: a tool that removed a member left its bytes behind."};

class Sweep {
 public:
  Sweep(Bytes file, Report& report) : m_file(file), m_report(report) {}

  // The next thing in the file, in the order of their starts.
  void visit(std::uint64_t begin, std::uint64_t end, std::string_view name) {
    if (begin > m_covered) report_gap(begin);
    if (begin < m_covered) {
      m_report.add(k_overlap, m_last,
                   fmt::format("its data runs {} bytes into {}", m_covered - begin, printable(name)));
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
                   fmt::format("a member that the directory does not list stands at offset {:#x}: {}", m_covered,
                               printable(gap.clamp(sizeof header, header.name_size).text())));
    } else if (m_covered == 0) {
      m_report.add(k_prepended_data, k_whole_archive,
                   fmt::format("{} stand in front of the first member", human_bytes(begin)));
    } else if (gap.size() > k_slack) {
      m_report.add(k_gap, k_whole_archive,
                   fmt::format("{} at offset {:#x} belong to no member", human_bytes(gap.size()), m_covered));
    }
  }

  Bytes m_file;
  Report& m_report;
  std::uint64_t m_covered = 0;  // all before this is known
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
