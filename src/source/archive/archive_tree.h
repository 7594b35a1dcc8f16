#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/file_tree.h"

namespace wheelsmith::source {

// The files of an archive in memory, without its single top folder: names and sizes of all, contents of those that
// describe a package (up to 1 MB each and 128 MB together; opening others throws Error).
class ArchiveTree final : public FileTree {
 public:
  explicit ArchiveTree(const std::filesystem::path& archive);

  [[nodiscard]] std::vector<File> files() const override;
  [[nodiscard]] std::optional<Blob> open(const std::string& name) const override;

 private:
  struct Member {
    std::uint64_t size = 0;
    std::shared_ptr<std::string> content;  // null when it was not stored
  };
  std::map<std::string, Member> m_members;
};

}  // namespace wheelsmith::source
