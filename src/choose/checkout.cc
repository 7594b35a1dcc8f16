#include "choose/checkout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"
#include "choose/recipe.h"
#include "choose/torch.h"
#include "pep/version.h"
#include "source/patches/patch_work.h"
#include "source/torch_pins.h"
#include "sys/file.h"

namespace wheelsmith::choose {

namespace {

namespace fs = std::filesystem;

// A file inside a folder; never one outside.
source::FileReader reader_of(const fs::path& folder) {
  return [folder](const std::string& name) -> std::optional<std::string> {
    const std::optional<Blob> blob = sys::FolderTree(folder).open(name);
    if (!blob) return {};
    return std::string(blob->bytes.clamp(0, 1 << 20).text());
  };
}

std::optional<source::WorkState> checkout_in(const fs::path& folder) {
  return source::GitFolder::is_one(folder) ? source::read_work_state(folder) : std::nullopt;
}

// The checkout that determines the ref: --torch-dir, else the checkout of the other recipe in this folder.
fs::path deciding_folder(const recipe::Recipe& recipe, const CheckoutOptions& options) {
  const std::string& decider = recipe.source.pinned_by.recipe;
  if (!options.torch_dir.empty()) {
    if (!sys::is_folder(options.torch_dir))
      throw RequestError(fmt::format("--torch-dir {}: no such folder", printable(options.torch_dir)));
    source::GitFolder::refuse_locked(options.torch_dir);
    const auto state = checkout_in(options.torch_dir);
    if (state && state->recipe != decider)
      throw RequestError(fmt::format("--torch-dir {}: this is a checkout of {}, not of {}",
                                     printable(options.torch_dir), printable(state->recipe), decider));
    return options.torch_dir;
  }
  if (decider.empty()) return {};
  const auto state = checkout_in(decider);
  return state && state->recipe == decider ? fs::path(decider) : fs::path();
}

// The ref that the recipe pairs with the checked-out release, if its pin files are not used for releases.
std::optional<source::PinnedRef> pair_of_release(const recipe::Recipe& recipe, const fs::path& folder) {
  const auto state = checkout_in(folder);
  if (!recipe.source.pinned_by.unless_release || !state || state->ref_kind != source::RefKind::tag) return {};
  const std::string version = state->ref.substr(state->ref.starts_with('v') ? 1 : 0);
  const auto parsed = pep::Version::try_parse(version);
  if (!parsed || parsed->is_prerelease()) return {};
  const auto pairs = recipe::torch_pairs(recipe.source, std::nullopt);
  const auto found = pairs.find(torch_series(version));
  if (found == pairs.end()) return {};
  return source::PinnedRef{"", found->second, fmt::format("release {} in {}", state->ref, folder.string())};
}

std::optional<source::PinnedRef> find_record(const recipe::Recipe& recipe, const CheckoutOptions& options) {
  const recipe::Source::PinnedBy& by = recipe.source.pinned_by;
  if (by.record.empty() && by.files.empty()) {
    if (options.require_related_commit)
      throw Error(fmt::format("no other package pins {}: its recipe has no [source.pinned-by]", recipe.name));
    return {};
  }
  const fs::path folder = deciding_folder(recipe, options);
  if (folder.empty()) {
    if (options.require_related_commit)
      throw Error(fmt::format("--require-related-commit needs a checkout of {} with related_commits: --torch-dir DIR",
                              by.recipe));
    return {};
  }
  std::optional<source::PinnedRef> pin;
  try {
    pin = source::pinned_by(by.record, {}, reader_of(folder));
    if (!pin && !options.require_related_commit) {
      if (auto pair = pair_of_release(recipe, folder)) return pair;
      pin = source::pinned_by("", by.files, reader_of(folder));
    }
  } catch (const Error& error) {
    throw error.in(printable(folder.string()));
  }
  if (options.require_related_commit && (!pin || !pin->where.starts_with("related_commits")))
    throw Error(fmt::format("{} has no entry for {} in related_commits, which --require-related-commit requires",
                            printable(folder.string()), by.record.empty() ? recipe.name : by.record));
  if (!pin && !options.torch_dir.empty() && !checkout_in(folder))
    throw RequestError(fmt::format("--torch-dir {}: not a checkout of {}: it has neither related_commits nor {}",
                                   printable(options.torch_dir), by.recipe, join(by.files, ", ")));
  if (pin) pin->where = (folder / pin->where).string();
  return pin;
}

source::PatchSet choose_patches(const recipe::Recipe& recipe, const SourceChoice& choice,
                                const CheckoutOptions& options, std::vector<std::string>& notes) {
  if (options.no_patches) return {};
  const fs::path& folder = options.patch_folder;
  if (!options.patchset.empty()) return source::patch_set_named(folder, recipe.name, options.patchset);
  if (options.patch_folder_named && !sys::is_folder(folder))
    throw RequestError(fmt::format("--patch-dir {}: no such folder", printable(folder.string())));
  const std::vector<std::string> names = source::PatchSet::names(folder, recipe.name);
  const std::string name = choose_patchset(choice, "", names);
  if (!name.empty()) {
    options.on_found_patchset(recipe.name, name);
    return {name, source::PatchSet::folder_of(folder, recipe.name) / name, recipe.name};
  }
  if (!names.empty())
    notes.push_back(fmt::format("no patch set of {} matches {} (available: {}; select one with --patchset)",
                                recipe.name, printable(choice.ref), printable(join(names, ", "))));
  return {};
}

recipe::Checkout choose_hipify(const recipe::Recipe& recipe, const recipe::Checkout& parts, const std::string& ref,
                               const CheckoutOptions& options) {
  recipe::Checkout result = parts;
  if (options.hipify && result.hipify.empty())
    result = choose_parts(recipe, recipe::Variant::rocm, options.target, ref);
  if (options.hipify && result.hipify.empty())
    throw RequestError(fmt::format("--hipify: the recipe of {} has no hipify script", recipe.name));
  if (options.no_hipify) result.hipify.clear();
  if (!result.hipify.empty() && options.python.empty())
    throw Error("hipify needs python3, which is not in PATH; install it, or use --no-hipify");
  return result;
}

// The version according to the files of a checkout.
std::function<std::string(const source::GitFolder&)> version_reader(const recipe::Recipe& recipe,
                                                                    const std::string& ref) {
  return [&recipe, ref](const source::GitFolder& git) {
    std::optional<std::string> text;
    if (!recipe.source.version_file.empty()) {
      const sys::Captured shown = git.run({"cat-file", "blob", "HEAD:" + recipe.source.version_file});
      if (shown.exit.good()) text = shown.output;
    }
    return source_version(recipe, ref, text);
  };
}

}  // namespace

std::vector<const recipe::Recipe*> checkout_order(const std::vector<std::string>& names,
                                                  const recipe::Library& library) {
  std::vector<const recipe::Recipe*> recipes;
  for (const std::string& name : names) {
    const recipe::Recipe* found = &recipe_named(library, name);
    if (std::find(recipes.begin(), recipes.end(), found) == recipes.end()) recipes.push_back(found);
  }
  std::stable_partition(recipes.begin(), recipes.end(),
                        [](const recipe::Recipe* recipe) { return recipe->source.pinned_by.recipe.empty(); });
  return recipes;
}

std::optional<recipe::Variant> checkout_variant(const recipe::Recipe& recipe, const std::vector<std::string>& names) {
  if (names.size() > 1) throw RequestError("a checkout takes only one --variant");
  const std::vector<recipe::Variant> legal = recipe.variants();
  if (names.empty()) return legal.size() == 1 ? std::optional(legal.front()) : std::nullopt;
  const auto variant = recipe::variant_named(names.front());
  if (!variant) throw RequestError(fmt::format("--variant {}: must be cpu, cuda or rocm", printable(names.front())));
  try {
    (void)recipe.rules(*variant, recipe.targets(*variant).empty() ? "" : recipe.targets(*variant).front());
  } catch (const Error& error) {
    throw RequestError(error.what());
  }
  return variant;
}

SourceChoice choose_checkout_source(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                                    const CheckoutOptions& options) {
  if (recipe.source.kind != recipe::Source::Kind::git && options.origin.empty())
    throw RequestError(
        fmt::format("the source of {} is not a git repository, so it cannot be checked out; give a repository with "
                    "--origin URL --ref REF",
                    recipe.name));
  // A required entry is checked even if it does not determine the ref.
  std::optional<source::PinnedRef> demanded;
  if (options.require_related_commit) demanded = find_record(recipe, options);
  const SourceChoice choice =
      choose_source({.recipe = recipe,
                     .variant = variant,
                     .ref = options.ref,
                     .origin = options.origin,
                     .torch_named = !options.torch.empty() && options.torch_dir.empty() && !demanded,
                     .record = [&] { return demanded ? demanded : find_record(recipe, options); },
                     .torch_series = [&] { return torch_series(options.torch); }});
  if (choice.ref.empty())
    throw RequestError(fmt::format("no ref for {}: the recipe has none; give one with --ref REF", recipe.name));
  return choice;
}

Checkout choose_checkout(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                         const fs::path& folder, const CheckoutOptions& options) {
  using Submodules = CheckoutOptions::Submodules;
  const SourceChoice choice = choose_checkout_source(recipe, variant, options);
  Checkout checkout;
  checkout.why = reason_of(choice);
  source::CheckoutRequest& request = checkout.request;
  request.patches = choose_patches(recipe, choice, options, checkout.notes);
  request.recipe = recipe.name;
  request.variant = variant ? std::string(recipe::to_string(*variant)) : "";
  request.folder = folder;
  request.origin = choice.url;
  request.ref = choice.ref;
  const recipe::Checkout parts = choose_parts(recipe, variant, options.target, choice.ref);
  if (options.submodules == Submodules::needed) request.submodules = parts.submodules;
  if (options.submodules == Submodules::none) request.submodules.emplace();
  const recipe::Checkout hipified = choose_hipify(recipe, parts, choice.ref, options);
  request.hipify = hipified.hipify;
  request.commit_hipify = hipified.commit_hipify && options.commit_hipify;
  if (request.hipify.empty()) {
    if (const std::size_t left = request.patches.drop_hipified(); left != 0)
      checkout.notes.push_back(fmt::format("skipped {} hipified patch{}, because the checkout is not hipified", left,
                                           left == 1 ? "" : "es"));
  }
  request.python = options.python;
  request.depth = options.depth;
  request.offline = options.offline;
  request.version = version_reader(recipe, choice.ref);
  return checkout;
}

}  // namespace wheelsmith::choose
