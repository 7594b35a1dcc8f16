#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pep/project/project_page.h"

// Inside this module only: what HTML and JSON pages have in common.

namespace wheelsmith::pep {

// Throws for a page of another major version than 1: the PEPs say that this means another format.
void check_repository_version(std::string_view version);

class FileList {
 public:
  explicit FileList(std::string_view base) : m_base(base) {}

  void set_base(std::string_view base) { m_base = base; }
  [[nodiscard]] const std::string& base() const { return m_base; }

  // Makes the link absolute, takes the hash from its fragment and, where the file has no name yet, the name from the
  // link (or from the text shown, where only that looks like a distribution's). What is not safe to use is left out;
  // throws when the list grows past all use.
  void add(ProjectFile file, std::string_view link, std::string_view text = {});
  std::vector<ProjectFile> take() { return std::move(m_files); }

 private:
  std::string m_base;
  std::vector<ProjectFile> m_files;
  std::uint64_t m_bytes = 0;
};

}  // namespace wheelsmith::pep
