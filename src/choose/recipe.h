#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "choose/request.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// The recipes of a folder of the user's, sorted by name; none for "". Throws RequestError where there is no such
// folder.
std::vector<recipe::Library::File> read_recipe_folder(const std::filesystem::path& folder);

// The recipe of a package: the user's, else ours. Null for a package that has none: its recipe is inferred from its
// source. Throws RequestError for a recipe that could not be read and for a text that is not a package's name.
const recipe::Recipe* find_recipe(const recipe::Library& library, const std::string& package);
// One that must exist. Throws RequestError with the nearest name.
const recipe::Recipe& recipe_named(const recipe::Library& library, const std::string& name);

// What inference starts from: a recipe that says no more than where the source is.
recipe::Recipe unknown_recipe(const std::string& package);
// The inferred recipe; `pin` is where the facts were found.
recipe::Recipe inferred_recipe(const std::string& package, const source::Pin& pin, const recipe::SourceFacts& facts);

// The recipe's settings: what --set says, else their defaults.
std::map<std::string, std::string> chosen_settings(const recipe::Recipe& recipe, const Request& request);

// What [[when]] tables may ask about, as far as it is known before a source, a torch or a toolkit is chosen.
recipe::Conditions first_conditions(const Request& request, const recipe::Recipe& recipe,
                                    const toolchain::Python& python, const gpu::ArchList& archs,
                                    const std::optional<toolchain::Compiler>& compiler);

// Why the recipe does not build this; nothing where it does. `notes` are told in either case.
Chosen<std::optional<std::string>> find_refusal(const recipe::Recipe& recipe, const recipe::Rules& rules,
                                                const gpu::ArchList& archs,
                                                const std::map<std::string, std::string>& settings);

// Throws RequestError for a name in --source or --set that nothing knows and that is nearly one that is known; a
// project's settings may name packages that are not built this time, and those names are returned as notes.
std::vector<std::string> reject_typos(const Request& request, const std::vector<const recipe::Recipe*>& built,
                                      const recipe::Library& library);

}  // namespace wheelsmith::choose
