#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "wheel/read/libraries.h"

namespace wheelsmith::wheel {

struct MissingVersion {
  std::string library;
  std::string version;
  const ElfFacts* given = nullptr;  // the library of that name that lacks it
};

// How the symbols of one file resolve. The names point into the file's facts.
struct FileSymbols {
  std::vector<MissingVersion> missing_versions;
  std::vector<std::string_view> undefined;
  std::vector<std::string_view> needs_torch;
  std::vector<std::string_view> unverified;
  std::map<Libraries::Id, std::vector<std::string_view>> loose;  // by the file that defines them
  // By the glibc library that defines them, which the interpreter loads and the file's NEEDED does not list.
  std::map<std::string_view, std::vector<std::string_view>> loose_system;
  std::vector<std::string> not_given;  // libraries of the closure
};

void append_findings(const ElfFacts& file, const FileSymbols& symbols, const Libraries& libraries,
                     std::vector<Finding>& findings);

}  // namespace wheelsmith::wheel
