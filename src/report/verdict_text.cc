#include <fmt/format.h>

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
  line("why: ", finding.why);
  line("fix: ", finding.fix);
  return text;
}

}  // namespace

std::string to_text(const wheel::Verdict& item, const Style& style) {
  std::string text;
  std::size_t counts[3] = {};
  for (const Finding& finding : item.findings) {
    ++counts[static_cast<std::size_t>(finding.severity)];
    // A large GPU wheel has dozens of notes: what is only worth knowing is shown when asked for.
    if (finding.severity != Severity::note || style.details) text += finding_text(finding, style);
  }
  if (!item.error.empty()) {
    return text + style.bold(printable(item.path)) + ": " + style.red("bad") + ": " + printable(item.error) + "\n";
  }
  const std::string notes = counted(counts[2], "note") + (counts[2] > 0 && !style.details ? ", shown by --all" : "");
  return text + style.bold(printable(item.path)) + ": " + (item.is_good() ? style.green("good") : style.red("bad")) +
         style.dim(fmt::format(" ({}, {}, {})", counted(counts[0], "error"), counted(counts[1], "warning"), notes)) +
         "\n";
}

}  // namespace wheelsmith::report
