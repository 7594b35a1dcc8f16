#include "wheel/check/record.h"

#include <fmt/format.h>

#include <iterator>

#include "base/hash.h"
#include "wheel/check/names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_record_findings = 10'000;  // limit for hostile wheels

// RECORD cannot contain its own hash or those of its signatures.
bool needs_no_hash(std::string_view name, std::string_view record) {
  return name == record || name == std::string(record) + ".jws" || name == std::string(record) + ".p7s";
}

const char* const k_why_hash = "installers that verify hashes reject the wheel, and accidental changes go unnoticed";
const char* const k_fix_record = "regenerate RECORD after the last change: wheel unpack, then wheel pack";

Finding problem(std::string id, Severity severity, std::string subject, std::string what, std::string why) {
  return {std::move(id), severity, std::move(subject), std::move(what), std::move(why), k_fix_record};
}

// Python creates and deletes byte code at any time.
bool is_compiled_python(std::string_view path) {
  return path.ends_with(".pyc") && path.find("__pycache__/") != std::string_view::npos;
}

// Files that are run or loaded; all others are data that an administrator may change on purpose (certificates,
// configuration).
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
                  "the lines may contradict each other"));
    }
    // An installed package lists its scripts as ../../../bin/name.
    if (m_where == Where::archive && is_unsafe_path(line.path)) {
      add(problem("record-unsafe-path", Severity::error, line.path, "points outside the installation folder",
                  "uninstalling would delete files of other packages"));
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
                fmt::format("has {1} bytes; RECORD lists {0}", *line.size, bytes.size()), k_why_hash));
  }
  if (line.algorithm.empty()) {
    // pip writes such lines for byte code it compiled.
    if (m_where == Where::archive) {
      add(problem("record-no-hash", Severity::error, name, "has no hash in RECORD", k_why_hash));
    }
    return;
  }
  const std::optional<Digest> actual = digest(line.algorithm, bytes);
  if (!actual) {
    add(problem("record-weak-hash", Severity::error, name,
                fmt::format("uses hash algorithm {}; wheels require sha256 or stronger", line.algorithm), k_why_hash));
    return;
  }
  const std::string wanted = to_base64url(*actual);
  if (line.hash == wanted) return;
  if (line.hash == to_hex(*actual)) {
    add(problem("record-hash-format", Severity::error, name,
                "has a correct hash in hex; RECORD requires URL-safe base64 without '='", k_why_hash));
  } else if (without_padding(line.hash) == wanted) {
    add(problem("record-hash-format", Severity::warning, name,
                "has a correct hash that ends in '='; RECORD requires base64 without padding", k_why_hash));
  } else {
    add(problem("record-hash-mismatch", Severity::error, name,
                fmt::format("has {2}; RECORD lists {0}={1}", line.algorithm, line.hash, wanted), k_why_hash));
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
       fmt::format("was changed after installation: RECORD lists {}={}, the file has {}", line.algorithm, line.hash,
                   to_base64url(*actual)),
       "It is a data file, so the package still runs, but with different data than published.",
       "Reinstall the package, unless the change was intended (for example a certificate list)."});
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
      add(problem("record-file-missing", Severity::error, path, "is listed in RECORD but missing",
                  "the package is incomplete"));
    }
  }
  if (m_where == Where::archive) {
    for (const std::string_view file : names) {
      std::string name(file);
      if (!m_lines.contains(name) && !needs_no_hash(name, m_subject)) {
        add(problem("record-file-unlisted", Severity::error, std::move(name), "is in the wheel but not in RECORD",
                    "it is not verified, and uninstalling does not remove it"));
      }
    }
    if (!m_lines.contains(m_subject)) {
      add(problem("record-self-missing", Severity::warning, m_subject, "does not list itself",
                  "uninstalling does not remove it"));
    }
  }
  std::vector<Finding> result;
  for (auto& [id, same] : m_findings) {
    Finding rest = *same.first.begin();
    for (const Finding& finding : same.first) result.push_back(finding);
    if (same.count <= k_most_record_findings) continue;
    rest.subject = m_subject;
    rest.what = fmt::format("{} more findings with this id", same.count - k_most_record_findings);
    result.push_back(std::move(rest));
  }
  return result;
}

}  // namespace wheelsmith::wheel
