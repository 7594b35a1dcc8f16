#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "elf/edit.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// A member whose RPATH or RUNPATH names folders of the machine that built it.
struct CleanedRunPath {
  std::string path;                             // of the member
  std::vector<std::string> removed;             // entries: absolute ones, and empty ones (the current folder)
  std::shared_ptr<const elf::Edited> edited{};  // for WheelEdit::elf_edits; null if it cannot be edited
  std::string problem{};                        // why it cannot be edited
};

// The edits that remove such entries and keep those that begin with $ORIGIN. `files` are those of the wheel.
std::vector<CleanedRunPath> clean_run_paths(Bytes wheel, const std::vector<ElfFacts>& files);

}  // namespace wheelsmith::wheel
