#pragma once

#include "base/file_tree.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

// The members of an archive as a FileTree; folder entries are left out. The archive must outlive it.
class WheelTree final : public FileTree {
 public:
  explicit WheelTree(const zip::Archive& archive) : m_archive(archive) {}

  [[nodiscard]] std::vector<File> files() const override;
  [[nodiscard]] std::optional<Blob> open(const std::string& name) const override;
  [[nodiscard]] std::optional<std::string> head(const std::string& name, std::size_t count) const override;

 private:
  const zip::Archive& m_archive;
};

}  // namespace wheelsmith::wheel
