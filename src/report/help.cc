#include "report/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/json_document.h"
#include "report/style.h"

namespace wheelsmith::report {

namespace {

constexpr unsigned k_narrowest = 40, k_widest = 120;
constexpr std::size_t k_name_column = 28;  // longer names have their text on the next line
// A command with at most this many options has no separate short help.
constexpr std::size_t k_few_options = 12;

document::Table option_table(const DescribedOption& option) {
  document::Table table;
  table["name"] = option.name;
  table["short"] = option.shorter;
  table["argument"] = option.argument;
  table["text"] = option.text;
  table["group"] = option.group;
  table["default"] = option.fallback;
  table["choices"] = text_array(option.choices);
  table["required"] = option.required;
  table["repeatable"] = option.repeatable;
  return table;
}

document::Array option_array(const std::vector<DescribedOption>& options) {
  document::Array array;
  for (const std::string& group : option_groups(options)) {
    for (const DescribedOption& option : options) {
      if (option.group == group) array.push_back(option_table(option));
    }
  }
  return array;
}

void append_commands(const DescribedCommand& command, document::Array& commands) {
  document::Table table;
  table["path"] = command.path;
  table["summary"] = command.summary;
  table["group"] = command.group;
  table["details"] = command.details;
  table["arguments"] = option_array(command.arguments);
  table["options"] = option_array(command.options);
  commands.push_back(std::move(table));
  for (const DescribedCommand& one : command.commands) append_commands(one, commands);
}

bool is_indented(std::string_view line) { return line.starts_with(' '); }

// Rewraps paragraphs; keeps indented lines (examples, tables).
std::string wrapped_paragraphs(const std::string& text, unsigned width) {
  std::string result, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) result += wrapped(paragraph, width, 0) + "\n";
    paragraph.clear();
  };
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty() && !is_indented(line)) {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
      if (line.ends_with(':')) end_paragraph();
      continue;
    }
    end_paragraph();
    result += std::string(line) + "\n";
  }
  end_paragraph();
  return result;
}

std::string left_column(const DescribedOption& option) {
  std::string left = option.name;
  if (option.name.starts_with('-')) left = (option.shorter.empty() ? "    " : option.shorter + ", ") + option.name;
  return option.argument.empty() ? left : left + " " + option.argument;
}

std::string row(const std::string& left, const std::string& right, std::size_t column, unsigned width) {
  std::string text = "  " + left;
  if (left.size() + 2 > column) {
    text += "\n" + std::string(column + 2, ' ');
  } else {
    text += std::string(column + 2 - left.size() - 2, ' ');
  }
  return text +
         wrapped(right, width > column + 2 + 20 ? width - static_cast<unsigned>(column) - 2 : 20,
                 static_cast<unsigned>(column) + 2) +
         "\n";
}

std::string usage(const DescribedCommand& command, unsigned width) {
  std::string text = command.path;
  if (!command.options.empty()) text += " [OPTIONS]";
  if (!command.commands.empty()) text += " COMMAND";
  for (const DescribedOption& one : command.arguments) {
    const std::string name = one.name + (one.repeatable ? "…" : "");
    text += one.required ? " " + name : " [" + name + "]";
  }
  return "Usage: " + wrapped(text, width - 7, 7) + "\n";
}

std::string option_rows(const DescribedCommand& command, bool all, HelpLength length, unsigned width) {
  std::string text;
  for (const std::string& group : option_groups(command.options)) {
    std::string rows;
    for (const DescribedOption& option : command.options) {
      if (option.group == group && (all || option.common))
        rows += row(left_column(option), option_text(option, length), k_name_column, width);
    }
    if (!rows.empty()) text += fmt::format("\n{}:\n{}", group, rows);
  }
  return text;
}

std::string command_rows(const DescribedCommand& command, unsigned width) {
  std::size_t longest = 0;
  for (const DescribedCommand& one : command.commands) longest = std::max(longest, one.name.size());
  std::vector<std::string> groups;
  for (const DescribedCommand& one : command.commands) {
    if (std::ranges::find(groups, one.group) == groups.end()) groups.push_back(one.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    text += fmt::format("\n{}:\n", group);
    for (const DescribedCommand& one : command.commands) {
      if (one.group == group) text += row(one.name, one.summary, longest + 4, width);
    }
  }
  return text;
}

std::string examples_of(const std::string& details) {
  const std::size_t at = details.find("Example");
  return at == std::string::npos ? "" : details.substr(at);
}

}  // namespace

std::vector<std::string> option_groups(const std::vector<DescribedOption>& options) {
  // The order in which a user decides; other groups come first.
  const std::vector<std::string> order = {"Source", "Target", "Toolchain", "Resources", "Output", "Advanced", "Help"};
  std::vector<std::string> groups;
  for (const DescribedOption& option : options) {
    if (std::ranges::find(order, option.group) == order.end() &&
        std::ranges::find(groups, option.group) == groups.end())
      groups.push_back(option.group);
  }
  std::ranges::copy_if(order, std::back_inserter(groups), [&](const std::string& group) {
    return std::ranges::find(options, group, &DescribedOption::group) != options.end();
  });
  return groups;
}

std::string option_text(const DescribedOption& option, HelpLength length) {
  std::string right = option.text;
  const std::string choices = join(option.choices, ", ");
  if (!choices.empty() && right.find(choices) == std::string::npos) {
    const std::size_t clause = std::min(right.find("; "), right.size());
    right.insert(clause, ": " + choices);
  }
  if (length == HelpLength::brief) return right.substr(0, right.find("; "));
  if (option.repeatable && !option.argument.empty() && option.name.starts_with('-')) right += "; repeatable";
  if (!option.fallback.empty()) right += fmt::format(" [default: {}]", option.fallback);
  return right;
}

std::string wrapped(std::string_view text, unsigned width, unsigned indent) {
  std::string result;
  std::size_t column = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t size = columns(word);
    if (column != 0 && column + 1 + size > width) {
      result += "\n" + std::string(indent, ' ');
      column = 0;
    }
    result += (column == 0 ? "" : " ") + std::string(word);
    column += size + (column == 0 ? 0 : 1);
  }
  return result;
}

std::string help_text(const DescribedCommand& command, HelpLength length, unsigned asked_width) {
  const unsigned width = std::clamp(asked_width, k_narrowest, k_widest);
  const bool all = length == HelpLength::full || command.options.size() <= k_few_options;
  std::string text = wrapped(command.summary, width, 0) + "\n\n" + usage(command, width);
  text += command_rows(command, width);
  if (!command.arguments.empty()) {
    text += "\nArguments:\n";
    for (const DescribedOption& one : command.arguments)
      text += row(one.name, option_text(one, length), k_name_column, width);
  }
  text += option_rows(command, all, length, width);
  const std::string& details = command.details;
  const std::string shown = length == HelpLength::full ? details : examples_of(details);
  if (!shown.empty()) text += "\n" + wrapped_paragraphs(shown, width);
  if (!all || (length == HelpLength::brief && shown != details))
    text += fmt::format("\n`{} --help` shows all options and details.\n", command.path);
  return text;
}

std::string help_json(const DescribedCommand& command) {
  document::Table document = new_document();
  document::Array commands;
  append_commands(command, commands);
  document["commands"] = std::move(commands);
  return document_text(document);
}

}  // namespace wheelsmith::report
