#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/wheel/text.h"

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

constexpr std::size_t k_examples_of_a_group = 3;

std::string labelled(std::string_view label, const std::string& content, const Style& style) {
  if (content.empty()) return "";
  return "          " + style.dim(label) + style.wrap(printable(content), 10 + label.size()) + "\n";
}

std::string finding_text(const Finding& finding, const Style& style) {
  return "  " + severity_name(finding.severity, style) + style.bold(printable(finding.subject)) +
         style.dim("  [" + finding.id + "]") + "\n" + labelled("", finding.what, style) +
         labelled("why: ", finding.why, style) + labelled("fix: ", finding.fix, style);
}

// Findings of one id and severity. Shows the reason and fix of the first; the others differ only in names.
using Group = std::vector<const Finding*>;

std::vector<Group> grouped(const std::vector<Finding>& findings) {
  std::vector<Group> groups;
  std::map<std::pair<Severity, std::string_view>, std::size_t> places;
  for (const Finding& finding : findings) {
    const auto [place, is_new] = places.try_emplace({finding.severity, finding.id}, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&finding);
  }
  return groups;
}

std::string group_text(const Group& group, const Style& style) {
  const Finding& first = *group.front();
  if (group.size() == 1) return finding_text(first, style);
  std::string text = "  " + severity_name(first.severity, style) +
                     style.bold(fmt::format("{} findings", group.size())) + style.dim("  [" + first.id + "]") + "\n";
  const std::size_t shown = std::min(group.size(), k_examples_of_a_group);
  for (std::size_t i = 0; i < shown; ++i) {
    text += labelled("", group[i]->subject + ": " + group[i]->what, style);
  }
  if (shown < group.size())
    text += "          " + style.dim(fmt::format("and {} more (--all)", group.size() - shown)) + "\n";
  return text + labelled("why: ", first.why, style) + labelled("fix: ", first.fix, style);
}

}  // namespace

std::string to_text(const wheel::Verdict& item, const Style& style) {
  std::string text;
  std::size_t counts[3] = {};
  for (const Finding& finding : item.findings) {
    ++counts[static_cast<std::size_t>(finding.severity)];
    if (style.details) text += finding_text(finding, style);
  }
  if (!style.details) {
    for (const Group& group : grouped(item.findings)) {
      // A large GPU wheel has dozens of notes; they are shown only with --all.
      if (group.front()->severity != Severity::note) text += group_text(group, style);
    }
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
