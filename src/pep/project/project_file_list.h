#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pep/project/project_page.h"

// Inside this module only: the common parts of HTML and JSON pages.

namespace wheelsmith::pep {

// Throws for a page with another major version than 1: according to the PEPs it has another format.
void check_repository_version(std::string_view version);

class FileList {
 public:
  explicit FileList(std::string_view base) : m_base(base) {}

  void set_base(std::string_view base) { m_base = base; }
  [[nodiscard]] const std::string& base() const { return m_base; }

  // Makes the link absolute, takes the hash from its fragment and, if the file has no name yet, the name from the
  // link (or from the link's text, if only that looks like a distribution). Unsafe entries are left out; throws if
  // the list becomes too long.
  void add(ProjectFile file, std::string_view link, std::string_view text = {});
  std::vector<ProjectFile> take() { return std::move(m_files); }

 private:
  std::string m_base;
  std::vector<ProjectFile> m_files;
  std::uint64_t m_bytes = 0;
};

}  // namespace wheelsmith::pep
