#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/finding.h"
#include "pep/record.h"

namespace wheelsmith::wheel {

// Compares every file with its line of RECORD. Several threads pass in files, each once.
class RecordCheck {
 public:
  enum class Where { archive, installed };

  // `subject` is RECORD's own name.
  RecordCheck(std::string subject, const pep::Record& record, Where where);

  // Hashes the bytes and compares; thread-safe.
  void see(const std::string& name, Bytes bytes);

  // All findings, once every file was passed in; `names` are all existing files.
  using Names = std::unordered_set<std::string_view>;
  std::vector<Finding> finish(const Names& names);

  // The files that RECORD lists, each once.
  [[nodiscard]] std::vector<std::string_view> paths() const;

 private:
  // Findings of one id: how many, and the first by subject, independent of thread order.
  struct Same {
    struct BySubject {
      bool operator()(const Finding& a, const Finding& b) const {
        return std::tie(a.subject, a.what) < std::tie(b.subject, b.what);
      }
    };
    std::size_t count = 0;
    std::multiset<Finding, BySubject> first;
  };

  void add(Finding finding);
  // Reports a data file that differs from its line; false for code.
  bool see_changed_data(const std::string& name, const pep::RecordLine& line, Bytes bytes);

  std::string m_subject;
  Where m_where;
  std::unordered_map<std::string, const pep::RecordLine*> m_lines;
  std::mutex m_mutex;
  std::map<std::string, Same> m_findings;  // by id
};

}  // namespace wheelsmith::wheel
