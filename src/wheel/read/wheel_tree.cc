#include "wheel/read/wheel_tree.h"

#include <algorithm>

namespace wheelsmith::wheel {

namespace {

constexpr std::uint64_t k_small_change = 32'000'000;  // room for small members in addition to the two largest

std::uint64_t budget_for(const zip::Archive& archive) {
  std::uint64_t largest = 0;
  std::uint64_t second = 0;
  for (const zip::Entry& entry : archive.entries()) {
    const std::uint64_t size = std::min<std::uint64_t>(entry.size, 1ULL << 60);  // untrusted; the sum must not overflow
    second = std::max(second, std::min(size, largest));
    largest = std::max(largest, size);
  }
  return largest + second + k_small_change;
}

}  // namespace

WheelTree::WheelTree(const zip::Archive& archive) : m_archive(archive), m_pool(budget_for(archive)) {}

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
  return m_archive.read(*entry, [this](std::uint64_t size) { return m_pool.take(size); });
}

std::optional<std::string> WheelTree::head(const std::string& name, std::size_t count) const {
  const zip::Entry* entry = m_archive.find(name);
  if (entry == nullptr) return std::nullopt;
  return m_archive.peek(*entry, count);
}

}  // namespace wheelsmith::wheel
