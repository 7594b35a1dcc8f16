#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/finding.h"
#include "index/pages/pages.h"

namespace wheelsmith::index {

struct PublishOptions {
  std::filesystem::path folder;
  std::filesystem::path out;  // empty: the folder itself
  LookOptions look;
  IndexOptions indexes;
  PageOptions pages;
  bool sidecars = true;  // NAME.metadata next to each wheel
  bool force = false;    // replace pages not written by wheelsmith
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
  std::uint64_t pages = 0;    // all pages and sidecars
  std::uint64_t written = 0;  // those written in this run
  std::uint64_t removed = 0;
  std::uint64_t placed = 0;  // files linked or copied into a layout in this run
  std::vector<Finding> findings;

  // Whether no file was excluded because it is broken.
  [[nodiscard]] bool is_good() const;
};

// Creates or updates the pages of a folder. Throws Error on failure; no file is half-written then, and the next run
// resumes.
Published publish(const PublishOptions& options);

}  // namespace wheelsmith::index
