#include "wheel/wheel_tree.h"

#include <algorithm>

namespace wheelsmith::wheel {

std::vector<FileTree::File> WheelTree::files() const {
  std::vector<File> result;
  result.reserve(m_archive.entries().size());
  for (const zip::Entry& entry : m_archive.entries()) {
    if (!entry.is_folder()) result.push_back({entry.name, entry.size});
  }
  std::sort(result.begin(), result.end());
  const auto same_name = [](const File& a, const File& b) { return a.name == b.name; };
  result.erase(std::unique(result.begin(), result.end(), same_name), result.end());
  return result;
}

std::optional<Blob> WheelTree::open(const std::string& name) const {
  const zip::Entry* entry = m_archive.find(name);
  if (entry == nullptr) return std::nullopt;
  return m_archive.read(*entry);
}

std::optional<std::string> WheelTree::head(const std::string& name, std::size_t count) const {
  const zip::Entry* entry = m_archive.find(name);
  if (entry == nullptr) return std::nullopt;
  return m_archive.peek(*entry, count);
}

}  // namespace wheelsmith::wheel
