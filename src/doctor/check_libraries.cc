// Libraries that a recipe requires: cuDNN, NCCL, TBB, … Without this check, a header of the wrong version fails after
// an hour of compiling, and a missing library file at the very end.

#include <fmt/format.h>

#include "doctor/case.h"
#include "plan/libraries.h"

namespace wheelsmith::doctor {

namespace {

using toolchain::Library;

std::string why_half(Library::State state) {
  switch (state) {
    case Library::State::header_only: return "it compiles, but cannot be linked: the library file is missing";
    case Library::State::file_only: return "it is installed, but compiling needs its development package";
    default: return "the recipe requires it";
  }
}

std::string why_unknown(const Case& c, const toolchain::LibraryKind& kind) {
  if (kind.variant == "cuda" && c.toolkit.from == Toolkit::From::registry)
    return "a toolkit installed from the package index has the libraries of its wheels and of torch's";
  if (kind.variant == "rocm" && !c.facts.rocm) return "it comes with ROCm";
  if (!kind.wheels.empty() && torch_comes_with_wheels(c.rules, c.facts))
    return "not on the machine; the wheels that torch requires may contain it, which the plan checks";
  return "the machine's description does not list it";
}

// nullopt for a library of another variant, or of a missing toolkit, which has its own check.
std::optional<Check> check_library(const Case& c, const recipe::RequiredLibrary& required) {
  const std::string limits = required.specifiers.empty() ? "" : " " + required.specifiers;
  if (toolchain::find_library_kind(required.name) == nullptr)
    return Check{.id = required.name,
                 .state = State::unknown,
                 .found = "not checked",
                 .wanted = required.name + limits,
                 .why = "doctor does not know this library; only the build can tell"};
  const toolchain::LibraryKind* kind = plan::required_kind(required, c.variant);
  const auto found = c.facts.libraries.find(required.name);
  if (kind == nullptr || found == c.facts.libraries.end()) return std::nullopt;
  const Library& library = found->second;
  const Library::State state = library.state();
  Check check{.id = required.name, .found = library.to_string(), .wanted = kind->title + limits};
  if (state == Library::State::unknown) {
    check.state = State::unknown;
    check.why = why_unknown(c, *kind);
    return check;
  }
  check.why =
      state == Library::State::found ? toolchain::library_problem(library, required.specifiers) : why_half(state);
  if (check.why.empty()) {
    if (!required.specifiers.empty() && library.version.empty()) {
      check.state = State::unknown;
      check.why = "its version is unknown";
    }
    return check;
  }
  check.state = State::bad;
  check.fix = plan::library_fix(required, *kind, c.facts.package_manager, c.toolkit.cuda.version);
  return check;
}

}  // namespace

std::vector<Check> check_libraries(const Case& c) {
  std::vector<Check> checks;
  for (const recipe::RequiredLibrary& required : c.rules.requires_versions.libraries) {
    if (std::optional<Check> check = check_library(c, required)) checks.push_back(std::move(*check));
  }
  return checks;
}

}  // namespace wheelsmith::doctor
