#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cache/compile.h"
#include "cache/file_memo.h"

// Where the compiler searches for headers. The dependency list says what it found, not where it searched in vain: a new
// file earlier in the search path, or one tested by __has_include, would change the object but no dependency. So a
// cache entry also contains the names searched for, and which folders have them.
//
// A folder that has none of the names is left out, whatever its path. So a unit that does not include Python.h is found
// again by a build for another Python, whose include folder has another path.

namespace wheelsmith::cache {

// A snapshot of folders and files for one compile.
class Glance {
 public:
  Glance(FileMemo& memo, const sys::RootView& view, std::string folder)
      : m_memo(memo), m_view(view), m_folder(std::move(folder)) {}

  // Relative paths are those of the compile's folder.
  [[nodiscard]] std::string absolute(const std::string& path) const { return absolute_path(m_folder, path); }
  std::optional<FileMemo::Known> file(const std::string& path) { return m_memo.file(m_view, absolute(path)); }
  // Whether `name` exists below a folder.
  bool has(const std::string& folder, const std::string& name);
  [[nodiscard]] std::optional<sys::PathState> state(const std::string& path) const {
    return m_view.state(absolute(path));
  }

 private:
  std::shared_ptr<const FileMemo::Names> names(const std::string& folder);

  FileMemo& m_memo;
  const sys::RootView& m_view;
  std::string m_folder;
  std::unordered_map<std::string, std::shared_ptr<const FileMemo::Names>> m_folders;
};

// The names by which files may have been found: a dependency's path relative to each search folder.
std::vector<std::string> names_below(const std::vector<SearchFolder>& search, const std::vector<std::string>& files);

// The folders that have any of the names, and which ones, as a digest (32 bytes).
std::string search_state(Glance& glance, const Compile& compile, const std::vector<std::string>& names);

}  // namespace wheelsmith::cache
