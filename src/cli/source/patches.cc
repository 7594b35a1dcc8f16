// `patches`: saves the changes of a checkout as patch files that the next checkout applies.

#include "report/plan/patches.h"

#include <fmt/format.h>

#include "base/text.h"
#include "choose/recipe.h"
#include "cli/session.h"
#include "cli/source/patch_trust.h"
#include "source/patches/patch_work.h"

namespace wheelsmith::cli {

namespace {

struct PatchesCommand {
  OutputOptions output;
  SettingOptions settings;
  std::string recipe, folder, patchset, patch_dir;
};

source::PatchWork work_for(const PatchesCommand& command, const source::PatchFolder& patches) {
  if (command.recipe.empty() == command.folder.empty())
    throw UsageError("no checkout given; name a recipe that is checked out here, or use --dir DIR");
  return {.checkout = command.folder.empty() ? command.recipe : command.folder,
          .patch_folder = patches.path,
          .patchset = command.patchset};
}

int save(const PatchesCommand& command) {
  const source::PatchFolder patches = patch_folder(command.patch_dir, command.settings.read());
  const PatchFolderKeeper keeper(patches);
  const source::SavedSet saved = source::save_patch_set(work_for(command, patches));
  keeper.keep_trust();
  print(command.output.json ? report::saved_set_json(saved) : report::saved_set_text(saved));
  return k_fine;
}

int apply(const PatchesCommand& command) {
  const source::PatchFolder patches = patch_folder(command.patch_dir, command.settings.read());
  const source::AppliedSet applied = source::apply_patch_set(work_for(command, patches));
  print(command.output.json ? report::applied_set_json(applied) : report::applied_set_text(applied));
  return k_fine;
}

int list_sets(const PatchesCommand& command) {
  const settings::Settings settings = command.settings.read();
  std::optional<source::WorkState> state;
  const std::string& folder = command.folder.empty() ? command.recipe : command.folder;
  if (!folder.empty() && source::GitFolder::is_one(folder)) state = source::read_work_state(folder);
  if (!command.folder.empty() && !state)
    throw UsageError(fmt::format("{} is not a checkout", printable(command.folder)));
  const std::string package = state ? state->recipe : command.recipe;
  if (package.empty()) throw UsageError("no recipe given; name one, or use --dir DIR");
  const source::PatchSetList sets =
      source::list_patch_sets(package, state, patch_folder(command.patch_dir, settings).path, command.patchset);
  // A name that has neither patch sets nor a recipe is a typo.
  if (sets.sets.empty() && !state) (void)choose::recipe_named(Session(settings).recipes(), package);
  print(command.output.json ? report::patch_sets_json(sets) : report::patch_sets_text(sets, command.output.style()));
  return k_fine;
}

void add_patches_command(CLI::App& patches, const std::string& name, const std::string& help, Outcome& outcome,
                         int (*act)(const PatchesCommand&)) {
  auto command = std::make_shared<PatchesCommand>();
  CLI::App* sub = patches.add_subcommand(name, help);
  sub->add_option("RECIPE", command->recipe, "Recipe that is checked out in the folder of the same name");
  sub->add_option("--dir", command->folder, "Folder of the checkout")->type_name("DIR");
  sub->add_option("--patchset", command->patchset,
                  "Patch set; default: the one that the checkout was made with, else its ref");
  sub->add_option("--patch-dir", command->patch_dir, "Folder of patch sets [patches]")->type_name("DIR");
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
  CLI::App* sub = app.add_subcommand("patches", "Save the commits of a checkout as patches, list patches, apply them");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith patches save pytorch --patchset release/2.10\n"
      "  wheelsmith patches list pytorch\n"
      "See docs/sources.md.");
  add_patches_command(*sub, "save", "Save the commits on top of upstream as a patch set", outcome, save);
  add_patches_command(*sub, "list", "List the patch sets and their patches", outcome, list_sets);
  add_patches_command(*sub, "apply", "Apply the patches that the checkout does not have yet", outcome, apply);
}

}  // namespace wheelsmith::cli
