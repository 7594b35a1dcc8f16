#include "choose/recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::choose {

namespace {

// A recipe that is not valid TOML is known only by its file name.
void throw_if_broken(const recipe::Library& library, const std::string& package) {
  for (const auto& [name, problem] : library.broken()) {
    if (pep::same_name(name, package) || pep::same_name(std::filesystem::path(name).stem().string(), package))
      throw RequestError(problem);
  }
}

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
}

}  // namespace

std::vector<recipe::Library::File> read_recipe_folder(const std::filesystem::path& folder) {
  std::vector<recipe::Library::File> files;
  if (folder.empty()) return files;
  if (!sys::is_folder(folder))
    throw RequestError(fmt::format("--recipes {}: no such folder", printable(folder.string())));
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) files.push_back({path.string(), sys::read_file(path, 4 << 20)});
  return files;
}

const recipe::Recipe* find_recipe(const recipe::Library& library, const std::string& package) {
  if (const recipe::Recipe* known = library.find(package)) return known;
  throw_if_broken(library, package);
  if (!pep::is_valid_name(package))
    throw RequestError(
        fmt::format("{} is not a valid package name; build a folder with --source FOLDER", printable(package)));
  return nullptr;
}

const recipe::Recipe& recipe_named(const recipe::Library& library, const std::string& name) {
  if (const recipe::Recipe* found = library.find(name)) return *found;
  throw_if_broken(library, name);
  const auto near = nearest(name, library.names());
  throw RequestError(fmt::format("unknown recipe {}{} `wheelsmith recipes` lists all", printable(name),
                                 near ? "; did you mean " + *near + "?" : ";"));
}

recipe::Recipe unknown_recipe(const std::string& package) {
  recipe::Recipe recipe;
  // Normalized, because the name is part of step ids, of identities in the store and of patch folders.
  recipe.name = recipe.project = pep::normalized_name(package);
  recipe.source.kind = recipe::Source::Kind::sdist;
  recipe.source.project = recipe.name;
  return recipe;
}

recipe::Recipe inferred_recipe(const std::string& package, const source::Pin& pin, const recipe::SourceFacts& facts) {
  recipe::Recipe recipe = recipe::infer(facts);
  recipe.name = pep::normalized_name(package);
  recipe.source = unknown_recipe(package).source;
  recipe.source.version = pin.version;
  return recipe;
}

std::map<std::string, std::string> chosen_settings(const recipe::Recipe& recipe, const Request& request) {
  std::map<std::string, std::string> chosen;
  for (const recipe::Setting& setting : recipe.settings) {
    const auto wanted = request.set.find(setting.name);
    chosen[setting.name] = wanted == request.set.end() ? setting.fallback : wanted->second;
  }
  return chosen;
}

recipe::Conditions first_conditions(const Request& request, const recipe::Recipe& recipe,
                                    const toolchain::Python& python, const gpu::ArchList& archs,
                                    const std::optional<toolchain::Compiler>& compiler) {
  recipe::Conditions conditions;
  conditions.python = python.version;
  conditions.platform = request.platform.empty() ? python.platform : request.platform;
  conditions.machine = python.machine();
  conditions.build_type = request.build_type;
  if (compiler) {
    conditions.compiler_family = compiler->family;
    conditions.compiler_version = compiler->version;
  }
  for (const gpu::ArchRequest& one : archs.requests) conditions.archs.push_back(gpu::to_string(one));
  conditions.settings = chosen_settings(recipe, request);
  return conditions;
}

Chosen<std::optional<std::string>> find_refusal(const recipe::Recipe& recipe, const recipe::Rules& rules,
                                                const gpu::ArchList& archs,
                                                const std::map<std::string, std::string>& settings) {
  Chosen<std::optional<std::string>> result;
  for (const recipe::Refusal& refusal : rules.refusals) {
    const std::vector<std::string> hit = refusal.hits(archs);
    if (hit.empty() && !refusal.archs.empty()) continue;
    if (refusal.is_overridden(settings)) {
      result.notes.push_back(fmt::format("{}: building because of --set {}={}, although {}", recipe.name,
                                         refusal.override_by, settings.at(refusal.override_by), refusal.why));
      continue;
    }
    const std::string words = recipe.override_words(refusal);
    result.what = fmt::format("{} cannot be built{}: {}{}", recipe.name, hit.empty() ? "" : " for " + join(hit, ", "),
                              refusal.why, words.empty() ? "" : "; " + words + " builds it anyway");
    return result;
  }
  return result;
}

std::vector<std::string> reject_typos(const Request& request, const std::vector<const recipe::Recipe*>& built,
                                      const recipe::Library& library) {
  std::vector<std::string> notes, packages, settings;
  for (const recipe::Recipe* recipe : built) {
    add_once(packages, recipe->name);
    for (const recipe::Setting& setting : recipe->settings) add_once(settings, setting.name);
  }
  const auto reject = [&](const std::string& option, const std::string& name, const std::vector<std::string>& known) {
    const auto same = [&](const std::string& other) { return other == name || pep::same_name(other, name); };
    if (std::any_of(known.begin(), known.end(), same)) return;
    const auto near = nearest(name, known);
    if (near && name.size() > 4 && library.find(name) == nullptr)
      throw RequestError(fmt::format("{} {}: unknown name; did you mean {}?", option, printable(name), *near));
    notes.push_back(fmt::format("{} {} is not used: no package of this build has that name", option, printable(name)));
  };
  for (const source::Override& user : request.sources) {
    if (!user.name.empty()) reject("--source", user.name, packages);
    if (user.name.empty() && user.project.empty() && request.packages.size() > 1)
      throw RequestError("--source: several packages are built, so name the one it is for: --source NAME=PLACE");
  }
  std::vector<std::string> of_any = settings;
  for (const std::string& name : library.names()) {
    for (const recipe::Setting& setting : library.find(name)->settings) add_once(of_any, setting.name);
  }
  for (const auto& [name, value] : request.set) {
    if (std::find(of_any.begin(), of_any.end(), name) == of_any.end()) {
      const auto near = nearest(name, settings.empty() ? of_any : settings);
      throw RequestError(fmt::format("--set {}: unknown recipe setting; {}", printable(name),
                                     near               ? "did you mean " + *near + "?"
                                     : settings.empty() ? "the recipes of this build have none"
                                                        : "known settings: " + join(settings, ", ")));
    }
    reject("--set", name, settings);
  }
  return notes;
}

}  // namespace wheelsmith::choose
