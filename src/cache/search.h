#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cache/compile.h"
#include "cache/file_memo.h"

// Where the compiler looks for headers. The list of dependencies says what it found, not where it looked in vain: a
// file that appears earlier in the search, or one that __has_include asks for, would change the object and no
// dependency. So an entry of the cache also holds the names that were looked for, and which folders have them.
//
// A folder that has none of the names contributes nothing, whatever it is called; it is left out. So a unit that does
// not include Python.h is found again by the build for another Python, whose include folder has another name.

namespace wheelsmith::cache {

// Looks at folders and files at one moment, for one compile.
class Glance {
 public:
  Glance(FileMemo& memo, const sys::RootView& view, std::string folder)
      : m_memo(memo), m_view(view), m_folder(std::move(folder)) {}

  // Relative paths are those of the compile's folder.
  [[nodiscard]] std::string absolute(const std::string& path) const { return absolute_path(m_folder, path); }
  std::optional<FileMemo::Known> file(const std::string& path) { return m_memo.file(m_view, absolute(path)); }
  // Whether `name` is there below a folder.
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

// The names by which files may have been found: a dependency's path below each folder of the search.
std::vector<std::string> names_below(const std::vector<SearchFolder>& search, const std::vector<std::string>& files);

// The folders that have any of the names and which of the names they have, as a digest (32 bytes).
std::string search_state(Glance& glance, const Compile& compile, const std::vector<std::string>& names);

}  // namespace wheelsmith::cache
