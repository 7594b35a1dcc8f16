#pragma once

#include "base/buffer_pool.h"
#include "base/file_tree.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

// The members of an archive as a FileTree; folder entries are omitted. Unpacked data is limited to slightly more than
// the two largest members, however many threads open members. The archive must outlive the tree, and the tree must
// outlive the files it opened.
class WheelTree final : public FileTree {
 public:
  explicit WheelTree(const zip::Archive& archive);

  [[nodiscard]] std::vector<File> files() const override;
  [[nodiscard]] std::optional<Blob> open(const std::string& name) const override;
  [[nodiscard]] std::optional<std::string> head(const std::string& name, std::size_t count) const override;

 private:
  const zip::Archive& m_archive;
  mutable BufferPool m_pool;
};

}  // namespace wheelsmith::wheel
