#pragma once

#include <string>
#include <string_view>
#include <vector>

// Help texts, made from a description of the commands. The description is the same one that the parser, the completion
// and the manual pages use, so that none of them can fall behind.

namespace wheelsmith::report {

struct DescribedOption {
  std::string name;      // "--out", or "NAME" for an argument by position
  std::string shorter;   // "-o"; "" for none
  std::string argument;  // "DIR"; "" for a flag
  std::string text;      // what it does, as a sentence without its full stop
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
  std::string group;    // of the list of commands
  std::string details;  // paragraphs, and what is indented as it stands
  std::vector<DescribedOption> arguments, options;
  std::vector<DescribedCommand> commands;
};

enum class HelpLength { brief, full };

// Lines of at most `width` columns, as far as words allow it.
std::string help_text(const DescribedCommand& command, HelpLength length, unsigned width);

// What an option does, with its choices and its default.
std::string option_text(const DescribedOption& option, HelpLength length);

// The document of `help --json` (docs/json.md): the command and everything below it as one list. The documentation's
// site is made from it, and its tests compare the commands that pages show with it.
std::string help_json(const DescribedCommand& command);

// `text` in lines of at most `width` columns; lines but the first begin with `indent` spaces.
std::string wrapped(std::string_view text, unsigned width, unsigned indent);

}  // namespace wheelsmith::report
