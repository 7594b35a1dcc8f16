// `rocm install`: ROCm's SDK in an environment.

#include "report/rocm.h"

#include "choose/read_request.h"
#include "choose/rocm_index.h"
#include "cli/rocm_commands.h"
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
  CLI::App* sub = group->add_subcommand("install", "Install the SDK's wheels of an index, for one family of GPUs");
  sub->footer(
      "Installs rocm-sdk, the core, libraries with the family's device code, headers and CMake files, all of one\n"
      "version, checks that rocm-sdk answers, and prints the variables that builds want.\n\n"
      "Examples:\n"
      "  wheelsmith rocm install --index-url URL --family gfx1151 --into venv\n"
      "  wheelsmith rocm install --channel nightly --family gfx94X-dcgpu --version 7.10.0 --dry-run");
  CLI::Option* url = sub->add_option("--index-url", command->index_url, "Index of the wheels [rocm-index]");
  sub->add_option("--channel", command->channel, "Channel that {channel} of the setting rocm-index stands for")
      ->check(CLI::IsMember({"nightly", "dev"}))
      ->excludes(url);
  sub->add_option("--family", command->families, "GPUs: gfx1151, gfx94X-dcgpu, gfx110X-all, …; a list with commas")
      ->required()
      ->delimiter(',');
  sub->add_option("--into", command->into, "Environment's folder or interpreter; default: the active one");
  sub->add_option("--version", command->version, "7.10.0, or specifiers like >=7,<8; default: the newest");
  sub->add_option("--extras", command->extras, "libraries, devel, profiler; a list with commas [libraries,devel]")
      ->delimiter(',');
  sub->add_flag("--pre,!--no-pre", command->prereleases, "Whether pre-releases count [yes]");
  sub->add_flag("--dry-run", command->dry_run, "Only say what would be installed");
  command->settings.add_to(*sub, {"mirrors", "offline", "store"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return install(*command); }; });
  add_rocm_fetch(*group, outcome);
  add_rocm_package(*group, outcome);
}

}  // namespace wheelsmith::cli
