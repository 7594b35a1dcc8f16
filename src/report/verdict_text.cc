#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/text.h"

namespace wheelsmith::report {

namespace {

std::string severity_name(Severity severity, const Style& style) {
  const std::string name = pad_right(to_string(severity), 8);
  switch (severity) {
    case Severity::error: return style.red(name);
    case Severity::warning: return style.yellow(name);
    case Severity::note: return style.cyan(name);
  }
  return name;
}

std::string finding_text(const Finding& finding, const Style& style) {
  std::string text = "  " + severity_name(finding.severity, style) + style.bold(printable(finding.subject)) +
                     style.dim("  [" + finding.id + "]") + "\n";
  const auto line = [&](std::string_view label, const std::string& content) {
    if (!content.empty())
      text += "          " + style.dim(label) + style.wrap(printable(content), 10 + label.size()) + "\n";
  };
  line("", finding.what);
  // What is only worth knowing stays short unless all is asked for.
  if (finding.severity != Severity::note || style.details) {
    line("why: ", finding.why);
    line("fix: ", finding.fix);
  }
  return text;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string to_text(const wheel::Verdict& item, const Style& style) {
  std::string text;
  for (const Finding& finding : item.findings) text += finding_text(finding, style);
  if (!item.error.empty()) text += "  " + style.red("error   ") + printable(item.error) + "\n";
  const auto count = [&](Severity severity) {
    return static_cast<std::size_t>(
        std::count_if(item.findings.begin(), item.findings.end(),
                      [&](const Finding& finding) { return finding.severity == severity; }));
  };
  const std::string verdict = item.is_good() ? style.green("good") : style.red("bad");
  text += style.bold(printable(item.path)) + ": " + verdict +
          style.dim(fmt::format(" ({}, {}, {})", counted(count(Severity::error), "error"),
                                counted(count(Severity::warning), "warning"), counted(count(Severity::note), "note"))) +
          "\n";
  return text;
}

}  // namespace wheelsmith::report
