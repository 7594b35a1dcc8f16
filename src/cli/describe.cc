#include "cli/describe.h"

#include <algorithm>

#include "settings/settings.h"
#include "sys/process/process.h"

namespace wheelsmith::cli {

namespace {

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

// Parses the type name "{a,b}" of CLI::IsMember, the only place where CLI11 exposes the choices.
std::vector<std::string> choices_of(const std::string& type_name) {
  std::vector<std::string> choices;
  if (!type_name.starts_with('{') || !type_name.ends_with('}')) return choices;
  std::string choice;
  for (const char c : type_name.substr(1)) {
    if (c != ',' && c != '}') {
      choice += c;
      continue;
    }
    choices.push_back(choice);
    choice.clear();
  }
  return choices;
}

report::DescribedOption describe_option(const CLI::Option& option) {
  report::DescribedOption described;
  const bool positional = option.nonpositional() == false;
  const auto& longs = option.get_lnames();
  const auto& shorts = option.get_snames();
  described.name = positional ? option.get_name(true) : longs.empty() ? "-" + shorts.front() : "--" + longs.front();
  if (!shorts.empty() && !longs.empty()) described.shorter = "-" + shorts.front();
  described.text = option.get_description();
  described.group = option.get_group();
  described.required = option.get_required();
  described.repeatable = option.get_items_expected_max() > 1;
  const bool flag = option.get_items_expected_max() == 0 || option.get_type_size_max() == 0;
  if (!flag && !positional) {
    // A check appends its own name to the type name: "TEXT:{a,b}".
    const std::string type = option.get_type_name();
    const std::size_t colon = type.find(":{");
    described.argument = type.substr(0, colon);
    if (colon != std::string::npos) described.choices = choices_of(type.substr(colon + 1));
    described.fallback = option.get_default_str();
  }
  if (positional) {
    const std::string type = option.get_type_name();
    if (const std::size_t colon = type.find(":{"); colon != std::string::npos)
      described.choices = choices_of(type.substr(colon + 1));
  }
  const settings::Option* setting = longs.empty() ? nullptr : settings::option_named(longs.front());
  if (setting != nullptr && !setting->choices.empty()) described.choices = setting->choices;
  described.common = setting != nullptr && described.group == settings::to_string(setting->group)
                         ? setting->common
                         : described.group != "Advanced";
  return described;
}

}  // namespace

report::DescribedCommand describe(const CLI::App& command) {
  report::DescribedCommand described;
  described.path = path_of(command);
  described.name = command.get_name();
  described.summary = command.get_description();
  described.group = command.get_group();
  described.details = command.get_footer();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty() && option->nonpositional()) continue;
    if (option == command.get_help_ptr() || option == command.get_help_all_ptr()) continue;
    (option->nonpositional() ? described.options : described.arguments).push_back(describe_option(*option));
  }
  described.options.push_back({"--help", "-h", "", k_help_text, "Help"});
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    described.commands.push_back(describe(*sub));
  return described;
}

void print_help(const CLI::App& command, report::HelpLength length) {
  const sys::Terminal terminal = sys::standard_output(sys::ColourChoice::never);
  // In a file or a pager, help is as wide as a manual page.
  const bool known = terminal.is_terminal || sys::current_environment().contains("COLUMNS");
  print(report::help_text(describe(command), length, known ? terminal.width : 80));
}

}  // namespace wheelsmith::cli
