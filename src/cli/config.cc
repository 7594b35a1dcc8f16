// `config`: shows the effective settings and their origins; edits the user's config.toml.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "choose/read_request.h"
#include "cli/session.h"
#include "report/settings.h"
#include "settings/edit_file.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;
using settings::Kind;

struct ConfigCommand {
  OutputOptions output;
  SettingOptions settings;
};

struct ConfigEdit {
  std::string name;
  std::vector<std::string> values;
};

int show_settings(const ConfigCommand& command) {
  const settings::Settings settings = command.settings.read();
  (void)choose::read_request(settings);  // rejects values that every command would reject
  print(command.output.json ? report::settings_json(settings)
                            : report::settings_text(settings, command.output.style()));
  return k_fine;
}

const settings::Option& setting_named(const std::string& name) {
  const settings::Option* option = settings::option_named(name);
  if (option != nullptr && option->allowed == settings::Allowed::everywhere) return *option;
  if (option != nullptr) throw UsageError(fmt::format("{} can be given on the command line only", name));
  std::vector<std::string> names;
  for (const settings::Option& one : settings::all_options()) names.push_back(one.name);
  const auto near = nearest(name, names);
  throw UsageError(fmt::format("unknown setting {}{}\n  try: wheelsmith config show", printable(name),
                               near ? "; did you mean " + *near + "?" : ""));
}

// Paths on the command line are relative to the current folder; paths in the file are relative to the file.
std::string as_in_file(const settings::Option& option, const std::string& text) {
  const bool path = option.kind == Kind::folder || ((option.kind == Kind::program || option.kind == Kind::programs) &&
                                                    text.find('/') != std::string::npos);
  return path && !text.empty() && !text.starts_with('~') ? fs::absolute(text).lexically_normal().string() : text;
}

document::Value value_for_file(const settings::Option& option, const std::vector<std::string>& given) {
  std::vector<std::string> texts;
  for (const std::string& text : given) texts.push_back(as_in_file(option, text));
  const bool list = option.kind == Kind::list || option.kind == Kind::texts || option.kind == Kind::programs;
  if (!list && texts.size() != 1) throw UsageError(fmt::format("{} takes one value", option.name));
  const document::Value value = settings::read_value(option, join(texts, option.kind == Kind::texts ? "\n" : ","));
  // The same check as in a command that uses the setting.
  settings::Settings alone;
  alone.set_from_command_line(option.name, value);
  (void)choose::read_request(alone);
  return value;
}

fs::path user_file() {
  const fs::path folder = settings::user_folder(sys::current_environment());
  if (folder.empty()) throw Error("cannot locate config.toml: neither XDG_CONFIG_HOME nor HOME is set");
  return folder / "config.toml";
}

// Reads, changes and writes the file under a lock.
void edit_user_file(const std::string& table, const std::string& key, const std::optional<document::Value>& value) {
  fs::path file = user_file();
  sys::make_folders(file.parent_path());
  std::error_code ignored;
  if (fs::is_symlink(file, ignored)) file = fs::canonical(file);  // keep a symbolic link, as dotfile managers use
  const sys::FileLock lock(file.parent_path() / ".config.lock");
  const std::string text = sys::read_file_if_there(file, 1 << 20).value_or("");
  const std::string edited = settings::edited_file(text, file.string(), table, key, value);
  settings::Settings().read_project(file, edited);  // rejects a file that no command could read
  if (edited != text) sys::write_file(file, edited);
}

int set_setting(const ConfigEdit& edit) {
  const settings::Option& option = setting_named(edit.name);
  try {
    if (option.kind == Kind::table) {
      for (const std::string& pair : edit.values) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
          throw Error(fmt::format("{} {}: must be {}", option.name, printable(pair), option.argument));
        edit_user_file(option.name, pair.substr(0, equals), document::Value(pair.substr(equals + 1)));
      }
    } else {
      edit_user_file("", option.name, value_for_file(option, edit.values));
    }
  } catch (const Error& error) {
    throw UsageError(printable(error.what()));
  }
  print(fmt::format("set {} in {}\n", option.name, printable(user_file().string())));
  return k_fine;
}

int unset_setting(const ConfigEdit& edit) {
  const std::size_t dot = edit.name.find('.');
  const settings::Option& option = setting_named(edit.name.substr(0, dot));
  if (dot == std::string::npos)
    edit_user_file("", option.name, std::nullopt);
  else
    edit_user_file(option.name, edit.name.substr(dot + 1), std::nullopt);
  print(fmt::format("unset {} in {}\n", printable(edit.name), printable(user_file().string())));
  return k_fine;
}

}  // namespace

void add_config(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("config", "Show and change settings");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith config show\n"
      "  wheelsmith config set jobs 8\n"
      "  wheelsmith config set arch \"8.0;9.0\"\n"
      "  wheelsmith config unset jobs");
  auto command = std::make_shared<ConfigCommand>();
  CLI::App* show_command = sub->add_subcommand("show", "List each setting with its value and where it comes from");
  show_command->footer(
      "Precedence, highest first: the command line, WHEELSMITH_* variables, the project's wheelsmith.toml (see "
      "`wheelsmith trust`), your config.toml, the defaults. See docs/settings.md.");
  command->settings.add_to(*show_command);
  command->output.add_to(*show_command);
  show_command->callback([command, &outcome] { outcome = [command] { return show_settings(*command); }; });

  auto edit = std::make_shared<ConfigEdit>();
  CLI::App* set_command = sub->add_subcommand("set", "Set an option in your config.toml");
  set_command->footer(
      "The file is $XDG_CONFIG_HOME/wheelsmith/config.toml. Comments and other settings are kept. Several "
      "values make a list; tables (env, set, mirrors) take NAME=VALUE.");
  set_command->add_option("SETTING", edit->name, "Name of the option, without --")->required();
  set_command->add_option("VALUE", edit->values, "Value")->required();
  set_command->callback([edit, &outcome] { outcome = [edit] { return set_setting(*edit); }; });

  auto removed = std::make_shared<ConfigEdit>();
  CLI::App* unset_command = sub->add_subcommand("unset", "Remove an option from your config.toml");
  unset_command->add_option("SETTING", removed->name, "Name of the option; TABLE.NAME for one entry of a table")
      ->required();
  unset_command->callback([removed, &outcome] { outcome = [removed] { return unset_setting(*removed); }; });
}

}  // namespace wheelsmith::cli
