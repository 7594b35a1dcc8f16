// `checkout`: sources as folders to work in; and all sources of packages as one file for a machine without network.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/recipe.h"
#include "cli/checkout_report.h"
#include "cli/source_file.h"
#include "cli/source_words.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

struct CheckoutCommand {
  OutputOptions output;
  SettingWords settings;
  std::vector<std::string> recipes;
  SourceWords words;
  std::string into, submodules = "needed", bundle, unbundle;
  bool hipify = false, no_hipify = false, no_commit_hipify = false, full_history = false;
  std::optional<unsigned> depth;
};

void check_words(const CheckoutCommand& command) {
  const bool several = command.recipes.size() > 1;
  const auto alone = [&](const std::string& value, const char* option) {
    if (several && !value.empty())
      throw UsageError(fmt::format("{} belongs to one package, but {} are named", option, command.recipes.size()));
  };
  alone(command.words.ref, "--ref");
  alone(command.words.origin, "--origin");
  alone(command.words.patchset, "--patchset");
  if (command.hipify && command.no_hipify) throw UsageError("--hipify and --no-hipify contradict each other");
  if (command.words.no_patches && !command.words.patchset.empty())
    throw UsageError("--patchset and --no-patches contradict each other");
  if (command.depth && (*command.depth == 0 || command.full_history))
    throw UsageError("--depth takes a number of commits, at least 1, and does not go with --full-history");
  if (command.words.ref.starts_with('-') || command.words.origin.starts_with('-'))
    throw UsageError("a ref or an origin does not begin with -");
}

// Those that decide for others come first.
std::vector<const recipe::Recipe*> in_order(const CheckoutCommand& command, const recipe::Library& library) {
  std::vector<const recipe::Recipe*> result;
  for (const std::string& name : command.recipes) {
    const recipe::Recipe* found = &choose::recipe_named(library, name);
    if (std::find(result.begin(), result.end(), found) == result.end()) result.push_back(found);
  }
  std::stable_partition(result.begin(), result.end(),
                        [](const recipe::Recipe* recipe) { return recipe->source.pinned_by.recipe.empty(); });
  return result;
}

source::CheckoutRequest request_for(const CheckoutCommand& command, const recipe::Recipe& recipe, CheckoutSource& from,
                                    const settings::Settings& settings) {
  const std::optional<recipe::Variant> variant = wanted_variant(recipe, settings);
  const std::string& ref = from.choice.ref;
  source::CheckoutRequest request;
  request.recipe = recipe.name;
  request.variant = variant ? std::string(recipe::to_string(*variant)) : "";
  request.folder = command.into.empty()          ? fs::path(recipe.name)
                   : command.recipes.size() == 1 ? fs::path(command.into)
                                                 : fs::path(command.into) / recipe.name;
  request.origin = from.choice.url;
  request.ref = ref;
  recipe::Checkout parts = choose::choose_parts(recipe, variant, settings.text("target"), ref);
  if (command.submodules == "needed") request.submodules = parts.submodules;
  if (command.submodules == "none") request.submodules.emplace();
  if (command.hipify && parts.hipify.empty())
    parts = choose::choose_parts(recipe, recipe::Variant::rocm, settings.text("target"), ref);
  if (command.hipify && parts.hipify.empty())
    throw UsageError(fmt::format("the recipe of {} has no hipify script", recipe.name));
  if (!command.no_hipify) request.hipify = parts.hipify;
  request.commit_hipify = parts.commit_hipify && !command.no_commit_hipify;
  request.patches = from.patches;
  if (request.hipify.empty()) {
    if (const std::size_t left = request.patches.drop_hipified(); left != 0)
      from.notes.push_back(
          fmt::format("{} hipified patch{} left out, since nothing is hipified", left, left == 1 ? " is" : "es are"));
  }
  request.python = sys::find_program("python3");
  if (!request.hipify.empty() && request.python.empty())
    throw Error("hipify is a Python script, but there is no python3 in PATH; --no-hipify leaves it out");
  request.depth = command.full_history ? 0 : command.depth.value_or(1);
  request.offline = settings.flag("offline");
  request.version = [&recipe, ref](const source::GitFolder& git) {
    std::optional<std::string> text;
    if (!recipe.source.version_file.empty()) {
      const sys::Captured said = git.run({"cat-file", "blob", "HEAD:" + recipe.source.version_file});
      if (said.exit.good()) text = said.output;
    }
    return choose::source_version(recipe, ref, text);
  };
  return request;
}

int check_out_all(const CheckoutCommand& command) {
  const settings::Settings settings = command.settings.read();
  Session session(settings);
  const auto repositories = make_repositories(session);
  std::vector<CheckoutItem> items;
  for (const recipe::Recipe* recipe : in_order(command, session.recipes())) {
    SourceWords words = command.words;
    // A checkout of this very command decides.
    for (const CheckoutItem& item : items) {
      if (words.torch_dir.empty() && item.result.state.recipe == recipe->source.pinned_by.recipe)
        words.torch_dir = item.folder.string();
    }
    CheckoutSource from = checkout_source(*recipe, wanted_variant(*recipe, settings), words, settings);
    const source::CheckoutRequest request = request_for(command, *recipe, from, settings);
    CheckoutItem item;
    item.folder = request.folder;
    item.why = choose::reason_of(from.choice);
    item.result = source::check_out(request, *repositories, session.store());
    item.result.notes.insert(item.result.notes.begin(), from.notes.begin(), from.notes.end());
    if (!command.output.json) print(checkout_text(item, command.output.style()));
    items.push_back(std::move(item));
  }
  if (command.output.json) print(checkout_json(items));
  return k_fine;
}

int write_bundle(const CheckoutCommand& command) {
  const settings::Settings settings = command.settings.read(command.recipes);
  Session session(settings);
  const auto repositories = make_repositories(session);
  std::vector<BundleWish> wishes;
  for (const recipe::Recipe* recipe : in_order(command, session.recipes())) {
    BundleWish wish;
    wish.recipe = recipe;
    wish.variant = wanted_variant(*recipe, settings);
    wish.target = settings.text("target");
    if (recipe->source.kind == recipe::Source::Kind::git || !command.words.origin.empty()) {
      const choose::SourceChoice choice = checkout_source(*recipe, wish.variant, command.words, settings).choice;
      wish.origin = choice.url;
      wish.ref = choice.ref;
      wish.submodules = choose::choose_parts(*recipe, wish.variant, wish.target, choice.ref).submodules;
      if (command.submodules == "all") wish.submodules.reset();
      if (command.submodules == "none") wish.submodules.emplace();
    }
    wishes.push_back(std::move(wish));
  }
  return bundle_sources(wishes, command.bundle, session, *repositories, command.output);
}

int act(const CheckoutCommand& command) {
  sys::install_interrupt_flag();
  if (!command.unbundle.empty()) {
    if (!command.bundle.empty() || !command.recipes.empty())
      throw UsageError("--unbundle takes a file, and nothing else");
    Session session(command.settings.read());
    return unbundle_sources(command.unbundle, session, command.output);
  }
  if (command.recipes.empty()) throw UsageError("what is to be checked out? Name a recipe");
  check_words(command);
  return command.bundle.empty() ? check_out_all(command) : write_bundle(command);
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
      "docs/sources.md says more.");
  sub->add_option("RECIPE", command->recipes, "Packages");
  sub->add_option("--ref", command->words.ref, "Branch, tag or commit; default: what torch pins, else the recipe's");
  sub->add_option("--origin", command->words.origin, "Another repository than the recipe's");
  sub->add_option("--patchset", command->words.patchset, "Patch set; default: the one that belongs to the ref");
  sub->add_option("--patch-dir", command->words.patch_dir, "Folder of patch sets [patches]");
  sub->add_flag("--no-patches", command->words.no_patches, "Apply none");
  sub->add_option("--into", command->into, "Folder; default: the recipe's name. Of several packages: the one above");
  sub->add_option("--submodules", command->submodules, "needed (by the variant), all or none")
      ->check(CLI::IsMember({"needed", "all", "none"}))
      ->capture_default_str();
  sub->add_flag("--hipify", command->hipify, "Run the recipe's hipify script, whatever the variant");
  sub->add_flag("--no-hipify", command->no_hipify, "Do not run it");
  sub->add_flag("--no-commit-hipify", command->no_commit_hipify, "Leave what it made uncommitted");
  sub->add_option("--depth", command->depth, "Commits of history [1]");
  sub->add_flag("--full-history", command->full_history, "All of the history");
  sub->add_option("--torch-dir", command->words.torch_dir, "Checkout of torch whose pins decide");
  sub->add_flag("--require-related-commit", command->words.require_related_commit,
                "Refuse where torch's related_commits has no record");
  sub->add_option("--bundle", command->bundle, "Write all sources of the packages into this file instead");
  sub->add_option("--unbundle", command->unbundle, "Take the sources of such a file into the store");
  command->settings.add_to(*sub,
                           {"recipes", "store", "offline", "mirrors", "variant", "target", "torch", "python", "set"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return act(*command); }; });
}

}  // namespace wheelsmith::cli
