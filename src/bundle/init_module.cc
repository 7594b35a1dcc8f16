#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "bundle/bundler.h"
#include "rocm/python/python_table.h"

// A framework built against the SDK wheels has a small module that asks rocm_sdk to load libraries by short name with
// global symbols before its own. Without rocm_sdk that import fails, so the module is rewritten: the same libraries in
// the same order, from inside the wheel.

namespace wheelsmith::bundle {

namespace {

// The texts in quotes between the brackets behind `list`.
std::vector<std::string> quoted_names(std::string_view text, std::string_view list) {
  std::vector<std::string> names;
  const std::size_t begin = text.find('[', std::min(text.find(list), text.size()));
  if (begin == text.npos) return names;
  const std::size_t end = text.find(']', begin);
  for (std::size_t at = begin; at < end;) {
    const std::size_t open = text.find_first_of("'\"", at);
    if (open == text.npos || open > end) break;
    const std::size_t close = text.find(text[open], open + 1);
    if (close == text.npos || close > end) break;
    names.emplace_back(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return names;
}

std::string module_text(const std::vector<std::string>& libraries, std::size_t depth, const std::string& root) {
  std::string list;
  for (const std::string& library : libraries) list += fmt::format("    {},\n", rocm::python_text(library));
  std::string up = "os.path.abspath(__file__)";
  for (std::size_t i = 0; i < depth; ++i) up = fmt::format("os.path.dirname({})", up);
  return fmt::format(
      "\"\"\"Loads the SDK libraries bundled with this package. Written by `wheelsmith bundle`.\"\"\"\n"
      "import ctypes\n"
      "import os\n\n"
      "_ROOT = os.path.join({}, {})\n"
      "_LIBRARIES = [\n{}]\n"
      "_HANDLES = []\n\n\n"
      "def initialize():\n"
      "    while len(_HANDLES) < len(_LIBRARIES):\n"
      "        path = os.path.join(_ROOT, *_LIBRARIES[len(_HANDLES)].split(\"/\"))\n"
      "        _HANDLES.append(ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL))\n",
      up, rocm::python_text(root), list);
}

}  // namespace

void Bundler::add_init_modules() {
  const auto& known = rocm::python_table().libraries;
  for (const FileTree::File& member : m_tree.files()) {
    if (base_name(member.name) != m_sdk_table.init_module) continue;
    const std::string text(m_tree.open(member.name).value().bytes.text());
    std::vector<std::string> libraries;
    for (const std::string& name : quoted_names(text, m_sdk_table.init_list)) {
      const auto row =
          std::find_if(known.begin(), known.end(), [&](const auto& library) { return library.name == name; });
      std::vector<std::string> found;
      if (row != known.end()) {
        const std::string folder = row->folder.empty() ? "lib" : row->folder;
        found = m_view.matching(folder + "/" + row->so);
        std::erase_if(found, [&](const std::string& path) { return folder_of(path) != folder; });
      }
      const std::string path = found.empty() ? "" : add_library(found.front());
      if (!path.empty()) {
        libraries.push_back(path);
      } else {
        m_summary.notes.push_back(
            fmt::format("{} loads {}, which the SDK does not have; it is skipped", member.name, printable(name)));
      }
    }
    const auto depth = static_cast<std::size_t>(std::count(member.name.begin(), member.name.end(), '/')) + 1;
    m_init_modules[member.name] = module_text(libraries, depth, m_root);
  }
}

}  // namespace wheelsmith::bundle
