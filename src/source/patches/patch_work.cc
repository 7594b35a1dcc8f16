#include "source/patches/patch_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"
#include "source/worktree/work_tree.h"
#include "sys/file.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

bool leaves_folder(const std::string& name) {
  return fs::path(name).is_absolute() || name.find("..") != std::string::npos;
}

// A checkout, and the set that its patches belong to.
struct OpenCheckout {
  fs::path folder;
  std::string recipe, patchset;
};

OpenCheckout open_checkout(const PatchWork& work) {
  GitFolder::refuse_locked(work.checkout);
  if (!GitFolder::is_one(work.checkout))
    throw RequestError(
        fmt::format("{} is not a checkout; create one with `wheelsmith checkout`", printable(work.checkout.string())));
  OpenCheckout result;
  result.folder = fs::canonical(work.checkout);
  recover(result.folder);
  const auto state = read_work_state(result.folder);
  if (!state) throw Error(fmt::format("{} was not made by `wheelsmith checkout`", printable(result.folder.string())));
  result.recipe = state->recipe;
  result.patchset = !work.patchset.empty() ? work.patchset : !state->patchset.empty() ? state->patchset : state->ref;
  if (result.patchset.empty() || leaves_folder(result.patchset))
    throw RequestError(
        fmt::format("\"{}\" is not a valid patch set name; choose one with --patchset", printable(result.patchset)));
  return result;
}

}  // namespace

PatchFolder find_patch_folder(const PatchFolderSearch& search) {
  const fs::path here = search.current_folder / "patches";
  std::vector<fs::path> own;
  if (!search.recipe_folder.empty()) {
    own.push_back(search.recipe_folder / "patches");
    own.push_back(fs::absolute(search.recipe_folder / "").lexically_normal().parent_path().parent_path() / "patches");
  }
  const bool beside_recipes = std::ranges::find(own, here) != own.end();
  std::vector<PatchFolder> folders;
  if (!search.project_folder.empty()) folders.push_back({search.project_folder / "patches"});
  folders.push_back({here, !beside_recipes && search.project_folder != search.current_folder});
  for (const fs::path& folder : own) folders.push_back({folder});
  for (const PatchFolder& folder : folders) {
    if (sys::is_folder(folder.path)) return folder;
  }
  return folders.front();
}

PatchSet patch_set_named(const fs::path& patch_folder, const std::string& package, const std::string& name) {
  const fs::path folder = PatchSet::folder_of(patch_folder, package) / name;
  if (leaves_folder(name) || !sys::is_folder(folder)) {
    const std::vector<std::string> names = PatchSet::names(patch_folder, package);
    throw RequestError(fmt::format("no patch set {} for {} in {}{}", printable(name), package,
                                   printable(patch_folder.string()),
                                   names.empty() ? std::string() : "; available: " + printable(join(names, ", "))));
  }
  return {name, folder, package};
}

SavedSet save_patch_set(const PatchWork& work) {
  const OpenCheckout checkout = open_checkout(work);
  const PatchSet set(checkout.patchset, PatchSet::folder_of(work.patch_folder, checkout.recipe) / checkout.patchset,
                     checkout.recipe);
  return {checkout.patchset, set.folder(), save_patches(checkout.folder, set)};
}

AppliedSet apply_patch_set(const PatchWork& work) {
  const OpenCheckout checkout = open_checkout(work);
  const PatchSet set = patch_set_named(work.patch_folder, checkout.recipe, checkout.patchset);
  return {checkout.patchset, apply_set(checkout.folder, set)};
}

PatchSetList list_patch_sets(const std::string& package, const std::optional<WorkState>& checkout,
                             const fs::path& patch_folder, const std::string& patchset) {
  std::vector<std::string> names = PatchSet::names(patch_folder, package);
  if (!patchset.empty()) names = {patch_set_named(patch_folder, package, patchset).name()};
  PatchSetList result{package, patch_folder, {}};
  for (const std::string& name : names) {
    const PatchSet set(name, PatchSet::folder_of(patch_folder, package) / name, package);
    ListedSet listed{name, set.folder(), {}};
    for (const PatchFile& patch : set.files()) {
      std::optional<bool> applied;
      if (checkout) {
        const AppliedPatch wanted{patch.part, patch.name, patch.sha256, patch.hipified};
        applied = std::find(checkout->patches.begin(), checkout->patches.end(), wanted) != checkout->patches.end();
      }
      listed.patches.push_back({patch.part, patch.name, patch.sha256, patch.hipified, applied});
    }
    result.sets.push_back(std::move(listed));
  }
  return result;
}

}  // namespace wheelsmith::source
