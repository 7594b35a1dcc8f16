#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/step/spec.h"
#include "toolchain/library/library.h"

// The libraries that a step's rules require. A step sees each at one place, ${tree}/libraries/NAME, whichever layout it
// has on the machine; what decides the result is its version and its bytes, not its path.

namespace wheelsmith::plan {

using Settings = std::map<std::string, std::string>;

// The kind of a required library; null where we do not know it, or where it belongs to another variant.
const toolchain::LibraryKind* required_kind(const recipe::RequiredLibrary& required, recipe::Variant variant);

// Where the user says that it is; "" for what is to be looked for.
std::string named_place(const recipe::RequiredLibrary& required, const Settings& settings);

// Every required library that is of a known kind, found or not, with its digest.
std::vector<toolchain::Library> plan_libraries(const BuildSpec& spec, const recipe::Rules& rules,
                                               const Settings& settings, const toolchain::Host& host);

// Wheels that a CUDA toolkit made from wheels needs for the libraries that no other wheel and no place has.
std::vector<std::string> library_requirements(const BuildSpec& spec, const recipe::Rules& rules,
                                              const Settings& settings, const toolchain::Host& host,
                                              std::string_view cuda_version);

// What an exported variable decided, and warnings. Throws Error where the rules hand on the path of a library that is
// not there; what else is wrong stops the build as a check of doctor.
std::vector<std::string> library_notes(const BuildSpec& spec, const recipe::Rules& rules, const toolchain::Host& host);

// What to install, or which setting to give.
std::string library_fix(const recipe::RequiredLibrary& required, const toolchain::LibraryKind& kind,
                        std::string_view manager, std::string_view cuda_version);

// Folders of site-packages that the step sees besides its own.
std::vector<std::filesystem::path> visible_sites(const BuildSpec& spec, const toolchain::Host& host);

// "${tree}/libraries/NAME"
std::string library_folder(std::string_view name);

}  // namespace wheelsmith::plan
