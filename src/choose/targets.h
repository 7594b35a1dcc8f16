#pragma once

#include <optional>
#include <string>

#include "choose/request.h"

// The PACKAGE arguments of `build`, `plan` and `doctor`: names, and the other forms that pip accepts:
//
//   NAME, NAME==1.2, NAME>=1,<2      a recipe, or a project of the package index
//   ., ./dir, dir/, dist/x-1.0.tar.gz  a source on this machine
//   https://…/x-1.0.tar.gz           an archive
//   git+https://…@ref[#egg=NAME]     a repository; NAME @ git+https://… as in a requirement
// Each becomes a package name and a value of --source. A plain name never means a file of that name, because another
// user may control the current folder.

namespace wheelsmith::choose {

struct Target {
  std::string package;  // normalized
  std::optional<source::Override> source;
};

// Whether the text is more than a name and a version. Such texts refer to files and servers, so only the user may give
// them.
bool names_a_place(const std::string& text);
// Throws RequestError that lists the accepted forms.
Target read_target(const std::string& text);

// Converts NAME==VERSION to the tag of that version, for a recipe that builds from a repository.
void take_versions_as_tags(Request& request, const recipe::Library& recipes);

}  // namespace wheelsmith::choose
