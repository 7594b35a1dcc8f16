#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/finding.h"
#include "elf/edit.h"
#include "rocm/artifacts.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::rocm {

// How the packager treats a file. A magic number is not enough: truncated files, device code and files that cannot be
// parsed completely are data, and are shipped unchanged.
struct Look {
  enum class Kind : std::uint8_t { data, script, program, library } kind = Kind::data;
  std::string soname;         // of a library; "" if it has none that is valid as a file name
  bool editable = false;      // a dynamic object of the host
  std::uint16_t machine = 0;  // ELF's number of the host, of programs and libraries
  std::vector<std::string> run_path;
  std::shared_ptr<const wheel::ElfFacts> facts;  // of the host's ELF files
};

Look look_at(const std::string& path, const Entry& entry);
// All files (not links) of the entries, several at a time.
std::map<std::string, Look> look_at_all(const Entries& entries, unsigned threads);

// The file with a DT_RPATH of its existing entries that are relative to the file, followed by the searched folders
// (relative to site-packages) as seen from `path` (likewise). Null if nothing changes. Reports the entries that it
// drops.
std::shared_ptr<const elf::Edited> with_run_path(const std::string& path, const Entry& entry, const Look& look,
                                                 const std::vector<std::string>& searched,
                                                 std::vector<Finding>& findings);

}  // namespace wheelsmith::rocm
