#pragma once

#include <string>
#include <string_view>
#include <vector>

// Help texts, generated from a description of the commands. The parser, the completion and the manual pages use the
// same description, so they always agree.

namespace wheelsmith::report {

struct DescribedOption {
  std::string name;      // "--out", or "NAME" for a positional argument
  std::string shorter;   // "-o"; "" if there is none
  std::string argument;  // "DIR"; "" for a flag
  std::string text;      // description, without a full stop
  std::string group;     // heading: "Target"
  std::string fallback{};
  std::vector<std::string> choices{};
  bool common = true;  // shown by the short help
  bool required = false, repeatable = false;
};

struct DescribedCommand {
  std::string path;     // "wheelsmith recipe show"
  std::string name;     // "show"
  std::string summary;  // one line
  std::string group;    // heading in the list of commands
  std::string details;  // paragraphs; indented lines are kept as they are
  std::vector<DescribedOption> arguments, options;
  std::vector<DescribedCommand> commands;
};

enum class HelpLength { brief, full };

// Wraps lines at `width` columns, unless a word is longer.
std::string help_text(const DescribedCommand& command, HelpLength length, unsigned width);

// The headings of the options, in the order in which they are shown.
std::vector<std::string> option_groups(const std::vector<DescribedOption>& options);

// The description of an option, with its choices and its default.
std::string option_text(const DescribedOption& option, HelpLength length);

// The document of `help --json` (docs/json.md): the command and everything below it as one list. The documentation's
// site is made from it, and its tests compare the commands that pages show with it.
std::string help_json(const DescribedCommand& command);

// Wraps `text` at `width` columns; all lines except the first are indented by `indent` spaces.
std::string wrapped(std::string_view text, unsigned width, unsigned indent);

}  // namespace wheelsmith::report
