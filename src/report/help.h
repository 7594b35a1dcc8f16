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

// The description with the choices at the end of its first clause: "Mode: a, b; a: the fast one".
std::string text_with_choices(const DescribedOption& option);

// Wraps `text` at `width` columns; all lines except the first are indented by `indent` spaces.
std::string wrapped(std::string_view text, unsigned width, unsigned indent);

}  // namespace wheelsmith::report
