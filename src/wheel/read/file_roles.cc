// Which binaries a package works without. A wheel is broken when `import` fails, not when a plugin for an absent
// package cannot be loaded. Roots are binaries loaded by name: importable modules, programs, and libraries that Python
// code names. Their dependencies, transitively, are needed too. In a wheel with roots, any other library is loaded
// optionally, if at all: Qt's database drivers, parts of a simulator's interface, a helper that a debugger injects.

#include "wheel/read/file_roles.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "wheel/read/libraries.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

// torch/test/Dict_test, torch/bin/test_api, torch/bin/FileStoreTest.
bool is_test_program(const ElfFacts& file) {
  if (!is_executable(file)) return false;
  const std::string_view name = base_name(file.path);
  if (name.starts_with("test_") || name.ends_with("_test") || name.ends_with("_tests") || name.ends_with("Test"))
    return true;
  const std::vector<std::string_view> parts = split(file.path, '/');
  return std::any_of(parts.begin(), parts.end() - 1,
                     [](std::string_view part) { return part == "test" || part == "tests"; });
}

bool is_host_code(const ElfFacts& file) { return !file.machine.starts_with("machine "); }

const char* const k_why_variant =
    "no import statement finds a file of this name; the package selects one of its variants";
const char* const k_why_tried = "the package imports it only inside `try`";
const char* const k_why_out_of_reach = "no Python file of the package imports it, and its folder is not a package";
const char* const k_why_later = "Python code loads it in a function that importing the package does not call";
const char* const k_why_plugin = "no module, program or Python file of the package loads it by name";

}  // namespace

FileRoles::FileRoles(const std::vector<ElfFacts>& files, const PythonUse& python) {
  const Libraries libraries(files, {});
  std::vector<bool> needed(files.size(), false);
  bool has_roots = false;
  const auto need = [&](Libraries::Id root) {
    has_roots = true;
    if (needed[root]) return;
    for (const Libraries::Id id : libraries.closure(root).files) needed[id] = true;
  };
  for (Libraries::Id id = 0; id < files.size(); ++id) {
    const ElfFacts& file = files[id];
    if (!is_host_code(file)) continue;
    if (is_test_program(file)) {
      m_entries[file.path] = {Role::test, ""};
    } else if (file.python_extension) {
      const char* why = !is_importable_name(file.path)      ? k_why_variant
                        : python.is_tried_only(file.path)   ? k_why_tried
                        : python.is_out_of_reach(file.path) ? k_why_out_of_reach
                                                            : nullptr;
      if (why != nullptr) m_entries[file.path] = {Role::optional, why};
      if (why == nullptr) need(id);
    } else if (is_executable(file) || python.named(file.path) == PythonUse::Named::at_import) {
      need(id);
    }
  }
  for (Libraries::Id id = 0; id < files.size(); ++id) {
    const ElfFacts& file = files[id];
    if (needed[id]) m_entries.erase(file.path);
    if (needed[id] || !is_host_code(file) || !file.is_dynamic || file.python_extension || is_executable(file)) continue;
    const bool later = python.named(file.path) == PythonUse::Named::later;
    if (has_roots) m_entries[file.path] = {Role::optional, later ? k_why_later : k_why_plugin};
  }
  if (!has_roots) find_leaves(files);
}

void FileRoles::find_leaves(const std::vector<ElfFacts>& files) {
  std::unordered_set<std::string_view> wanted;
  for (const ElfFacts& file : files) wanted.insert(file.needed.begin(), file.needed.end());
  for (const ElfFacts& file : files) {
    const bool is_wanted = wanted.contains(library_name(file)) || wanted.contains(base_name(file.path));
    if (file.is_dynamic && is_host_code(file) && !is_wanted) m_leaves.insert(file.path);
  }
  const auto libraries =
      std::count_if(files.begin(), files.end(), [](const ElfFacts& file) { return file.is_dynamic; });
  if (libraries == 1) m_leaves.clear();  // it is the purpose of the wheel
}

Role FileRoles::of(const std::string& path) const {
  const auto found = m_entries.find(path);
  return found == m_entries.end() ? Role::needed : found->second.role;
}

std::string FileRoles::why_optional(const std::string& path) const {
  const auto found = m_entries.find(path);
  return found == m_entries.end() ? "" : found->second.why;
}

}  // namespace wheelsmith::wheel
