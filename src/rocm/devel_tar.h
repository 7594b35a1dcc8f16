#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocm/layout/layout.h"

namespace wheelsmith::rocm {

// The devel tree as a virtual tar: its size is known, and any part of it is generated on demand from the mapped files.
// Members in order, time 0, no owner: it depends only on its contents.
class DevelTar {
 public:
  // The items must outlive it. `folder` is prepended to all names.
  DevelTar(const std::vector<DevelItem>& items, const std::string& folder);

  [[nodiscard]] std::uint64_t size() const { return m_size; }
  // From any thread.
  [[nodiscard]] Blob piece(std::uint64_t offset, std::uint64_t size) const;

 private:
  // Headers, then contents, then zeros up to the next whole block.
  struct Part {
    std::uint64_t offset = 0;
    std::string headers;
    const Content* content = nullptr;
  };
  std::vector<Part> m_parts;
  std::uint64_t m_size = 0;
};

}  // namespace wheelsmith::rocm
