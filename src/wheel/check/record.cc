#include "wheel/check/record.h"

#include <fmt/format.h>

#include <iterator>

#include "base/hash.h"
#include "wheel/check/names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_record_findings = 10'000;  // a bound for hostile wheels

// RECORD cannot hold its own hash, nor that of its signatures.
bool needs_no_hash(std::string_view name, std::string_view record) {
  return name == record || name == std::string(record) + ".jws" || name == std::string(record) + ".p7s";
}

const char* const k_why_hash = "installers that verify refuse the wheel, and a file changed by accident looks the same";
const char* const k_fix_record = "write RECORD last, from the very bytes that go into the wheel (`wheel pack` does)";

Finding problem(std::string id, Severity severity, std::string subject, std::string what, std::string why) {
  return {std::move(id), severity, std::move(subject), std::move(what), std::move(why), k_fix_record};
}

// Python compiles its files when it likes, and deletes what it compiled.
bool is_compiled_python(std::string_view path) {
  return path.ends_with(".pyc") && path.find("__pycache__/") != std::string_view::npos;
}

// What is run or loaded; all else are data that an administrator may have good reasons to change (a list of
// certificates, a configuration).
bool is_code(std::string_view path, Bytes bytes) {
  return path.ends_with(".py") || path.ends_with(".pyc") || path.ends_with(".pth") || path.ends_with(".so") ||
         bytes.starts_with(
             "\x7f"
             "ELF") ||
         bytes.starts_with("#!");
}

std::string without_padding(std::string hash) {
  while (hash.ends_with('=')) hash.pop_back();
  return hash;
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
  Same& same = m_findings[finding.id];
  ++same.count;
  same.first.insert(std::move(finding));
  if (same.first.size() > k_most_record_findings) same.first.erase(std::prev(same.first.end()));
}

void RecordCheck::see(const std::string& name, Bytes bytes) {
  const auto found = m_lines.find(name);
  if (found == m_lines.end() || needs_no_hash(name, m_subject)) return;
  const pep::RecordLine& line = *found->second;
  if (m_where == Where::installed && see_changed_data(name, line, bytes)) return;
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

bool RecordCheck::see_changed_data(const std::string& name, const pep::RecordLine& line, Bytes bytes) {
  if (line.algorithm.empty() || is_code(name, bytes)) return false;
  const std::optional<Digest> actual = digest(line.algorithm, bytes);
  const bool same_size = !line.size || *line.size == bytes.size();
  if (!actual || (same_size && (line.hash == to_hex(*actual) || without_padding(line.hash) == to_base64url(*actual)))) {
    return false;
  }
  add({"record-data-changed", Severity::warning, name,
       fmt::format("was changed after installation: RECORD says {}={}, the file has {}", line.algorithm, line.hash,
                   to_base64url(*actual)),
       "It is a data file, so the package still runs, but with other data than it was published with.",
       "Nothing, if somebody changed it on purpose (a list of certificates); otherwise install the package again."});
  return true;
}

std::vector<std::string_view> RecordCheck::paths() const {
  std::vector<std::string_view> result;
  result.reserve(m_lines.size());
  for (const auto& [path, line] : m_lines) result.push_back(path);
  return result;
}

std::vector<Finding> RecordCheck::finish(const Names& names) {
  for (const auto& [path, line] : m_lines) {
    const bool may_lack = m_where == Where::installed && (is_unsafe_path(path) || is_compiled_python(path));
    if (!may_lack && !names.contains(path) && !path.ends_with('/')) {
      add(problem("record-file-missing", Severity::error, path, "RECORD lists it, but it is not there",
                  "the package is incomplete"));
    }
  }
  if (m_where == Where::archive) {
    for (const std::string_view file : names) {
      std::string name(file);
      if (!m_lines.contains(name) && !needs_no_hash(name, m_subject)) {
        add(problem("record-file-unlisted", Severity::error, std::move(name), "is in the wheel but not in RECORD",
                    "it is not verified, and uninstalling leaves it behind"));
      }
    }
    if (!m_lines.contains(m_subject)) {
      add(problem("record-self-missing", Severity::warning, m_subject, "does not list itself",
                  "uninstalling leaves it behind"));
    }
  }
  std::vector<Finding> result;
  for (auto& [id, same] : m_findings) {
    Finding rest = *same.first.begin();
    for (const Finding& finding : same.first) result.push_back(finding);
    if (same.count <= k_most_record_findings) continue;
    rest.subject = m_subject;
    rest.what = fmt::format("{} more of the same", same.count - k_most_record_findings);
    result.push_back(std::move(rest));
  }
  return result;
}

}  // namespace wheelsmith::wheel
