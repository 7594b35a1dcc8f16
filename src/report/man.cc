#include "report/man.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace wheelsmith::report {

namespace {

// Escapes text for groff: backslashes, hyphens, and lines that would start a macro. Not every terminal has an ellipsis.
std::string escaped(std::string_view text) {
  std::string plain(text), result;
  replace_all(plain, "…", "...");
  for (const char c : plain) {
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

std::string item(const DescribedOption& option) {
  std::string head = "\\fB" + escaped(option.name) + "\\fR";
  if (!option.shorter.empty()) head = "\\fB" + escaped(option.shorter) + "\\fR, " + head;
  if (!option.argument.empty()) head += " \\fI" + escaped(option.argument) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, escaped(option_text(option, HelpLength::full) + "."));
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

struct ManDetails {
  std::string description, examples;
};

// What stands under "Examples:" becomes a section of its own, the last one, as in other manual pages.
ManDetails split_details(const std::string& details) {
  const std::size_t heading = details.starts_with("Example") ? 0 : details.find("\nExample");
  if (heading == std::string::npos) return {details, ""};
  const std::size_t end_of_heading = details.find('\n', heading + 1);
  return {details.substr(0, heading), end_of_heading == std::string::npos ? "" : details.substr(end_of_heading + 1)};
}

std::string man_section(std::string_view title, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", title, paragraphs(text));
}

// Printed only in the page of the whole program.
constexpr std::string_view k_common_sections = R"(.SH EXIT STATUS
.TP
\fB0\fR
Success.
.TP
\fB1\fR
The package, wheel or log in question is not fine: a build failed, a check found an error, a file cannot be read.
.TP
\fB2\fR
Wrong usage: an unknown option, recipe or value, or an untrusted settings file.
.TP
\fB3\fR
A bug in Wheelsmith.
.TP
\fB130\fR
Interrupted. Run the same command again to resume.
.SH ENVIRONMENT
.TP
\fBWHEELSMITH_STORE\fR
Folder of the store (default: $XDG_CACHE_HOME/wheelsmith).
.TP
\fBWHEELSMITH_CONFIG\fR
Settings file to use instead of the nearest wheelsmith.toml.
.TP
\fBWHEELSMITH_\fINAME\fR
Any setting, by the name of its option: WHEELSMITH_TORCH_INDEX is \fB\-\-torch\-index\fR.
.SH FILES
.TP
\fIwheelsmith.toml\fR
Settings of a project, in its folder or one above.
.TP
\fI~/.config/wheelsmith/config.toml\fR
Your own settings.
.TP
\fI~/.config/wheelsmith/recipes/\fR
Your own recipes.
.TP
\fI~/.cache/wheelsmith/\fR
The store.
)";

}  // namespace

std::string man_name(const DescribedCommand& command) {
  std::string name = command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const DescribedCommand& command, const std::string& version) {
  const std::string name = man_name(command);
  // whatis(1) shows it behind a hyphen: no sentence.
  const std::string summary = command.summary.substr(0, command.summary.find_last_not_of('.') + 1);
  std::string text = fmt::format(".TH {} 1 \"\" \"wheelsmith {}\" \"User Commands\"\n", escaped(upper(name)), version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(summary));
  text += ".SH SYNOPSIS\n\\fB" + escaped(command.path) + "\\fR";
  if (!command.options.empty()) text += " [OPTIONS]";
  if (!command.commands.empty()) text += " COMMAND";
  for (const DescribedOption& one : command.arguments)
    text += fmt::format(fmt::runtime(one.required ? " \\fI{}\\fR{}" : " [\\fI{}\\fR{}]"), escaped(one.name),
                        one.repeatable ? "..." : "");
  text += "\n";
  const ManDetails details = split_details(command.details);
  text += man_section("DESCRIPTION", details.description);
  const bool is_root = command.path.find(' ') == std::string::npos;
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const DescribedCommand& one : command.commands)
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}.\n", escaped(man_name(one)), escaped(one.summary));
  if (!command.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const DescribedOption& one : command.arguments) text += item(one);
  const std::vector<std::string> groups = option_groups(command.options);
  if (!groups.empty()) text += ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (groups.size() > 1) text += fmt::format(".SS {}\n", escaped(group));
    for (const DescribedOption& option : command.options) {
      if (option.group == group) text += item(option);
    }
  }
  if (is_root) text += k_common_sections;
  text += man_section("EXAMPLES", details.examples);
  // The command above; those below are under COMMANDS.
  if (!is_root) text += ".SH SEE ALSO\n\\fB" + escaped(name.substr(0, name.rfind('-'))) + "\\fR(1)\n";
  return text;
}

}  // namespace wheelsmith::report
