// `manifest`: writes the exact commits and patches of checkouts to a file, and checks such a file out.

#include "choose/manifest.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/session.h"
#include "report/plan/checkout.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

struct WriteCommand {
  OutputOptions output;
  std::vector<std::string> recipes, folders;
  std::string out = "-";
};

struct CheckoutManifest {
  OutputOptions output;
  SettingOptions settings;
  std::string file, into = ".", patch_dir;
  std::vector<std::string> projects;
};

std::vector<source::ManifestProject> projects_in(const std::vector<std::string>& folders) {
  std::vector<source::ManifestProject> projects;
  for (const std::string& folder : folders) {
    source::ManifestProject project = source::project_of(folder);
    for (const source::ManifestProject& other : projects) {
      if (other.name == project.name) throw UsageError(fmt::format("{} is given twice", printable(project.name)));
    }
    projects.push_back(std::move(project));
  }
  return projects;
}

int write(const WriteCommand& command) {
  std::vector<std::string> folders = command.recipes;
  folders.insert(folders.end(), command.folders.begin(), command.folders.end());
  if (folders.empty()) throw UsageError("no checkout given; name recipes that are checked out here, or use --dir DIR");
  const std::vector<source::ManifestProject> projects = projects_in(folders);
  const std::string text = source::to_json(projects);
  if (command.out == "-") {
    print(text);
    return k_fine;
  }
  sys::write_file(command.out, text);
  if (command.output.json) print(report::manifest_json(command.out, projects));
  return k_fine;
}

choose::ManifestOptions manifest_options(const CheckoutManifest& command, const settings::Settings& settings) {
  return {.file = command.file,
          .projects = command.projects,
          .into = command.into,
          .patch_folder = patch_folder(command.patch_dir, settings).path,
          .python = sys::find_program("python3"),
          .offline = settings.flag("offline")};
}

int check_out(const CheckoutManifest& command) {
  sys::install_interrupt_flag();
  const settings::Settings settings = command.settings.read();
  const std::vector<source::ManifestProject> projects =
      source::parse_manifest(sys::read_file(command.file, 16 << 20), command.file);
  Session session(settings);
  const choose::ManifestCheckouts chosen =
      choose::choose_manifest(projects, session.recipes(), manifest_options(command, settings));
  const auto repositories = make_repositories(session);
  std::vector<report::CheckoutItem> items;
  for (const choose::ManifestCheckout& one : chosen.checkouts) {
    items.push_back({one.request.folder, command.file, source::check_out(one.request, *repositories, session.store())});
    source::compare(one.project, items.back().result.state, items.back().result.trees);
    if (!command.output.json) print(report::checkout_text(items.back(), command.output.style()));
  }
  if (command.output.json) print(report::checkout_json(items));
  for (const std::string& name : chosen.left_out)
    print_status(
        fmt::format("skipped {0}: there is no recipe for it (--projects {0} checks it out anyway)\n", printable(name)));
  return k_fine;
}

}  // namespace

void add_manifest(CLI::App& app, Outcome& outcome) {
  CLI::App* sub =
      app.add_subcommand("manifest", "Write the exact commits and patches of checkouts to a file, or check them out");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith manifest write pytorch torchvision -o sources.json\n"
      "  wheelsmith manifest checkout sources.json --into src\n"
      "See docs/sources.md.");
  auto written = std::make_shared<WriteCommand>();
  CLI::App* write_command = sub->add_subcommand("write", "Write the exact commits and patches of checkouts");
  write_command->add_option("RECIPE", written->recipes, "Recipes that are checked out in folders of the same name");
  write_command->add_option("--dir", written->folders, "Folder of a checkout")->allow_extra_args(false);
  write_command->add_option("-o,--output", written->out, "Output file; - for standard output")->capture_default_str();
  written->output.add_to(*write_command);
  write_command->callback([written, &outcome] { outcome = [written] { return write(*written); }; });

  auto read = std::make_shared<CheckoutManifest>();
  CLI::App* checkout_command = sub->add_subcommand("checkout", "Check out the commits of a manifest and verify them");
  checkout_command->add_option("FILE", read->file, "Manifest of wheelsmith or TheRock")->required();
  checkout_command->add_option("--into", read->into, "Parent folder of the checkouts")->capture_default_str();
  checkout_command->add_option("--projects", read->projects, "Check out only these projects")
      ->delimiter(',')
      ->allow_extra_args(false);
  checkout_command->add_option("--patch-dir", read->patch_dir, "Folder of patch sets [patches]");
  read->settings.add_to(*checkout_command, {"recipes", "store", "offline", "mirrors"});
  read->output.add_to(*checkout_command);
  checkout_command->callback([read, &outcome] { outcome = [read] { return check_out(*read); }; });
}

}  // namespace wheelsmith::cli
