#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/finding.h"
#include "elf/edit.h"
#include "rocm/artifacts.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::rocm {

// What a file is to the packager. A magic number is no proof: a cut-off file, device code and whatever cannot be read
// whole are data, and are shipped as they are.
struct Look {
  enum class Kind : std::uint8_t { data, script, program, library } kind = Kind::data;
  std::string soname;         // of a library; "" where it has none that a file could be called
  bool editable = false;      // a dynamic object of the host
  std::uint16_t machine = 0;  // ELF's number of the host, of programs and libraries
  std::vector<std::string> run_path;
  std::shared_ptr<const wheel::ElfFacts> facts;  // of the host's ELF files
};

Look look_at(const std::string& path, const Entry& entry);
// All files (not links) of the entries, several at a time.
std::map<std::string, Look> look_at_all(const Entries& entries, unsigned threads);

// The file with a DT_RPATH of what it has already, as far as that is relative to the file, and behind it the folders
// searched (relative to site-packages) as seen from `path` (likewise). Null when nothing changes. Says what it leaves
// out.
std::shared_ptr<const elf::Edited> with_run_path(const std::string& path, const Entry& entry, const Look& look,
                                                 const std::vector<std::string>& searched,
                                                 std::vector<Finding>& findings);

}  // namespace wheelsmith::rocm
