#include "cli/source_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/torch.h"
#include "source/torch_pins.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

// A file of a folder, and nothing outside of it.
source::FileReader reader_of(const fs::path& folder) {
  return [folder](const std::string& name) -> std::optional<std::string> {
    const std::optional<Blob> blob = sys::FolderTree(folder).open(name);
    if (!blob) return {};
    return std::string(blob->bytes.clamp(0, 1 << 20).text());
  };
}

// The checkout that decides: --torch-dir, else the other recipe's own checkout here.
fs::path deciding_folder(const recipe::Recipe& recipe, const SourceWords& words) {
  if (!words.torch_dir.empty()) {
    if (!sys::is_folder(words.torch_dir))
      throw UsageError(fmt::format("--torch-dir {}: there is no such folder", printable(words.torch_dir)));
    source::GitFolder::refuse_locked(words.torch_dir);
    const auto state = source::GitFolder::is_one(words.torch_dir) ? source::read_work_state(words.torch_dir)
                                                                  : std::optional<source::WorkState>();
    if (state && state->recipe != recipe.source.pinned_by.recipe)
      throw UsageError(fmt::format("--torch-dir {}: it is a checkout of {}, not of {}", printable(words.torch_dir),
                                   printable(state->recipe), recipe.source.pinned_by.recipe));
    return words.torch_dir;
  }
  const fs::path beside = recipe.source.pinned_by.recipe;
  if (beside.empty() || !source::GitFolder::is_one(beside)) return {};
  const std::optional<source::WorkState> state = source::read_work_state(beside);
  return state && state->recipe == recipe.source.pinned_by.recipe ? beside : fs::path();
}

std::optional<source::PinnedRef> find_record(const recipe::Recipe& recipe, const SourceWords& words) {
  const recipe::Source::PinnedBy& by = recipe.source.pinned_by;
  if (by.record.empty() && by.files.empty()) {
    if (words.require_related_commit)
      throw Error(fmt::format("{} is pinned by nothing: its recipe has no [source.pinned-by]", recipe.name));
    return {};
  }
  const fs::path folder = deciding_folder(recipe, words);
  if (folder.empty()) {
    if (words.require_related_commit)
      throw Error(fmt::format("--require-related-commit needs a checkout of {} that has the record: --torch-dir DIR",
                              by.recipe));
    return {};
  }
  std::optional<source::PinnedRef> pin;
  try {
    pin = source::pinned_by(by.record, by.files, reader_of(folder));
  } catch (const Error& error) {
    throw error.in(printable(folder.string()));
  }
  if (words.require_related_commit && (!pin || !pin->where.starts_with("related_commits")))
    throw Error(fmt::format("{} has no record of {} in related_commits, and --require-related-commit asks for one",
                            printable(folder.string()), by.record.empty() ? recipe.name : by.record));
  if (!pin && !words.torch_dir.empty() &&
      !(source::GitFolder::is_one(folder) && source::read_work_state(folder).has_value()))
    throw UsageError(fmt::format("--torch-dir {}: it is no checkout of {}: it has neither related_commits nor {}",
                                 printable(words.torch_dir), by.recipe, join(by.files, ", ")));
  if (pin) pin->where = (folder / pin->where).string();
  return pin;
}

source::PatchSet choose_patches(const recipe::Recipe& recipe, const choose::SourceChoice& choice,
                                const SourceWords& words, const settings::Settings& settings,
                                std::vector<std::string>& notes) {
  if (words.no_patches) return {};
  const fs::path folder = patch_folder(words.patch_dir, settings);
  if (!words.patchset.empty()) return patch_set_named(folder, recipe.name, words.patchset);
  if (!words.patch_dir.empty() && !sys::is_folder(folder))
    throw UsageError(fmt::format("--patch-dir {}: there is no such folder", printable(words.patch_dir)));
  const std::vector<std::string> names = source::PatchSet::names(folder, recipe.name);
  const std::string name = choose::choose_patchset(choice, "", names);
  if (!name.empty()) return {name, folder / recipe.name / name, recipe.name};
  if (!names.empty())
    notes.push_back(fmt::format("no patch set of {} belongs to {} ({} are there; --patchset names one)", recipe.name,
                                printable(choice.ref), printable(join(names, ", "))));
  return {};
}

}  // namespace

fs::path patch_folder(const std::string& given, const settings::Settings& settings) {
  if (!given.empty()) return given;
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  std::vector<fs::path> places;
  for (fs::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / "wheelsmith.toml", ignored)) {
      places.push_back(folder / "patches");
      break;
    }
    if (folder == folder.parent_path()) break;
  }
  places.push_back(here / "patches");
  if (const fs::path recipes = settings.text("recipes"); !recipes.empty()) {
    places.push_back(recipes / "patches");
    places.push_back(fs::absolute(recipes / "").parent_path().parent_path() / "patches");
  }
  for (const fs::path& place : places) {
    if (sys::is_folder(place)) return place;
  }
  return places.front();
}

source::PatchSet patch_set_named(const fs::path& folder, const std::string& package, const std::string& name) {
  const fs::path place = folder / package / name;
  const bool leads_out = fs::path(name).is_absolute() || name.find("..") != std::string::npos;
  if (leads_out || !sys::is_folder(place)) {
    const std::vector<std::string> names = source::PatchSet::names(folder, package);
    throw UsageError(fmt::format("there is no patch set {} of {} in {}{}", printable(name), package,
                                 printable(folder.string()),
                                 names.empty() ? std::string() : "; there are " + printable(join(names, ", "))));
  }
  return {name, place, package};
}

std::optional<recipe::Variant> wanted_variant(const recipe::Recipe& recipe, const settings::Settings& settings) {
  const std::vector<std::string> names = settings.list("variant");
  if (names.size() > 1) throw UsageError("a checkout is of one --variant");
  const std::vector<recipe::Variant> legal = recipe.variants();
  if (names.empty()) return legal.size() == 1 ? std::optional(legal.front()) : std::nullopt;
  const auto variant = recipe::variant_named(names.front());
  if (!variant) throw UsageError(fmt::format("--variant {}: it is cpu, cuda or rocm", printable(names.front())));
  try {
    (void)recipe.rules(*variant, recipe.targets(*variant).empty() ? "" : recipe.targets(*variant).front());
  } catch (const Error& error) {
    throw UsageError(printable(error.what()));
  }
  return variant;
}

CheckoutSource checkout_source(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                               const SourceWords& words, const settings::Settings& settings) {
  if (recipe.source.kind != recipe::Source::Kind::git && words.origin.empty())
    throw UsageError(
        fmt::format("the source of {} is no git repository, so there is nothing to check out; --origin URL "
                    "--ref REF names one",
                    recipe.name));
  const std::string torch = settings.text("torch");
  CheckoutSource result;
  // A record that is demanded is looked for even where it decides nothing.
  std::optional<source::PinnedRef> demanded;
  if (words.require_related_commit) demanded = find_record(recipe, words);
  result.choice = choose::choose_source({.recipe = recipe,
                                         .variant = variant,
                                         .ref = words.ref,
                                         .origin = words.origin,
                                         .torch_named = !torch.empty() && words.torch_dir.empty() && !demanded,
                                         .record = [&] { return demanded ? demanded : find_record(recipe, words); },
                                         .torch_series = [&] { return choose::torch_series(torch); }});
  if (result.choice.ref.empty())
    throw UsageError(fmt::format("neither --ref nor the recipe says which ref of {}", recipe.name));
  result.patches = choose_patches(recipe, result.choice, words, settings, result.notes);
  return result;
}

std::unique_ptr<source::Repositories> make_repositories(Session& session) {
  const fetch::FetchOptions options = session.fetch_options();
  auto repositories =
      std::make_unique<source::Repositories>(session.store(), options.mirrors, options.offline, options.stop);
  repositories->on_progress([](const std::string& sentence) {
    const std::string line = "  " + printable(sentence) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  });
  return repositories;
}

}  // namespace wheelsmith::cli
