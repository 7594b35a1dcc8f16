#include "wheel/check_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/hash.h"
#include "wheel/check_names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_per_id = 50;

// RECORD cannot hold its own hash, nor that of its signatures.
bool needs_no_hash(std::string_view name, std::string_view record) {
  return name == record || name == std::string(record) + ".jws" || name == std::string(record) + ".p7s";
}

const char* const k_why_hash = "installers that verify refuse the wheel, and a file changed by accident looks the same";
const char* const k_fix_record = "write RECORD last, from the very bytes that go into the wheel (`wheel pack` does)";

Finding problem(std::string id, Severity severity, std::string subject, std::string what, std::string why) {
  return {std::move(id), severity, std::move(subject), std::move(what), std::move(why), k_fix_record};
}

std::string without_padding(std::string hash) {
  while (hash.ends_with('=')) hash.pop_back();
  return hash;
}

// Keeps the report readable when every file of a large wheel is wrong in the same way.
std::vector<Finding> limited(std::vector<Finding> findings) {
  std::map<std::string, std::size_t> counts;
  std::vector<Finding> result;
  for (Finding& finding : findings) {
    if (++counts[finding.id] <= k_most_per_id) result.push_back(std::move(finding));
  }
  for (const auto& [id, count] : counts) {
    if (count <= k_most_per_id) continue;
    const auto same = std::find_if(result.begin(), result.end(), [&](const Finding& f) { return f.id == id; });
    Finding rest = *same;
    rest.subject = "RECORD";
    rest.what = fmt::format("{} more of the same", count - k_most_per_id);
    result.push_back(std::move(rest));
  }
  return result;
}

}  // namespace

RecordCheck::RecordCheck(std::string subject, const pep::Record& record, Where where)
    : m_subject(std::move(subject)), m_where(where) {
  for (const std::string& text : record.problems) {
    add(problem("record-malformed", Severity::error, m_subject, text, "installers cannot read the list of files"));
  }
  for (const pep::RecordLine& line : record.lines) {
    if (!m_lines.emplace(line.path, &line).second) {
      add(problem("record-duplicate", Severity::error, line.path, fmt::format("is listed again in line {}", line.line),
                  "two lines cannot both be right"));
    }
    // An installed package lists its scripts as ../../../bin/name.
    if (m_where == Where::archive && is_unsafe_path(line.path)) {
      add(problem("record-unsafe-path", Severity::error, line.path, "leads out of the installation folder",
                  "uninstalling would delete files that belong to others"));
    }
  }
}

void RecordCheck::add(Finding finding) {
  const std::lock_guard lock(m_mutex);
  m_findings.push_back(std::move(finding));
}

void RecordCheck::see(const std::string& name, Bytes bytes) {
  const auto found = m_lines.find(name);
  if (found == m_lines.end() || needs_no_hash(name, m_subject)) return;
  const pep::RecordLine& line = *found->second;
  if (line.size && *line.size != bytes.size()) {
    add(problem("record-size-mismatch", Severity::error, name,
                fmt::format("RECORD says {} bytes, the file has {}", *line.size, bytes.size()), k_why_hash));
  }
  if (line.algorithm.empty()) {
    // pip writes such lines for what it compiled itself.
    if (m_where == Where::archive) {
      add(problem("record-no-hash", Severity::error, name, "RECORD has no hash for it", k_why_hash));
    }
    return;
  }
  const std::optional<Digest> actual = digest(line.algorithm, bytes);
  if (!actual) {
    add(problem("record-weak-hash", Severity::error, name,
                fmt::format("its hash algorithm is {}; wheels use sha256 or better", line.algorithm), k_why_hash));
    return;
  }
  const std::string wanted = to_base64url(*actual);
  if (line.hash == wanted) return;
  if (line.hash == to_hex(*actual)) {
    add(problem("record-hash-format", Severity::error, name,
                "its hash is right but written in hex; RECORD wants URL-safe base64 without '='", k_why_hash));
  } else if (without_padding(line.hash) == wanted) {
    add(problem("record-hash-format", Severity::warning, name, "its hash is right but ends in '='; RECORD wants none",
                k_why_hash));
  } else {
    add(problem("record-hash-mismatch", Severity::error, name,
                fmt::format("RECORD says {}={}, the file has {}", line.algorithm, line.hash, wanted), k_why_hash));
  }
}

std::vector<Finding> RecordCheck::finish(const std::vector<std::string>& names) {
  const std::unordered_set<std::string_view> there(names.begin(), names.end());
  for (const auto& [path, line] : m_lines) {
    const bool outside = m_where == Where::installed && is_unsafe_path(path);
    if (!outside && !there.contains(path) && !path.ends_with('/')) {
      add(problem("record-file-missing", Severity::error, path, "RECORD lists it, but it is not there",
                  "the package is incomplete"));
    }
  }
  if (m_where == Where::archive) {
    for (const std::string& name : names) {
      if (!m_lines.contains(name) && !needs_no_hash(name, m_subject)) {
        add(problem("record-file-unlisted", Severity::error, name, "is in the wheel but not in RECORD",
                    "it is not verified, and uninstalling leaves it behind"));
      }
    }
    if (!m_lines.contains(m_subject)) {
      add(problem("record-self-missing", Severity::warning, m_subject, "does not list itself",
                  "uninstalling leaves it behind"));
    }
  }
  std::sort(m_findings.begin(), m_findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.id, a.subject, a.what) < std::tie(b.id, b.subject, b.what);
  });
  return limited(std::move(m_findings));
}

}  // namespace wheelsmith::wheel
