#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/file_tree.h"
#include "wheel/read/python_calls.h"

namespace wheelsmith::wheel {

// How the Python files of a wheel or folder use its binaries: which extension modules they import only inside `try`,
// which libraries they name, and which other packages they import. Only the text is read; nothing is run.
class PythonUse {
 public:
  PythonUse() = default;
  // Binaries are recognised by name in the list of files.
  explicit PythonUse(const std::vector<FileTree::File>& files);

  // Reads a file if it is Python; thread-safe.
  void see(const std::string& name, Bytes bytes);
  // Call after the last file and before any query about libraries.
  void finish();

  // Python code of the module's own package imports it and continues if that fails.
  [[nodiscard]] bool is_tried_only(const std::string& path) const;
  // No import statement finds it: no Python file of its package imports it, and its folder is not a package.
  [[nodiscard]] bool is_out_of_reach(const std::string& path) const;
  // Python code of the library's own package names the file, presumably to load it; at import, or in a function that is
  // called later, if at all.
  enum class Named { no, later, at_import };
  [[nodiscard]] Named named(const std::string& path) const;
  // The top-level modules that Python code imports: "numpy" for `from numpy.linalg import norm`.
  [[nodiscard]] const std::set<std::string>& imported() const { return m_imported; }
  // Modules whose load_library() Python code calls: "librmm".
  [[nodiscard]] const std::set<std::string>& loaded() const { return m_loaded; }

 private:
  struct Imports {
    bool tried = false;
    bool plain = false;
  };
  // A top-level folder and a name below it, so that modules of the same name stay separate.
  using Place = std::pair<std::string, std::string>;

  mutable std::mutex m_mutex;
  std::map<Place, Imports> m_modules;  // by the module's name
  // By the library's file name without version: the functions that name it.
  std::map<Place, std::set<PythonCalls::Name>> m_named;
  std::set<std::string> m_tops;                // top-level folders with libraries
  std::map<std::string, PythonCalls> m_calls;  // of each of them
  std::set<std::string> m_packages;            // folders with an __init__.py
  std::set<std::string> m_imported;
  std::set<std::string> m_loaded;
};

// Whether an import statement finds a module in a file of that name: "x.so", "x.abi3.so" or "x.cpython-311-….so", but
// not "x.variant.cpython-311-….so".
bool is_importable_name(std::string_view path);

}  // namespace wheelsmith::wheel
