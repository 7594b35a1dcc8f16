#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rocm/layout/layout.h"
#include "rocm/look.h"

// What the layouts of all kinds of packages share.

namespace wheelsmith::rocm {

// With '/' at its end; "" for a file at the top.
std::string folder_of(const std::string& path);

// The entries that the row's patterns leave.
Entries held(const PackageRow& row, const Entries& entries);

Finding left_out(const std::string& path, const Entry& entry, std::string_view why);

// What is laid out before its run path is changed, which is the work that is worth threads.
struct Draft {
  std::string path;
  const Entry* entry = nullptr;
  const Look* look = nullptr;
};

void edit_all(const std::vector<Draft>& drafts, const InstallPlace& place, unsigned threads,
              std::vector<LaidFile>& files, std::vector<wheel::ElfFacts>& elf, std::vector<Finding>& findings);

void sort_by_path(std::vector<LaidFile>& files);

}  // namespace wheelsmith::rocm
