#include "source/archive/archive_tree.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "source/archive/archive_walk.h"
#include "sys/file.h"

namespace wheelsmith::source {

namespace {

constexpr std::uint64_t k_largest = 1 << 20;
constexpr std::uint64_t k_all = 128 << 20;

}  // namespace

ArchiveTree::ArchiveTree(const std::filesystem::path& archive) {
  const Blob file = sys::map_file(archive);
  std::string* content = nullptr;
  std::uint64_t kept = 0;
  const auto on_entry = [&](const archive::TarEntry& entry) {
    content = nullptr;
    if (entry.kind != archive::TarEntry::Kind::file) return;
    Member member;
    member.size = entry.size;
    if (entry.size <= k_largest && kept + entry.size <= k_all) {
      member.content = std::make_shared<std::string>();
      content = member.content.get();
      kept += entry.size;
    }
    m_members[entry.name] = std::move(member);
  };
  try {
    walk_archive(file.bytes, on_entry, [&](Bytes piece) {
      if (content != nullptr) *content += piece.text();
    });
  } catch (const Error& error) {
    throw error.in(archive.filename().string());
  }

  if (m_members.empty()) return;
  const std::string& first = m_members.begin()->first;
  const std::string top = first.substr(0, first.find('/') + 1);
  for (const auto& [name, member] : m_members) {
    if (top.empty() || !name.starts_with(top)) return;
  }
  std::map<std::string, Member> stripped;
  for (auto& [name, member] : m_members) stripped[name.substr(top.size())] = std::move(member);
  m_members = std::move(stripped);
}

std::vector<FileTree::File> ArchiveTree::files() const {
  std::vector<File> files;
  for (const auto& [name, member] : m_members) files.push_back({name, member.size});
  return files;
}

std::optional<Blob> ArchiveTree::open(const std::string& name) const {
  const auto found = m_members.find(name);
  if (found == m_members.end()) return {};
  if (!found->second.content) throw Error(fmt::format("{} is too large to read", printable(name)));
  return Blob{found->second.content, Bytes(*found->second.content)};
}

}  // namespace wheelsmith::source
