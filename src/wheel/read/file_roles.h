#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "wheel/read/elf_facts.h"
#include "wheel/read/python_use.h"

namespace wheelsmith::wheel {

// What breaks if a binary cannot be loaded.
enum class Role {
  needed,    // the package: it is imported, run, or a dependency of such a file
  optional,  // one feature: an optional plugin or variant
  test,      // nothing: a test program in the wheel
};

class FileRoles {
 public:
  FileRoles() = default;  // every file is needed
  FileRoles(const std::vector<ElfFacts>& files, const PythonUse& python);

  [[nodiscard]] Role of(const std::string& path) const;
  [[nodiscard]] bool is_optional(const std::string& path) const { return of(path) == Role::optional; }
  [[nodiscard]] bool is_test(const std::string& path) const { return of(path) == Role::test; }
  // In a wheel of libraries only, nothing shows which one matters; one that no other needs may be a plugin.
  [[nodiscard]] bool may_be_plugin(const std::string& path) const { return m_leaves.contains(path); }
  // Why the package works without an optional file, as a sentence.
  [[nodiscard]] std::string why_optional(const std::string& path) const;

 private:
  void find_leaves(const std::vector<ElfFacts>& files);

  struct Entry {
    Role role = Role::needed;
    const char* why = "";
  };
  std::unordered_map<std::string, Entry> m_entries;  // files that are not needed
  std::unordered_set<std::string> m_leaves;
};

}  // namespace wheelsmith::wheel
