#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rocm/layout/layout.h"
#include "rocm/look.h"

// Common parts of the layouts of all kinds of packages.

namespace wheelsmith::rocm {

// With '/' at its end; "" for a file at the top.
std::string folder_of(const std::string& path);

// The entries that match the patterns of the row.
Entries held(const PackageRow& row, const Entries& entries);

Finding left_out(const std::string& path, const Entry& entry, std::string_view why);

// The layout before run paths are changed; that part is slow and runs in threads.
struct Draft {
  std::string path;
  const Entry* entry = nullptr;
  const Look* look = nullptr;
};

void edit_all(const std::vector<Draft>& drafts, const InstallPlace& place, unsigned threads,
              std::vector<LaidFile>& files, std::vector<wheel::ElfFacts>& elf, std::vector<Finding>& findings);

void sort_by_path(std::vector<LaidFile>& files);

}  // namespace wheelsmith::rocm
