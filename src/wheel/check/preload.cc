#include "wheel/check/preload.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "wheel/tags/platform.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::string_view k_module = "_rocm_init.py";
constexpr std::string_view k_list = "preload_shortnames";
constexpr std::size_t k_largest_module = 1 << 20;

// The strings of the first list after preload_shortnames. It is Python, but in practice always a list of string
// literals; anything else gives no names.
std::vector<std::string> listed_names(std::string_view text) {
  std::vector<std::string> names;
  const std::size_t at = text.find(k_list);
  const std::size_t open = at == text.npos ? text.npos : text.find('[', at);
  if (open == text.npos) return names;
  std::size_t i = open + 1;
  while (i < text.size() && text[i] != ']') {
    if (text[i] == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (text[i] == '"' || text[i] == '\'') {
      const std::size_t end = text.find(text[i], i + 1);
      if (end == text.npos) break;
      names.emplace_back(text.substr(i + 1, end - i - 1));
      i = end + 1;
    } else {
      ++i;
    }
  }
  return names;
}

// "libMIOpen.so.1" is "miopen" in such lists.
std::string short_name(std::string_view library) {
  const std::size_t so = library.find(".so");
  library = library.substr(0, so);
  if (library.starts_with("lib")) library.remove_prefix(3);
  return to_lower(library);
}

// A list may name a library by its project: hipdnn for libhipdnn_backend.
bool is_named(const std::string& library, const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return library == name ||
           (library.starts_with(name) && library.size() > name.size() && library[name.size()] == '_');
  });
}

}  // namespace

std::vector<Finding> check_preload(const FileTree& tree, const std::vector<FileTree::File>& files,
                                   const std::vector<ElfFacts>& elf) {
  std::vector<Finding> findings;
  for (const FileTree::File& file : files) {
    if (base_name(file.name) != k_module || file.size > k_largest_module) continue;
    const auto blob = tree.open(file.name);
    if (!blob) continue;
    std::set<std::string> names;
    for (const std::string& name : listed_names(blob->bytes.text())) names.insert(to_lower(name));
    std::set<std::string> own;
    for (const ElfFacts& binary : elf) own.emplace(base_name(binary.path));
    std::map<std::string, std::string> missing;  // library -> first file that needs it
    for (const ElfFacts& binary : elf) {
      for (const std::string& library : binary.needed) {
        if (own.contains(library) || provided_by_others(library) != "ROCm") continue;
        if (!is_named(short_name(library), names)) missing.emplace(library, binary.path);
      }
    }
    for (const auto& [library, who] : missing) {
      findings.push_back({"preload-missing", Severity::error, file.name,
                          fmt::format("does not name {}, which {} needs", short_name(library), who),
                          fmt::format("{} is in a separate package that the loader does not search: the import "
                                      "fails unless it is already loaded",
                                      library),
                          fmt::format("add \"{}\" to the recipe's [preload] libraries", short_name(library))});
    }
  }
  return findings;
}

}  // namespace wheelsmith::wheel
