#include "wheel/distribution.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

std::optional<pep::Headers> read_headers(const FileTree& tree, const std::string& name,
                                         std::vector<std::string>& problems) {
  try {
    const std::optional<Blob> blob = tree.open(name);
    if (!blob) return std::nullopt;
    return pep::Headers::parse(blob->bytes);
  } catch (const Error& error) {
    problems.emplace_back(error.in(name).what());
    return std::nullopt;
  }
}

}  // namespace

bool Distribution::is_purelib() const { return wheel && to_lower(wheel->get("Root-Is-Purelib")) == "true"; }

std::vector<Distribution> find_distributions(const FileTree& tree, const std::vector<FileTree::File>& files) {
  std::set<std::string> folders;
  for (const FileTree::File& file : files) {
    const std::string_view top = std::string_view(file.name).substr(0, file.name.find('/'));
    if (top.size() < file.name.size() && top.ends_with(".dist-info")) folders.emplace(top);
  }
  std::vector<Distribution> result;
  for (const std::string& folder : folders) {
    Distribution distribution;
    distribution.dist_info = folder;
    distribution.metadata = read_headers(tree, folder + "/METADATA", distribution.problems);
    distribution.wheel = read_headers(tree, folder + "/WHEEL", distribution.problems);
    const auto has = [&](const std::string& name) {
      return std::binary_search(files.begin(), files.end(), FileTree::File{name, 0},
                                [](const auto& x, const auto& y) { return x.name < y.name; });
    };
    distribution.has_record = has(folder + "/RECORD");
    distribution.is_installed = has(folder + "/INSTALLER");
    result.push_back(std::move(distribution));
  }
  return result;
}

}  // namespace wheelsmith::wheel
