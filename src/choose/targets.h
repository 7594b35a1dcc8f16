#pragma once

#include <optional>
#include <string>

#include "choose/request.h"

// What `build`, `plan` and `doctor` are given to build. A name is the usual case, but users type what pip takes, too:
//
//   NAME, NAME==1.2, NAME>=1,<2      a recipe, or a project of the package index
//   ., ./dir, dir/, dist/x-1.0.tar.gz  a source on this machine
//   https://…/x-1.0.tar.gz           an archive
//   git+https://…@ref[#egg=NAME]     a repository; NAME @ git+https://… as in a requirement
//
// Each becomes a package's name and what --source would say about it. A name alone is never a file of that name: the
// current folder may be anybody's.

namespace wheelsmith::choose {

struct Target {
  std::string package;  // normalized
  std::optional<source::Override> source;
};

// Whether the text is more than a name and a version. It may name files and servers then, which only the user may.
bool names_a_place(const std::string& text);
// Throws RequestError that says which forms are accepted.
Target read_target(const std::string& text);

// NAME==VERSION of a recipe that builds from a repository is the tag of that version.
void take_versions_as_tags(Request& request, const recipe::Library& recipes);

}  // namespace wheelsmith::choose
