#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/finding.h"
#include "pep/record.h"

namespace wheelsmith::wheel {

// Compares every file with its line of RECORD. Files are handed in from several threads, each once.
class RecordCheck {
 public:
  enum class Where { archive, installed };

  // `subject` is RECORD's own name.
  RecordCheck(std::string subject, const pep::Record& record, Where where);

  // Hashes the bytes and compares; thread-safe.
  void see(const std::string& name, Bytes bytes);

  // All findings, after every file was seen: `names` are all files that are there.
  std::vector<Finding> finish(const std::vector<std::string>& names);

  // Whether RECORD has a line for the file.
  [[nodiscard]] bool lists(const std::string& name) const { return m_lines.contains(name); }

 private:
  void add(Finding finding);

  std::string m_subject;
  Where m_where;
  std::unordered_map<std::string, const pep::RecordLine*> m_lines;
  std::mutex m_mutex;
  std::vector<Finding> m_findings;
};

}  // namespace wheelsmith::wheel
