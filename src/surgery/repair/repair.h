#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "surgery/input_wheel.h"
#include "surgery/item.h"
#include "wheel/check/loader/loader.h"

namespace wheelsmith::surgery {

struct RepairRequest {
  std::string platform = "auto";         // a policy or platform tag; "auto": the most compatible one
  std::string library_suffix = ".libs";  // grafts go into the folder NAME + this
  bool only_platform = false;            // no tags of wider policies
  bool strip = false;                    // remove symbols that loading does not need
  std::vector<std::string> excluded;     // libraries (shell patterns on SONAME or path) that stay outside
  std::vector<std::string> graft;        // libraries to copy that no file needs by name: paths or SONAMEs
  // What users can do about libraries that are not found.
  std::string missing_help = "Add their folder with --ldpaths, or leave them outside with --exclude";
};

// The machine that libraries are taken from.
struct LibrarySource {
  wheel::LoaderMachine glibc, musl;
  std::filesystem::path root = "/";  // of its package databases
};

// The library at the path, if there is one that can be read.
std::optional<wheel::ElfFacts> library_at(const std::string& path);
// The folders that the loaders of this machine search by default; LD_LIBRARY_PATH is not used.
LibrarySource machine_libraries();

// Throws Error; RequestError for options that are invalid for any wheel.
void repair(InputWheel& input, const RepairRequest& request, const LibrarySource& source, const WriteOptions& options,
            Item& item);

}  // namespace wheelsmith::surgery
