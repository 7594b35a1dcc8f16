#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "wheel/read/elf_facts.h"
#include "wheel/read/python_use.h"

namespace wheelsmith::wheel {

// What depends on a binary being loadable.
enum class Role {
  needed,    // the package: it is imported, run, or loaded along with what is
  optional,  // one feature: a plugin or variant that is loaded where it can be
  test,      // nothing: a test program that was left in the wheel
};

class FileRoles {
 public:
  FileRoles() = default;  // every file is needed
  FileRoles(const std::vector<ElfFacts>& files, const PythonUse& python);

  [[nodiscard]] Role of(const std::string& path) const;
  [[nodiscard]] bool is_optional(const std::string& path) const { return of(path) == Role::optional; }
  [[nodiscard]] bool is_test(const std::string& path) const { return of(path) == Role::test; }
  // In a wheel of nothing but libraries nothing says which one matters; one that no other needs may be a plugin.
  [[nodiscard]] bool may_be_plugin(const std::string& path) const { return m_leaves.contains(path); }
  // Why the package works without an optional file, as a sentence.
  [[nodiscard]] std::string why_optional(const std::string& path) const;

 private:
  void find_leaves(const std::vector<ElfFacts>& files);

  struct Entry {
    Role role = Role::needed;
    const char* why = "";
  };
  std::unordered_map<std::string, Entry> m_entries;  // those that are not needed
  std::unordered_set<std::string> m_leaves;
};

}  // namespace wheelsmith::wheel
