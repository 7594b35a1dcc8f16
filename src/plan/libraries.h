#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/step/spec.h"
#include "toolchain/library/library.h"

// The libraries that a step's rules require. Each is linked to ${tree}/libraries/NAME, regardless of its layout on the
// machine. The key contains its version and digest, not its path.

namespace wheelsmith::plan {

using Settings = std::map<std::string, std::string>;

// The kind of a required library; null if it is unknown or belongs to another variant.
const toolchain::LibraryKind* required_kind(const recipe::RequiredLibrary& required, recipe::Variant variant);

// The location given by the user; "" if it must be searched for.
std::string named_place(const recipe::RequiredLibrary& required, const Settings& settings);

// All required libraries of known kinds, found or not, with their digests.
std::vector<toolchain::Library> plan_libraries(const BuildSpec& spec, const recipe::Rules& rules,
                                               const Settings& settings, const toolchain::Host& host);

// Additional wheels for a CUDA toolkit made from wheels: those of required libraries that are found nowhere else.
std::vector<std::string> library_requirements(const BuildSpec& spec, const recipe::Rules& rules,
                                              const Settings& settings, const toolchain::Host& host,
                                              std::string_view cuda_version);

// Notes about environment variables that were used, and warnings. Throws Error if the rules pass the path of a missing
// library to the build; doctor's checks report other problems.
std::vector<std::string> library_notes(const BuildSpec& spec, const recipe::Rules& rules, const toolchain::Host& host);

// How to fix a missing library: the package to install, or the setting.
std::string library_fix(const recipe::RequiredLibrary& required, const toolchain::LibraryKind& kind,
                        std::string_view manager, std::string_view cuda_version);

// Additional site-packages folders of the step.
std::vector<std::filesystem::path> visible_sites(const BuildSpec& spec, const toolchain::Host& host);

// "${tree}/libraries/NAME"
std::string library_folder(std::string_view name);

}  // namespace wheelsmith::plan
