#include "choose/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"

namespace wheelsmith::choose {

namespace {

namespace fs = std::filesystem;

std::string plain_url(std::string url) {
  if (url.ends_with('/')) url.pop_back();
  if (url.ends_with(".git")) url.resize(url.size() - 4);
  return to_lower(url);
}

source::CheckoutRequest manifest_request(const source::ManifestProject& project, const recipe::Recipe* recipe,
                                         const ManifestOptions& options) {
  source::CheckoutRequest request;
  request.recipe = recipe != nullptr ? recipe->name : project.name;
  request.folder = options.into / request.recipe;
  request.variant = project.variant;
  request.origin = project.repo;
  request.ref = project.branch.empty() ? project.commit : project.branch;
  request.commit = project.commit;
  request.submodules = project.wanted_submodules;
  if (!project.patchset.empty() && !project.patches.empty()) {
    if (project.patchset.find("..") != std::string::npos || fs::path(project.patchset).is_absolute())
      throw Error(fmt::format("{}: \"{}\" is not a valid patch set name", project.name, printable(project.patchset)));
    const fs::path folder = source::PatchSet::folder_of(options.patch_folder, request.recipe) / project.patchset;
    request.patches = source::PatchSet(project.patchset, folder, request.recipe);
    source::compare_patches(project, request.patches);
  }
  request.hipify = project.hipify;
  request.commit_hipify = project.commit_hipify;
  request.python = options.python;
  request.offline = options.offline;
  request.version = [version = project.version](const source::GitFolder&) { return version; };
  return request;
}

}  // namespace

const recipe::Recipe* manifest_recipe(const source::ManifestProject& project, const recipe::Library& library) {
  if (const recipe::Recipe* found = library.find(project.recipe.empty() ? project.name : project.recipe)) return found;
  // The URL of the repository is more specific than its name, which forks share.
  for (const bool whole : {true, false}) {
    std::vector<const recipe::Recipe*> found;
    for (const std::string& name : library.names()) {
      const recipe::Recipe* one = library.find(name);
      if (one->source.kind != recipe::Source::Kind::git) continue;
      const bool same = whole ? plain_url(one->source.url) == plain_url(project.repo)
                              : base_name(plain_url(one->source.url)) == base_name(plain_url(project.repo));
      if (same) found.push_back(one);
    }
    if (found.size() == 1) return found.front();
  }
  return nullptr;
}

ManifestCheckouts choose_manifest(const std::vector<source::ManifestProject>& projects, const recipe::Library& library,
                                  const ManifestOptions& options) {
  for (const std::string& name : options.projects) {
    if (std::none_of(projects.begin(), projects.end(), [&](const auto& one) { return one.name == name; }))
      throw RequestError(fmt::format("{} has no project {}", printable(options.file), printable(name)));
  }
  ManifestCheckouts result;
  for (const source::ManifestProject& project : projects) {
    const bool named =
        std::find(options.projects.begin(), options.projects.end(), project.name) != options.projects.end();
    if (!options.projects.empty() && !named) continue;
    const recipe::Recipe* recipe = manifest_recipe(project, library);
    if (recipe == nullptr && !named)
      result.left_out.push_back(project.name);
    else
      result.checkouts.push_back({project, manifest_request(project, recipe, options)});
  }
  if (result.checkouts.empty()) throw Error(fmt::format("{} has no project with a recipe", printable(options.file)));
  return result;
}

}  // namespace wheelsmith::choose
