// `manifest`: the exact commits and patches of checkouts as a file, and back.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/checkout_report.h"
#include "cli/source_words.h"
#include "pep/requirement.h"
#include "source/bundle/source_manifest.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

struct WriteCommand {
  OutputOptions output;
  std::vector<std::string> recipes, folders;
  std::string out = "-";
};

struct CheckoutManifest {
  OutputOptions output;
  SettingWords settings;
  std::string file, into = ".", patch_dir;
  std::vector<std::string> projects;
};

int write(const WriteCommand& command) {
  std::vector<std::string> folders = command.recipes;
  folders.insert(folders.end(), command.folders.begin(), command.folders.end());
  if (folders.empty()) throw UsageError("name recipes that are checked out here, or --dir DIR");
  std::vector<source::ManifestProject> projects;
  for (const std::string& folder : folders) {
    source::ManifestProject project = source::project_of(folder);
    for (const source::ManifestProject& other : projects) {
      if (other.name == project.name) throw UsageError(fmt::format("{} is named twice", printable(project.name)));
    }
    projects.push_back(std::move(project));
  }
  const std::string text = source::to_json(projects);
  if (command.out == "-") {
    print(text);
  } else {
    sys::write_file(command.out, text);
    if (command.output.json) {
      document::Table document;
      document["schema"] = 1;
      document["file"] = command.out;
      document::Array items;
      for (const source::ManifestProject& project : projects) {
        document::Table item;
        item["name"] = project.name;
        item["commit"] = project.commit;
        item["tree"] = project.tree;
        items.emplace_back(std::move(item));
      }
      document["items"] = std::move(items);
      print(document::to_json(document) + "\n");
    }
  }
  return k_fine;
}

std::string plain_url(std::string url) {
  if (url.ends_with('/')) url.pop_back();
  if (url.ends_with(".git")) url.resize(url.size() - 4);
  return to_lower(url);
}

// By its name, else the only one that comes from a repository of that name: manifests of others call torchaudio
// pytorch_audio.
const recipe::Recipe* recipe_of(const source::ManifestProject& project, const recipe::Library& library) {
  if (const recipe::Recipe* found = library.find(project.recipe.empty() ? project.name : project.recipe)) return found;
  // The very repository tells more than its name, which forks share.
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

struct Chosen {
  const source::ManifestProject* project = nullptr;
  source::CheckoutRequest request;
};

void check_patches(const source::ManifestProject& project, const source::PatchSet& set) {
  std::vector<source::AppliedPatch> here;
  for (const source::PatchFile& patch : set.files())
    here.push_back({patch.part, patch.name, patch.sha256, patch.hipified});
  for (const source::AppliedPatch& patch : project.patches) {
    const auto found = std::find_if(here.begin(), here.end(), [&](const source::AppliedPatch& one) {
      return one.part == patch.part && one.name == patch.name && one.hipified == patch.hipified;
    });
    if (found == here.end())
      throw Error(fmt::format("{}: patch {} of set {} is not in {}; --patch-dir names the folder of patch sets",
                              printable(project.name), printable(patch.name), printable(project.patchset),
                              printable(set.folder().string())));
    if (found->sha256 != patch.sha256)
      throw Error(fmt::format("{}: patch {} of set {} has sha256 {}, but the manifest says {}", printable(project.name),
                              printable(patch.name), printable(project.patchset), found->sha256, patch.sha256));
  }
  if (here.size() != project.patches.size())
    throw Error(fmt::format("{}: set {} has {} patches here, but {} in the manifest", printable(project.name),
                            printable(project.patchset), here.size(), project.patches.size()));
}

Chosen choose(const source::ManifestProject& project, const recipe::Recipe* recipe, const CheckoutManifest& command,
              const settings::Settings& settings) {
  Chosen chosen;
  chosen.project = &project;
  source::CheckoutRequest& request = chosen.request;
  request.recipe = recipe != nullptr ? recipe->name : project.name;
  request.folder = fs::path(command.into) / request.recipe;
  request.variant = project.variant;
  request.origin = project.repo;
  request.ref = project.branch.empty() ? project.commit : project.branch;
  request.commit = project.commit;
  request.submodules = project.wanted_submodules;
  if (!project.patchset.empty() && !project.patches.empty()) {
    const fs::path patches = patch_folder(command.patch_dir, settings);
    if (project.patchset.find("..") != std::string::npos || fs::path(project.patchset).is_absolute())
      throw Error(fmt::format("{}: \"{}\" is no name of a patch set", project.name, printable(project.patchset)));
    request.patches = source::PatchSet(project.patchset, patches / request.recipe / project.patchset, request.recipe);
    check_patches(project, request.patches);
  }
  request.hipify = project.hipify;
  request.commit_hipify = project.commit_hipify;
  request.python = sys::find_program("python3");
  request.offline = settings.flag("offline");
  request.version = [version = project.version](const source::GitFolder&) { return version; };
  return chosen;
}

int check_out(const CheckoutManifest& command) {
  sys::install_interrupt_flag();
  const settings::Settings settings = command.settings.read();
  const std::vector<source::ManifestProject> projects =
      source::parse_manifest(sys::read_file(command.file, 16 << 20), command.file);
  for (const std::string& name : command.projects) {
    if (std::none_of(projects.begin(), projects.end(), [&](const auto& one) { return one.name == name; }))
      throw UsageError(fmt::format("{} has no project {}", printable(command.file), printable(name)));
  }
  Session session(settings);
  std::vector<Chosen> all;
  std::vector<std::string> left_out;
  for (const source::ManifestProject& project : projects) {
    const bool named =
        std::find(command.projects.begin(), command.projects.end(), project.name) != command.projects.end();
    if (!command.projects.empty() && !named) continue;
    const recipe::Recipe* recipe = recipe_of(project, session.recipes());
    if (recipe == nullptr && !named) {
      left_out.push_back(project.name);
      continue;
    }
    all.push_back(choose(project, recipe, command, settings));
  }
  if (all.empty()) throw Error(fmt::format("{} names no project that has a recipe", printable(command.file)));
  const auto repositories = make_repositories(session);
  std::vector<CheckoutItem> items;
  for (const Chosen& chosen : all) {
    CheckoutItem item;
    item.folder = chosen.request.folder;
    item.why = command.file;
    item.result = source::check_out(chosen.request, *repositories, session.store());
    source::compare(*chosen.project, item.result.state, item.result.trees);
    if (!command.output.json) print(checkout_text(item, command.output.style()));
    items.push_back(std::move(item));
  }
  if (command.output.json) print(checkout_json(items));
  for (const std::string& name : left_out)
    std::fprintf(stderr, "left out %s: there is no recipe for it (--projects %s checks it out nevertheless)\n",
                 printable(name).c_str(), printable(name).c_str());
  return k_fine;
}

}  // namespace

void add_manifest(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("manifest", "The exact commits and patches of checkouts as a file, and back");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith manifest write pytorch torchvision -o sources.json\n"
      "  wheelsmith manifest checkout sources.json --into src\n"
      "docs/sources.md says more.");
  auto written = std::make_shared<WriteCommand>();
  CLI::App* write_command = sub->add_subcommand("write", "Write down what checkouts are");
  write_command->add_option("RECIPE", written->recipes, "Packages, checked out in folders of their names");
  write_command->add_option("--dir", written->folders, "Folder of a checkout; repeatable")->allow_extra_args(false);
  write_command->add_option("-o,--output", written->out, "File; - is standard output")->capture_default_str();
  written->output.add_to(*write_command);
  write_command->callback([written, &outcome] { outcome = [written] { return write(*written); }; });

  auto read = std::make_shared<CheckoutManifest>();
  CLI::App* checkout_command = sub->add_subcommand("checkout", "Check out what a manifest names, and compare");
  checkout_command->add_option("FILE", read->file, "Manifest, ours or TheRock's")->required();
  checkout_command->add_option("--into", read->into, "Folder above the checkouts")->capture_default_str();
  checkout_command->add_option("--projects", read->projects, "Only these")->delimiter(',')->allow_extra_args(false);
  checkout_command->add_option("--patch-dir", read->patch_dir, "Folder of patch sets [patches]");
  read->settings.add_to(*checkout_command, {"recipes", "store", "offline", "mirrors"});
  read->output.add_to(*checkout_command);
  checkout_command->callback([read, &outcome] { outcome = [read] { return check_out(*read); }; });
}

}  // namespace wheelsmith::cli
