// Checks the archive structure, independent of member contents.
//
// A ZIP archive stores everything twice: in the directory and before each member, and sizes in up to four places. pip
// reads the directory; uv and other installers also stream members by their local headers; package indexes reject
// uploads where the two disagree, because a reviewer and an installer may then see different files. So a disagreement
// is an error even where today's pip installs the wheel.
//
//   zip-directory-place zip-entry-count zip-end-records zip-end-ambiguous zip-zip64-locator       check_end.cc
//   zip-multi-disk zip-comment-length zip-trailing-data
//   zip-name-unsafe zip-name-utf8 zip-name-legacy zip-name-override zip-extra zip-zip64-extra      check_entry.cc
//   zip-zip64-needless zip-encrypted zip-method zip-symlink zip-bomb zip-stored-size
//   zip-impossible-size zip-folder-data
//   zip-local-header zip-local-name zip-local-method zip-local-flags zip-local-crc zip-local-size  check_local.cc
//   zip-zip64-local zip-descriptor
//   zip-overlap zip-prepended-data zip-gap zip-hidden-member                                       check_layout.cc
//   zip-duplicate-name, and zip-bomb for the archive as a whole                                    here

#include <fmt/format.h>

#include "base/text.h"
#include "zip/check_parts.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr std::size_t k_findings_of_one_id = 50;

constexpr Rule k_duplicate_name{
    "zip-duplicate-name", Severity::error,
    "Some installers keep the first and some the last, so the result depends on the tool; PyPI rejects it.",
    "Rebuild the wheel into a new file: a tool appended a member instead of replacing it."};

}  // namespace

void Report::add(const Rule& rule, std::string_view subject, std::string what) {
  Count& count = m_counts.try_emplace(rule.id, Count{rule}).first->second;
  if (count.count++ >= k_findings_of_one_id) return;
  m_findings.push_back({std::string(rule.id), rule.severity, std::string(subject), std::move(what),
                        std::string(rule.why), std::string(rule.fix)});
}

std::vector<Finding> Report::take() {
  for (const auto& [id, count] : m_counts) {
    if (count.count <= k_findings_of_one_id) continue;
    m_findings.push_back(
        {std::string(id), count.rule.severity, std::string(k_whole_archive),
         fmt::format("{} more findings with this id are not shown", count.count - k_findings_of_one_id),
         std::string(count.rule.why), std::string(count.rule.fix)});
  }
  return std::move(m_findings);
}

std::vector<Finding> Archive::check() const {
  Report report;
  check_end(m_file, m_end, m_entries.size(), report);
  if (is_bomb()) {
    report.add(k_bomb, k_whole_archive,
               fmt::format("{} claim to unpack to {}; members over 1 MB are not inflated", human_bytes(m_file.size()),
                           human_bytes(m_total_size)));
  }
  std::vector<Region> regions;
  regions.reserve(m_entries.size());
  Cursor cursor(m_file.slice(m_end.directory_offset, m_end.directory_size));
  for (const Entry& entry : m_entries) {
    check_entry(entry, take_directory_record(cursor), report);
    regions.push_back(check_local(m_file, entry, report));
  }
  check_layout(m_file, m_end, std::move(regions), report);
  for (std::size_t i = 0; i < m_by_name.size();) {
    const std::string& name = m_entries[m_by_name[i]].name;
    std::size_t next = i + 1;
    while (next < m_by_name.size() && m_entries[m_by_name[next]].name == name) ++next;
    if (next - i > 1) report.add(k_duplicate_name, name, fmt::format("{} members have this name", next - i));
    i = next;
  }
  return report.take();
}

}  // namespace wheelsmith::zip
