// `rocm install`: installs the ROCm SDK into an environment.

#include "report/rocm.h"

#include "choose/read_request.h"
#include "choose/rocm_index.h"
#include "cli/rocm/rocm_commands.h"
#include "cli/session.h"
#include "env/rocm_install.h"

namespace wheelsmith::cli {

namespace {

struct InstallCommand {
  OutputOptions output;
  SettingOptions settings;
  std::string index_url, channel, into, version;
  std::vector<std::string> families, extras{"libraries", "devel"};
  bool prereleases = true, dry_run = false;
};

env::RocmInstall install_for(const InstallCommand& command, const settings::Settings& settings) {
  env::RocmInstall install;
  const std::string specifiers = choose::version_specifiers("version", command.version);
  install.wanted = choose::wanted_rocm(command.families, command.extras);
  install.wanted.specifiers = specifiers;
  install.wanted.prereleases = command.prereleases;
  install.index_url =
      choose::choose_rocm_index({.index_url = command.index_url,
                                 .index = settings.text("rocm-index"),
                                 .channel = command.channel.empty() ? settings.text("rocm-channel") : command.channel,
                                 .families = command.families});
  install.dry_run = command.dry_run;
  install.offline = settings.flag("offline");
  if (!command.output.json)
    install.on_fetch = [](const std::string& file_name) { print_status("fetching " + file_name + "\n"); };
  return install;
}

int install(const InstallCommand& command) {
  const settings::Settings settings = command.settings.read();
  env::RocmInstall install = install_for(command, settings);
  Session session(settings);
  install.python = env::find_environment_python(command.into, session.host());
  const env::InstalledRocm done = env::install_rocm(install, session.host(), session.fetcher(), session.store());
  print(command.output.json ? report::installed_rocm_json(done) : report::installed_rocm_text(done));
  return k_fine;
}

}  // namespace

void add_rocm(CLI::App& app, Outcome& outcome) {
  CLI::App* group = app.add_subcommand("rocm", "Fetch, package and install the ROCm SDK");
  group->require_subcommand(1);
  auto command = std::make_shared<InstallCommand>();
  CLI::App* sub = group->add_subcommand("install", "Install the SDK wheels for a GPU family from a package index");
  sub->footer(
      "Installs rocm-sdk, the core, the libraries with device code for the family, headers and CMake files, all of one "
      "version. Then checks that rocm-sdk works, and prints the environment variables for builds.\n\n"
      "Examples:\n"
      "  wheelsmith rocm install --index-url URL --family gfx1151 --into venv\n"
      "  wheelsmith rocm install --channel nightly --family gfx94X-dcgpu --version 7.10.0 --dry-run");
  CLI::Option* url = sub->add_option("--index-url", command->index_url,
                                     "Package index of the wheels; default: the setting rocm-index");
  sub->add_option("--channel", command->channel, "Value of {channel} in the setting rocm-index")
      ->check(CLI::IsMember({"nightly", "dev"}))
      ->excludes(url);
  sub->add_option("--family", command->families,
                  "GPU families: gfx1151, gfx94X-dcgpu, gfx110X-all, …; separated by commas")
      ->required()
      ->delimiter(',');
  sub->add_option("--into", command->into, "Environment (folder or interpreter); default: the active one");
  sub->add_option("--version", command->version,
                  "Version, such as 7.10.0, or specifiers such as >=7,<8; default: the newest");
  sub->add_option("--extras", command->extras,
                  "Extras to install: libraries, devel, profiler; separated by commas [libraries,devel]")
      ->delimiter(',');
  sub->add_flag("--pre,!--no-pre", command->prereleases, "Allow pre-releases [yes]");
  sub->add_flag("--dry-run", command->dry_run, "Show what would be installed, and install nothing");
  command->settings.add_to(*sub, {"mirrors", "offline", "store"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return install(*command); }; });
  add_rocm_fetch(*group, outcome);
  add_rocm_package(*group, outcome);
}

}  // namespace wheelsmith::cli
