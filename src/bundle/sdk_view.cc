#include "bundle/sdk_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::bundle {

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == path.npos ? "" : path.substr(0, slash));
}

SdkView::SdkView(std::vector<Source> sources, const SdkTable& table) : m_sources(std::move(sources)) {
  for (std::size_t i = 0; i < m_sources.size(); ++i) {
    const std::vector<FileTree::File> files = m_sources[i].tree->files();
    const auto root_of = [&](const std::string& name) -> std::size_t {
      const std::size_t slash = name.find('/');
      return slash != name.npos && table.is_sdk_folder(name.substr(0, slash)) ? slash + 1 : 0;
    };
    const bool has_folders =
        std::any_of(files.begin(), files.end(), [&](const FileTree::File& file) { return root_of(file.name) != 0; });
    for (const FileTree::File& file : files) {
      const std::size_t root = root_of(file.name);
      if (!has_folders || root != 0) add(i, file.name.substr(root), file);
    }
  }
}

void SdkView::add(std::size_t source, const std::string& path, const FileTree::File& file) {
  if (!m_files.emplace(path, File{source, file.name, file.size}).second) return;
  const std::string name(base_name(path));
  if (name.find(".so") != name.npos) m_libraries.emplace(name, path);
}

Blob SdkView::open(const std::string& path) const {
  const File& file = m_files.at(path);
  std::optional<Blob> blob = m_sources[file.source].tree->open(file.name);
  if (!blob)
    throw Error(fmt::format("{}: {} was removed while bundling", m_sources[file.source].name, printable(file.name)));
  return std::move(*blob);
}

// A library in its own folder first, because compilers have their own copies of some; then the one nearest to the
// root.
std::optional<std::string> SdkView::find_library(const std::string& name, const std::string& asking) const {
  const auto [begin, end] = m_libraries.equal_range(name);
  std::optional<std::string> best;
  const auto rank = [&](const std::string& path) {
    return std::tuple(folder_of(path) != asking, std::count(path.begin(), path.end(), '/'), path);
  };
  for (auto it = begin; it != end; ++it) {
    if (!best || rank(it->second) < rank(*best)) best = it->second;
  }
  return best;
}

std::vector<std::string> SdkView::matching(const std::string& pattern) const {
  std::vector<std::string> result;
  const std::string start = pattern.substr(0, pattern.find_first_of("*?["));
  for (auto it = m_files.lower_bound(start); it != m_files.end() && it->first.starts_with(start); ++it) {
    if (glob_match(pattern, it->first)) result.push_back(it->first);
  }
  return result;
}

}  // namespace wheelsmith::bundle
