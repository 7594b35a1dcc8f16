#include "report/man.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace wheelsmith::report {

namespace {

// Escapes text for groff: backslashes, hyphens, and lines that would start a macro.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += std::string("\\&") + c;
    } else {
      result += c;
    }
  }
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return result;
}

std::string sentence(const DescribedOption& option) {
  std::string text = text_with_choices(option);
  if (!option.fallback.empty()) text += fmt::format(" (default: {})", option.fallback);
  return text + ".";
}

std::string item(const DescribedOption& option) {
  std::string head = "\\fB" + escaped(option.name) + "\\fR";
  if (!option.shorter.empty()) head = "\\fB" + escaped(option.shorter) + "\\fR, " + head;
  if (!option.argument.empty()) head += " \\fI" + escaped(option.argument) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, escaped(sentence(option)));
}

// Keeps indented lines (examples, tables) as they are.
std::string paragraphs(const std::string& text) {
  std::string result;
  bool literal = false;
  bool open = false;
  for (const std::string_view line : split(text, '\n')) {
    const bool wants_literal = line.starts_with(' ');
    if (wants_literal != literal && !line.empty()) {
      result += wants_literal ? ".PP\n.nf\n" : ".fi\n.PP\n";
      literal = wants_literal;
      open = true;
    }
    if (line.empty()) {
      if (!literal) open = false;
      continue;
    }
    if (!open) result += ".PP\n";
    open = true;
    result += escaped(line) + "\n";
  }
  return literal ? result + ".fi\n" : result;
}

}  // namespace

std::string man_name(const DescribedCommand& command) {
  std::string name = command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const DescribedCommand& command, const std::string& version) {
  const std::string name = man_name(command);
  std::string text = fmt::format(".TH {} 1 \"\" \"wheelsmith {}\" \"User Commands\"\n", escaped(upper(name)), version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(command.summary));
  text += ".SH SYNOPSIS\n\\fB" + escaped(command.path) + "\\fR";
  if (!command.options.empty()) text += " [OPTIONS]";
  if (!command.commands.empty()) text += " COMMAND";
  for (const DescribedOption& one : command.arguments)
    text += fmt::format(fmt::runtime(one.required ? " \\fI{}\\fR{}" : " [\\fI{}\\fR{}]"), escaped(one.name),
                        one.repeatable ? "..." : "");
  text += "\n";
  if (!command.details.empty()) text += ".SH DESCRIPTION\n" + paragraphs(command.details);
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const DescribedCommand& one : command.commands)
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}.\n", escaped(man_name(one)), escaped(one.summary));
  if (!command.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const DescribedOption& one : command.arguments) text += item(one);
  std::vector<std::string> groups;
  for (const DescribedOption& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  if (!groups.empty()) text += ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (groups.size() > 1) text += fmt::format(".SS {}\n", escaped(group));
    for (const DescribedOption& option : command.options) {
      if (option.group == group) text += item(option);
    }
  }
  return text + ".SH SEE ALSO\n\\fBwheelsmith\\fR(1)\n";
}

}  // namespace wheelsmith::report
