#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/finding.h"
#include "index/pages.h"

namespace wheelsmith::index {

struct PublishOptions {
  std::filesystem::path folder;
  std::filesystem::path out;  // empty: the folder itself
  LookOptions look;
  IndexOptions indexes;
  PageOptions pages;
  bool sidecars = true;  // NAME.metadata beside each wheel
  bool force = false;    // replace pages that are not ours
};

struct Published {
  struct IndexSummary {
    std::string place;
    std::size_t projects = 0;
    std::size_t files = 0;
  };
  std::vector<IndexSummary> indexes;  // the main one first
  std::uint64_t hashed = 0;
  std::uint64_t hashed_bytes = 0;
  std::uint64_t pages = 0;    // pages and sidecars that there are
  std::uint64_t written = 0;  // of them, now
  std::uint64_t removed = 0;
  std::uint64_t placed = 0;  // files that were linked or copied into a layout, now
  std::vector<Finding> findings;

  // Whether no file was left out because it is broken.
  [[nodiscard]] bool is_good() const;
};

// Makes or brings up to date the pages of a folder. Throws Error when it cannot be done; then nothing is half-written,
// and the next run goes on from there.
Published publish(const PublishOptions& options);

}  // namespace wheelsmith::index
