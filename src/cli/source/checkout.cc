// `checkout`: fetches sources into folders to work in, or into one file for a machine without network.

#include "choose/checkout.h"

#include <fmt/format.h>

#include "cli/session.h"
#include "cli/source/patch_trust.h"
#include "plan/source_bundle.h"
#include "report/plan/checkout.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

struct CheckoutCommand {
  OutputOptions output;
  SettingOptions settings;
  std::vector<std::string> recipes;
  std::string ref, origin, patchset, patch_dir, torch_dir;
  bool no_patches = false, require_related_commit = false;
  std::string into, submodules = "needed", bundle, unbundle;
  bool pin = false, hipify = false, no_hipify = false, no_commit_hipify = false, full_history = false;
  std::optional<unsigned> depth;
};

void check_options(const CheckoutCommand& command) {
  const bool several = command.recipes.size() > 1;
  const auto alone = [&](const std::string& value, const char* option) {
    if (several && !value.empty())
      throw UsageError(fmt::format("{} applies to one recipe, but {} are given", option, command.recipes.size()));
  };
  alone(command.ref, "--ref");
  alone(command.origin, "--origin");
  alone(command.patchset, "--patchset");
  if (command.hipify && command.no_hipify) throw UsageError("--hipify and --no-hipify contradict each other");
  if (command.no_patches && !command.patchset.empty())
    throw UsageError("--patchset and --no-patches contradict each other");
  if (command.depth && (*command.depth == 0 || command.full_history))
    throw UsageError("--depth takes a number of commits (at least 1) and cannot be combined with --full-history");
  if (command.ref.starts_with('-') || command.origin.starts_with('-'))
    throw UsageError("--ref and --origin must not begin with -");
}

choose::CheckoutOptions checkout_options(const CheckoutCommand& command, const settings::Settings& settings) {
  using Submodules = choose::CheckoutOptions::Submodules;
  const source::PatchFolder patches = patch_folder(command.patch_dir, settings);
  return {.ref = command.ref,
          .origin = command.origin,
          .torch = settings.text("torch"),
          .torch_dir = command.torch_dir,
          .require_related_commit = command.require_related_commit,
          .patchset = command.patchset,
          .patch_folder = patches.path,
          .patch_folder_named = !command.patch_dir.empty(),
          .on_found_patchset = patch_trust(patches),
          .no_patches = command.no_patches,
          .target = settings.text("target"),
          .submodules = enum_named<Submodules>(command.submodules).value_or(Submodules::needed),
          .hipify = command.hipify,
          .no_hipify = command.no_hipify,
          .commit_hipify = !command.no_commit_hipify,
          .python = sys::find_program("python3"),
          .depth = command.full_history ? 0 : command.depth.value_or(1),
          .offline = settings.flag("offline")};
}

fs::path folder_for(const CheckoutCommand& command, const std::string& recipe) {
  if (command.into.empty()) return recipe;
  return command.recipes.size() == 1 ? fs::path(command.into) : fs::path(command.into) / recipe;
}

int check_out_all(const CheckoutCommand& command) {
  const settings::Settings settings = command.settings.read();
  Session session(settings);
  const choose::CheckoutOptions common = checkout_options(command, settings);
  const auto repositories = make_repositories(session);
  std::vector<report::CheckoutItem> items;
  for (const recipe::Recipe* recipe : choose::checkout_order(command.recipes, session.recipes())) {
    choose::CheckoutOptions options = common;
    // A checkout made earlier by this command takes precedence.
    for (const report::CheckoutItem& item : items) {
      if (options.torch_dir.empty() && item.result.state.recipe == recipe->source.pinned_by.recipe)
        options.torch_dir = item.folder.string();
    }
    const choose::Checkout chosen =
        choose::choose_checkout(*recipe, choose::checkout_variant(*recipe, settings.list("variant")),
                                folder_for(command, recipe->name), options);
    report::CheckoutItem item{chosen.request.folder, chosen.why,
                              source::check_out(chosen.request, *repositories, session.store())};
    item.result.notes.insert(item.result.notes.begin(), chosen.notes.begin(), chosen.notes.end());
    if (!command.output.json) print(report::checkout_text(item, command.output.style()));
    items.push_back(std::move(item));
  }
  if (command.output.json) print(report::checkout_json(items));
  return k_fine;
}

plan::BundledRecipe bundled_recipe(const recipe::Recipe& recipe, const choose::CheckoutOptions& options,
                                   const std::vector<std::string>& variants) {
  plan::BundledRecipe bundled;
  bundled.recipe = &recipe;
  bundled.variant = choose::checkout_variant(recipe, variants);
  bundled.target = options.target;
  if (recipe.source.kind != recipe::Source::Kind::git && options.origin.empty()) return bundled;
  choose::CheckoutOptions plain = options;  // a bundle holds unmodified sources
  plain.hipify = false;
  plain.no_hipify = true;
  plain.no_patches = true;
  const choose::Checkout chosen = choose::choose_checkout(recipe, bundled.variant, "", plain);
  bundled.origin = chosen.request.origin;
  bundled.ref = chosen.request.ref;
  bundled.submodules = chosen.request.submodules;
  return bundled;
}

int bundle_recipes(const CheckoutCommand& command) {
  const settings::Settings settings = command.settings.read(command.recipes);
  Session session(settings);
  const choose::CheckoutOptions options = checkout_options(command, settings);
  const auto repositories = make_repositories(session);
  std::vector<plan::BundledRecipe> recipes;
  for (const recipe::Recipe* recipe : choose::checkout_order(command.recipes, session.recipes()))
    recipes.push_back(bundled_recipe(*recipe, options, settings.list("variant")));
  const source::BundleContents written =
      plan::bundle_sources(recipes, bundle_inputs(session, *repositories), command.bundle);
  print(command.output.json ? report::source_bundle_json(command.bundle, written)
                            : report::written_bundle_text(command.bundle, written));
  return k_fine;
}

int read_bundle(const CheckoutCommand& command) {
  if (!command.bundle.empty() || !command.recipes.empty())
    throw UsageError("--unbundle takes a file and no other arguments");
  Session session(command.settings.read());
  const source::BundleContents read = source::unbundle(command.unbundle, command.pin, session.store(),
                                                       session.fetcher(), [] { return sys::interrupted(); });
  print(command.output.json ? report::source_bundle_json(command.unbundle, read)
                            : report::read_bundle_text(command.unbundle, read));
  return k_fine;
}

int act(const CheckoutCommand& command) {
  sys::install_interrupt_flag();
  if (!command.unbundle.empty()) return read_bundle(command);
  if (command.pin) throw UsageError("--pin requires --unbundle");
  if (command.recipes.empty()) throw UsageError("no recipe given\n  try: wheelsmith checkout --help");
  check_options(command);
  return command.bundle.empty() ? check_out_all(command) : bundle_recipes(command);
}

}  // namespace

void add_checkout(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<CheckoutCommand>();
  CLI::App* sub = app.add_subcommand("checkout", "Fetch sources into folders to work in, with patches applied");
  sub->footer(
      "Examples:\n"
      "  wheelsmith checkout pytorch --ref release/2.10 --variant rocm\n"
      "  wheelsmith checkout torchvision --torch-dir pytorch\n"
      "  wheelsmith checkout --bundle sources.tar fbgemm_gpu --variant cpu\n"
      "  wheelsmith checkout --unbundle sources.tar\n"
      "See docs/sources.md.");
  sub->add_option("RECIPE", command->recipes, "Recipes to check out");
  sub->add_option("--ref", command->ref, "Branch, tag or commit; default: the one that torch pins, else the recipe's")
      ->type_name("REF");
  sub->add_option("--origin", command->origin, "Repository to use instead of the recipe's")->type_name("URL");
  sub->add_option("--patchset", command->patchset, "Patch set; default: the one named like the ref")->type_name("SET");
  sub->add_option("--patch-dir", command->patch_dir, "Folder of patch sets [patches]")->type_name("DIR");
  sub->add_flag("--no-patches", command->no_patches, "Apply no patches");
  sub->add_option("--into", command->into,
                  "Folder; default: the recipe's name. With several recipes: the parent folder")
      ->type_name("DIR");
  sub->add_option("--submodules", command->submodules, "Submodules to fetch; needed: those that the variant uses")
      ->check(CLI::IsMember({"needed", "all", "none"}))
      ->capture_default_str();
  sub->add_flag("--hipify", command->hipify, "Run the recipe's hipify script regardless of the variant");
  sub->add_flag("--no-hipify", command->no_hipify, "Do not run the hipify script");
  sub->add_flag("--no-commit-hipify", command->no_commit_hipify, "Leave the changes of the hipify script uncommitted");
  sub->add_option("--depth", command->depth, "Number of commits to fetch [1]")->type_name("N");
  sub->add_flag("--full-history", command->full_history, "Fetch the full history");
  sub->add_option("--torch-dir", command->torch_dir, "Checkout of torch whose pins select the refs")->type_name("DIR");
  sub->add_flag("--require-related-commit", command->require_related_commit,
                "Fail if torch's related_commits has no entry");
  sub->add_option("--bundle", command->bundle, "Write all sources of the recipes to this file instead")
      ->type_name("FILE");
  sub->add_option("--unbundle", command->unbundle, "Import the sources from a --bundle file into the store")
      ->type_name("FILE");
  sub->add_flag("--pin", command->pin,
                "With --unbundle: use the file's branches and tags also in builds without --offline, until --upgrade");
  command->settings.add_to(*sub,
                           {"recipes", "store", "offline", "mirrors", "variant", "target", "torch", "python", "set"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return act(*command); }; });
}

}  // namespace wheelsmith::cli
