#include "surgery/repair/siblings.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace wheelsmith::surgery {

namespace data {
extern const std::string_view siblings_tsv;
}

std::vector<SiblingFolder> sibling_folders(const std::string& soname, const std::vector<std::string>& required) {
  std::vector<SiblingFolder> known;
  for (const std::string_view line : lines(data::siblings_tsv)) {
    const std::vector<std::string_view> cells = split(line, '\t');
    if (line.starts_with('#') || cells.size() != 3 || !glob_match(cells[0], soname)) continue;
    const std::vector<std::string_view> packages = split(cells[2], ' ');
    const auto package = std::ranges::find_if(required, [&](const std::string& name) {
      return std::ranges::any_of(packages, [&](std::string_view pattern) { return glob_match(pattern, name); });
    });
    const bool is_required = package != required.end();
    known.push_back({std::string(cells[1]), is_required ? *package : std::string(packages.front()), is_required});
  }
  const bool some = std::ranges::any_of(known, [](const SiblingFolder& one) { return one.required; });
  if (some) std::erase_if(known, [](const SiblingFolder& one) { return !one.required; });
  return known;
}

}  // namespace wheelsmith::surgery
