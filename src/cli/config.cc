// `config show`: the effective settings and where each comes from.

#include "cli/session.h"
#include "report/settings.h"

namespace wheelsmith::cli {

namespace {

struct ConfigCommand {
  OutputOptions output;
  SettingOptions settings;
};

int show_settings(const ConfigCommand& command) {
  const settings::Settings settings = command.settings.read();
  print(command.output.json ? report::settings_json(settings)
                            : report::settings_text(settings, command.output.style()));
  return k_fine;
}

}  // namespace

void add_config(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("config", "Show the settings that hold");
  sub->require_subcommand(1);
  auto command = std::make_shared<ConfigCommand>();
  CLI::App* show_command = sub->add_subcommand("show", "List each setting with its value and where it comes from");
  show_command->footer(
      "The first of these that sets an option wins: the command line, WHEELSMITH_* variables, the project's "
      "wheelsmith.toml\n"
      "(`wheelsmith trust`), your own config.toml, the defaults. docs/settings.md says more.");
  command->settings.add_to(*show_command);
  command->output.add_to(*show_command);
  show_command->callback([command, &outcome] { outcome = [command] { return show_settings(*command); }; });
}

}  // namespace wheelsmith::cli
