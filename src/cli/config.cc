// Which settings hold, and who said so.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/session.h"
#include "report/style.h"

namespace wheelsmith::cli {

namespace {

struct ConfigCommand {
  OutputOptions output;
  SettingWords settings;
};

// A password in an address is nobody's business, not even in a listing of one's own settings.
document::Value shown(const document::Value& value) {
  if (const std::string* text = value.text()) return fetch::without_credentials(*text);
  if (const document::Array* items = value.array()) {
    document::Array result;
    for (const document::Value& item : *items) result.push_back(shown(item));
    return result;
  }
  if (const document::Table* table = value.table()) {
    document::Table result;
    for (const auto& [name, item] : *table) result[fetch::without_credentials(name)] = shown(item);
    return result;
  }
  return value;
}

int show(const ConfigCommand& command) {
  const settings::Settings settings = command.settings.read();
  const report::Style style = command.output.style();
  document::Table listed;
  std::vector<std::pair<std::string, std::string>> rows;  // "name = value", origin
  std::size_t width = 0;
  for (const auto& [name, held] : settings.all()) {
    const document::Value value = shown(held.value);
    document::Table item;
    item["value"] = value;
    item["origin"] = held.origin;
    listed[name] = std::move(item);
    rows.emplace_back(printable(name + " = " + document::to_json(value, -1)), printable(held.origin));
    width = std::max(width, std::min<std::size_t>(report::columns(rows.back().first), 60));
  }
  if (command.output.json) {
    document::Table document;
    document["schema"] = 1;
    document["settings"] = std::move(listed);
    print(document::to_json(document) + "\n");
    return k_fine;
  }
  std::string text;
  for (const auto& [row, origin] : rows) text += report::pad_right(row, width) + "  " + style.dim(origin) + "\n";
  print(text);
  return k_fine;
}

}  // namespace

void add_config(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("config", "Show the settings that hold");
  sub->require_subcommand(1);
  auto command = std::make_shared<ConfigCommand>();
  CLI::App* show_command = sub->add_subcommand("show", "List each setting with its value and where it comes from");
  show_command->footer(
      "The first that says something holds: the command line, WHEELSMITH_* variables, the nearest wheelsmith.toml, the "
      "user's\n"
      "config.toml, our defaults.");
  command->settings.add_to(*show_command);
  command->output.add_to(*show_command);
  show_command->callback([command, &outcome] { outcome = [command] { return show(*command); }; });
}

}  // namespace wheelsmith::cli
