// `patches`: what was changed in a checkout, as files that the next checkout applies.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/recipe.h"
#include "cli/source_words.h"
#include "sys/file.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

using document::Array;
using document::Table;

struct PatchesCommand {
  OutputOptions output;
  SettingWords settings;
  std::string recipe, folder, patchset, patch_dir;
};

struct PatchWork {
  fs::path folder;
  source::WorkState state;
  fs::path patches;  // the folder of all sets
  std::string set;
};

PatchWork place_of(const PatchesCommand& command) {
  if (command.recipe.empty() == command.folder.empty())
    throw UsageError("name the recipe whose checkout is in the folder of that name, or --dir DIR");
  PatchWork place;
  place.folder = command.folder.empty() ? command.recipe : command.folder;
  source::GitFolder::refuse_locked(place.folder);
  if (!source::GitFolder::is_one(place.folder))
    throw UsageError(
        fmt::format("{} is no checkout; `wheelsmith checkout` makes one", printable(place.folder.string())));
  place.folder = fs::canonical(place.folder);
  source::recover(place.folder);
  const auto state = source::read_work_state(place.folder);
  if (!state) throw Error(fmt::format("{} was not made by `wheelsmith checkout`", printable(place.folder.string())));
  place.state = *state;
  place.patches = patch_folder(command.patch_dir, command.settings.read());
  place.set = !command.patchset.empty() ? command.patchset : !state->patchset.empty() ? state->patchset : state->ref;
  if (place.set.empty() || fs::path(place.set).is_absolute() || place.set.find("..") != std::string::npos)
    throw UsageError(fmt::format("\"{}\" is no name of a patch set; --patchset names one", printable(place.set)));
  return place;
}

int save(const PatchesCommand& command) {
  const PatchWork place = place_of(command);
  const source::PatchSet set(place.set, place.patches / place.state.recipe / place.set, place.state.recipe);
  const source::SavedPatches saved = source::save_patches(place.folder, set);
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["patchset"] = place.set;
    document["folder"] = set.folder().string();
    document["written"] = Array(saved.written.begin(), saved.written.end());
    document["removed"] = Array(saved.removed.begin(), saved.removed.end());
    document["kept"] = Array(saved.kept.begin(), saved.kept.end());
    print(document::to_json(document) + "\n");
    return k_fine;
  }
  std::string text = fmt::format("patch set {} in {}\n", printable(place.set), printable(set.folder().string()));
  for (const std::string& name : saved.written) text += fmt::format("  wrote {}\n", printable(name));
  for (const std::string& name : saved.removed) text += fmt::format("  removed {}\n", printable(name));
  if (!saved.kept.empty())
    text += fmt::format("  {} {} as {} was\n", saved.kept.size(), saved.kept.size() == 1 ? "is" : "are",
                        saved.kept.size() == 1 ? "it" : "each");
  if (saved.written.empty() && saved.removed.empty() && saved.kept.empty())
    text += "  nothing: there are no commits on top of the upstream state\n";
  print(text);
  return k_fine;
}

int list(const PatchesCommand& command) {
  const settings::Settings settings = command.settings.read();
  std::optional<source::WorkState> state;
  const fs::path folder = command.folder.empty() ? command.recipe : command.folder;
  if (!folder.empty() && source::GitFolder::is_one(folder)) state = source::read_work_state(folder);
  if (!command.folder.empty() && !state) throw UsageError(fmt::format("{} is no checkout", printable(command.folder)));
  const std::string package = state ? state->recipe : command.recipe;
  if (package.empty()) throw UsageError("name a recipe, or --dir DIR");
  const fs::path patches = patch_folder(command.patch_dir, settings);
  std::vector<std::string> names = source::PatchSet::names(patches, package);
  if (!command.patchset.empty()) names = {patch_set_named(patches, package, command.patchset).name()};
  // Nothing of a package that nobody knows is a slip of the pen.
  if (names.empty() && !state) (void)choose::recipe_named(Session(settings).recipes(), package);
  Array sets;
  std::string text;
  for (const std::string& name : names) {
    const source::PatchSet set(name, patches / package / name, package);
    Array files;
    text += command.output.style().bold(printable(name)) + "\n";
    for (const source::PatchFile& patch : set.files()) {
      const source::AppliedPatch as_applied{patch.part, patch.name, patch.sha256, patch.hipified};
      const bool applied =
          state && std::find(state->patches.begin(), state->patches.end(), as_applied) != state->patches.end();
      Table item;
      item["part"] = patch.part;
      item["stage"] = patch.hipified ? "hipified" : "base";
      item["name"] = patch.name;
      item["sha256"] = patch.sha256;
      item["applied"] = state ? document::Value(applied) : document::Value();
      files.emplace_back(std::move(item));
      text += fmt::format("  {}{}/{}{}\n", patch.part.empty() ? "" : printable(patch.part) + "/",
                          patch.hipified ? "hipified" : "base", printable(patch.name), applied ? "  (applied)" : "");
    }
    Table item;
    item["name"] = name;
    item["folder"] = set.folder().string();
    item["patches"] = std::move(files);
    sets.emplace_back(std::move(item));
  }
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["package"] = package;
    document["items"] = std::move(sets);
    print(document::to_json(document) + "\n");
    return k_fine;
  }
  if (names.empty()) text = fmt::format("{} has no patch set in {}\n", package, printable(patches.string()));
  print(text);
  return k_fine;
}

int apply(const PatchesCommand& command) {
  const PatchWork place = place_of(command);
  const source::PatchSet set = patch_set_named(place.patches, place.state.recipe, place.set);
  const std::vector<std::string> applied = source::apply_set(place.folder, set);
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["patchset"] = place.set;
    document["applied"] = Array(applied.begin(), applied.end());
    print(document::to_json(document) + "\n");
    return k_fine;
  }
  std::string text;
  for (const std::string& name : applied) text += fmt::format("applied {}\n", printable(name));
  if (applied.empty()) text = fmt::format("all patches of {} are applied already\n", printable(place.set));
  print(text);
  return k_fine;
}

void add(CLI::App& patches, const std::string& name, const std::string& help, Outcome& outcome,
         int (*act)(const PatchesCommand&)) {
  auto command = std::make_shared<PatchesCommand>();
  CLI::App* sub = patches.add_subcommand(name, help);
  sub->add_option("RECIPE", command->recipe, "Package, checked out in the folder of its name");
  sub->add_option("--dir", command->folder, "Folder of the checkout");
  sub->add_option("--patchset", command->patchset,
                  "Patch set; default: the one the checkout was made with, else its ref");
  sub->add_option("--patch-dir", command->patch_dir, "Folder of patch sets [patches]");
  command->settings.add_to(*sub, {"recipes"});
  command->output.add_to(*sub);
  sub->callback([command, act, &outcome] {
    outcome = [command, act] {
      sys::install_interrupt_flag();
      return act(*command);
    };
  });
}

}  // namespace

void add_patches(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("patches", "Write commits of a checkout as patches, list them, apply them");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith patches save pytorch --patchset release/2.10\n"
      "  wheelsmith patches list pytorch\n"
      "docs/sources.md says more.");
  add(*sub, "save", "Write the commits on top of the upstream state into the patch set", outcome, save);
  add(*sub, "list", "Which patch sets there are, and what is in them", outcome, list);
  add(*sub, "apply", "Apply what the checkout does not have yet", outcome, apply);
}

}  // namespace wheelsmith::cli
