// `trust`: manages which wheelsmith.toml files may set options that run programs or choose paths and servers.

#include "settings/trust.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/project_settings.h"
#include "cli/source/patch_trust.h"
#include "report/trust.h"
#include "settings/project_file.h"
#include "settings/settings.h"
#include "sys/file.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

struct TrustCommand {
  OutputOptions output;
  std::string folder;
  bool list = false, remove = false;
};

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool has_patches(const fs::path& folder) { return sys::is_folder(patches_in(folder)); }

// The file in the given folder, or else the one that other commands would find.
fs::path file_of(const TrustCommand& command) {
  if (command.folder.empty()) {
    std::error_code ignored;
    const fs::path found = settings::project_file(fs::current_path(ignored));
    if (!found.empty()) return found;
    if (has_patches(".")) return fs::path(".") / settings::k_project_file_name;
    throw UsageError("no wheelsmith.toml in this folder or its parents, up to the root of the repository");
  }
  const fs::path given = command.folder;
  return given.filename() == settings::k_project_file_name ? given : given / settings::k_project_file_name;
}

report::TrustItem trust_patches(const fs::path& folder, settings::TrustList& list) {
  if (!settings::is_own_folder(folder))
    throw UsageError(
        fmt::format("{} belongs to another user, or other users can write to it", printable(folder.string())));
  const settings::TrustedFile identity = settings::identity_of_folder(folder);
  list.add(identity);
  return {identity, "trusted", {}};
}

report::TrustItem trust(const TrustCommand& command, settings::TrustList& list) {
  const fs::path file = file_of(command);
  if (!is_file(file) && has_patches(file.parent_path())) return trust_patches(patches_in(file.parent_path()), list);
  if (!is_file(file))
    throw UsageError(
        fmt::format("{} contains neither wheelsmith.toml nor patches", printable(file.parent_path().string())));
  const settings::ProjectText project = settings::read_project_text(file);
  require_own_file(project);
  settings::Settings settings;
  settings.read_project(project.identity.file, project.text);
  list.add(project.identity);
  return {project.identity, "trusted", settings.risky_options()};
}

// The file may be gone; its entry can still be removed.
report::TrustItem remove(const TrustCommand& command, settings::TrustList& list) {
  const fs::path file = fs::absolute(file_of(command)).lexically_normal();
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(file.parent_path(), error);
  for (const fs::path& real : {folder / file.filename(), patches_in(folder)}) {
    if (list.remove(real)) return {{real, ""}, "removed", {}};
  }
  throw UsageError(fmt::format("nothing in {} is trusted", printable(folder.string())));
}

std::string state_of(const settings::TrustedFile& trusted) {
  const bool folder = sys::is_folder(trusted.file);
  if (!folder && !is_file(trusted.file)) return "missing";
  try {
    const settings::TrustedFile now =
        folder ? settings::identity_of_folder(trusted.file) : settings::read_project_text(trusted.file).identity;
    return now.sha256 == trusted.sha256 ? "trusted" : "changed";
  } catch (const Error&) {  // an unreadable file would not be used either
    return "missing";
  }
}

int run_trust(const TrustCommand& command) {
  std::vector<report::TrustItem> items;
  try {
    settings::TrustList list(sys::current_environment());
    if (command.list) {
      for (const settings::TrustedFile& one : list.files()) items.push_back({one, state_of(one), {}});
    } else {
      items.push_back(command.remove ? remove(command, list) : trust(command, list));
    }
  } catch (const Error& error) {
    throw UsageError(printable(error.what()));
  }
  print(command.output.json ? report::trust_json(items) : report::trust_text(items, command.output.style()));
  return k_fine;
}

}  // namespace

void add_trust(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<TrustCommand>();
  CLI::App* sub = app.add_subcommand("trust", "Allow the wheelsmith.toml of a folder to set any option");
  sub->footer(
      "An untrusted wheelsmith.toml may only choose what to build: packages, variants, architectures, versions. Trust "
      "applies to the current contents; trust the file again after it changes. See docs/settings.md.\n\n"
      "Examples:\n"
      "  wheelsmith trust\n"
      "  wheelsmith trust ~/src/project\n"
      "  wheelsmith trust --list\n"
      "  wheelsmith trust --remove ~/src/project");
  CLI::Option* folder =
      sub->add_option("DIR", command->folder, "Folder of the file; default: the folder where other commands find one");
  CLI::Option* remove = sub->add_flag("--remove", command->remove, "Stop trusting the file");
  sub->add_flag("--list", command->list, "List the trusted files")->excludes(remove)->excludes(folder);
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return run_trust(*command); }; });
}

}  // namespace wheelsmith::cli
