#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "choose/request.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// The recipes in a folder of the user, sorted by name; none for "". Throws RequestError if the folder does not exist.
std::vector<recipe::Library::File> read_recipe_folder(const std::filesystem::path& folder);

// The recipe of a package: the user's, else the built-in one. Null if there is none, so that it must be inferred from
// the source. Throws RequestError for a recipe that could not be read, and for an invalid package name.
const recipe::Recipe* find_recipe(const recipe::Library& library, const std::string& package);
// The recipe of that name. Throws RequestError that suggests the nearest name if there is none.
const recipe::Recipe& recipe_named(const recipe::Library& library, const std::string& name);

// The starting point of inference: a recipe that contains only the source.
recipe::Recipe unknown_recipe(const std::string& package);
// The inferred recipe; `pin` is the source that the facts come from.
recipe::Recipe inferred_recipe(const std::string& package, const source::Pin& pin, const recipe::SourceFacts& facts);

// The recipe's settings: values of --set, else their defaults.
std::map<std::string, std::string> chosen_settings(const recipe::Recipe& recipe, const Request& request);

// The conditions for [[when]] tables that are known before a source, a torch or a toolkit is chosen.
recipe::Conditions first_conditions(const Request& request, const recipe::Recipe& recipe,
                                    const toolchain::Python& python, const gpu::ArchList& archs,
                                    const std::optional<toolchain::Compiler>& compiler);

// Why the recipe cannot build this; nothing if it can. `notes` are reported in either case.
Chosen<std::optional<std::string>> find_refusal(const recipe::Recipe& recipe, const recipe::Rules& rules,
                                                const gpu::ArchList& archs,
                                                const std::map<std::string, std::string>& settings);

// Throws RequestError for an unknown name in --source or --set that is close to a known one (a typo). A project's
// settings may name packages that are not part of this build; such names are returned as notes.
std::vector<std::string> reject_typos(const Request& request, const std::vector<const recipe::Recipe*>& built,
                                      const recipe::Library& library);

}  // namespace wheelsmith::choose
