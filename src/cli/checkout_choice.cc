#include "cli/checkout_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/version.h"
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

std::optional<source::PinnedRef> find_pin(const recipe::Recipe& recipe, const SourceWords& words) {
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

// "2.13" of "2.13.0+cu130", "nightly/cu130" and the like have none.
std::string major_minor(const std::string& torch) {
  const std::vector<std::string_view> parts = split(torch, '.');
  if (parts.size() < 2 || !to_number(parts[0]) || !to_number(parts[1])) return "";
  return fmt::format("{}.{}", parts[0], parts[1]);
}

void choose_patches(const recipe::Recipe& recipe, const std::string& family_set, const SourceWords& words,
                    const settings::Settings& settings, SourceChoice& choice) {
  if (words.no_patches) return;
  const fs::path folder = patch_folder(words.patch_dir, settings);
  if (!words.patchset.empty()) {
    choice.patches = patch_set_named(folder, recipe.name, words.patchset);
    return;
  }
  if (!words.patch_dir.empty() && !sys::is_folder(folder))
    throw UsageError(fmt::format("--patch-dir {}: there is no such folder", printable(words.patch_dir)));
  const std::vector<std::string> names = source::PatchSet::names(folder, recipe.name);
  for (const std::string& name : {family_set, choice.ref}) {
    if (name.empty() || std::find(names.begin(), names.end(), name) == names.end()) continue;
    choice.patches = source::PatchSet(name, folder / recipe.name / name, recipe.name);
    return;
  }
  if (!names.empty())
    choice.notes.push_back(fmt::format("no patch set of {} belongs to {} ({} are there; --patchset names one)",
                                       recipe.name, printable(choice.ref), printable(join(names, ", "))));
}

}  // namespace

const recipe::Recipe& recipe_named(const recipe::Library& library, const std::string& name) {
  if (const recipe::Recipe* found = library.find(name)) return *found;
  for (const auto& [broken, error] : library.broken()) {
    if (broken == name || fs::path(broken).stem() == name) throw UsageError(printable(error));
  }
  const std::vector<std::string> names = library.names();
  const auto near = nearest(name, names);
  throw UsageError(fmt::format("there is no recipe {}{}; `wheelsmith recipes` lists them", printable(name),
                               near ? ", did you mean " + *near + "?" : ""));
}

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

SourceChoice choose_source(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                           const SourceWords& words, const settings::Settings& settings) {
  const bool git = recipe.source.kind == recipe::Source::Kind::git;
  if (!git && words.origin.empty())
    throw UsageError(
        fmt::format("the source of {} is no git repository, so there is nothing to check out; --origin URL "
                    "--ref REF names one",
                    recipe.name));
  SourceChoice choice;
  choice.origin = words.origin;
  choice.ref = words.ref;
  choice.why = words.ref.empty() ? "" : "--ref";
  // A torch that is named counts more than a checkout that happens to be here.
  const bool torch_named = !settings.text("torch").empty() && words.torch_dir.empty();
  if ((words.ref.empty() && !torch_named) || words.require_related_commit) {
    if (const auto pin = find_pin(recipe, words); pin && words.ref.empty()) {
      choice.ref = pin->ref;
      choice.why = pin->where;
      if (choice.origin.empty()) choice.origin = pin->url;
    }
  }
  if (choice.ref.empty()) {
    const auto known = recipe.source.refs.find(major_minor(settings.text("torch")));
    if (known != recipe.source.refs.end()) {
      choice.ref = known->second;
      choice.why = fmt::format("recipe, for torch {}", known->first);
    } else {
      choice.ref = recipe::expand(recipe.source.ref, {{"version", recipe.source.version}});
      choice.why = "recipe";
    }
  }
  const recipe::Source::Family* family =
      recipe.source.family(choice.ref, variant ? recipe::to_string(*variant) : std::string_view());
  if (choice.origin.empty() && family != nullptr) choice.origin = family->git;
  if (choice.origin.empty()) choice.origin = recipe.source.url;
  if (choice.ref.empty())
    throw UsageError(fmt::format("neither --ref nor the recipe says which ref of {}", recipe.name));
  choose_patches(recipe, family != nullptr ? family->patchset : "", words, settings, choice);
  return choice;
}

recipe::Checkout checkout_rules(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                                const std::string& target, const std::string& ref) {
  recipe::Checkout all;
  all.submodules.emplace();
  const auto rules_of = [&](recipe::Variant one, const std::string& of_target) {
    if (!recipe.depends_on_conditions(one, of_target)) return recipe.rules(one, of_target).checkout;
    recipe::Conditions conditions;
    conditions.ref = ref;
    std::vector<std::string> reasons;
    return recipe.resolved_for(one, of_target, conditions, reasons).rules(one, of_target).checkout;
  };
  const auto add = [&](recipe::Variant one, const std::string& of_target) {
    const recipe::Checkout rules = rules_of(one, of_target);
    const auto& wanted = rules.submodules ? rules.submodules : recipe.source.submodules;
    if (!wanted) all.submodules.reset();
    if (all.submodules && wanted) all.submodules->insert(all.submodules->end(), wanted->begin(), wanted->end());
    if (!rules.hipify.empty() && (variant || recipe.variants().size() == 1)) {
      all.hipify = rules.hipify;
      all.commit_hipify = rules.commit_hipify;
    }
  };
  for (const recipe::Variant one : recipe.variants()) {
    if (variant && *variant != one) continue;
    if (!target.empty()) {
      add(one, target);
      continue;
    }
    for (const std::string& of_target : recipe.targets(one)) add(one, of_target);
  }
  if (all.submodules) {
    std::sort(all.submodules->begin(), all.submodules->end());
    all.submodules->erase(std::unique(all.submodules->begin(), all.submodules->end()), all.submodules->end());
  }
  return all;
}

std::string version_of(const recipe::Recipe& recipe, const std::string& ref, const source::GitFolder& git) {
  if (!recipe.source.version_file.empty()) {
    const sys::Captured text = git.run({"cat-file", "blob", "HEAD:" + recipe.source.version_file});
    if (text.exit.good()) return printable(trim(text.output.substr(0, 200)));
  }
  const std::string& prefix = recipe.source.tag_prefix;
  std::string_view version = ref;
  if (!prefix.empty() && version.starts_with(prefix)) version.remove_prefix(prefix.size());
  if (version.starts_with('v')) version.remove_prefix(1);
  return pep::Version::try_parse(std::string(version)) ? std::string(version) : "";
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
