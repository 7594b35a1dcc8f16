// A failed step as text. Users read the end of the block first, because it is just above the prompt: cause, message,
// fix. Above it are the command and its output, with as many lines as fit the screen.

#include "report/build/failure_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "report/diagnosis.h"

namespace wheelsmith::report {

namespace {

constexpr unsigned k_screen_columns = 80;
constexpr std::size_t k_block_lines = 22;  // of 24: the totals and the prompt follow
constexpr std::size_t k_most_findings = 3;

using Lines = std::vector<std::string>;

std::size_t rows(const Lines& lines) {
  std::size_t count = 0;
  for (const std::string& line : lines) count += 1 + (std::max<std::size_t>(columns(line), 1) - 1) / k_screen_columns;
  return count;
}

// Truncates a line to the width of the screen; coloured lines are short enough.
std::string cut_to_width(std::string text, const Style& style) {
  if (style.details || columns(text) <= style.width || text.find('\x1b') != text.npos) return text;
  std::size_t end = 0, used = 0;
  while (end < text.size() && used + 1 < style.width) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    ++used;
  }
  return text.substr(0, end) + "…";
}

// Adds the first `most` lines of a wrapped text.
void add_wrapped(Lines& lines, const std::string& text, std::size_t most, const Style& style) {
  std::vector<std::string_view> parts = wheelsmith::lines(text);
  const bool cut = !style.details && parts.size() > most;
  if (cut) parts.resize(most);
  for (const std::string_view part : parts) lines.push_back(cut_to_width(std::string(part), style));
  if (cut && !lines.empty()) lines.back() = cut_to_width(lines.back() + " …", style);
}

std::string cut_line(std::string_view line, const Style& style) {
  return cut_to_width("    " + printable(line), style);
}

Lines head_lines(const run::StepOutcome& step, const Style& style) {
  Lines lines = {fmt::format("{} {}, in phase {}", style.red("failed"), style.bold(step.id),
                             step.phase ? plan::to_string(*step.phase) : "start")};
  add_wrapped(lines, "  " + style.wrap(printable(step.cause), 2), 3, style);
  if (step.failure && !step.failure->command.empty()) {
    lines.push_back(fmt::format("  first command that failed (line {} of the log):", step.failure->line));
    add_wrapped(lines, "    " + style.wrap(printable(step.failure->command), 4), 2, style);
  }
  return lines;
}

void add_cause(Lines& lines, const diagnose::Cause& cause, const Style& style) {
  const std::string what = fmt::format("{} [{}, {}, {}]", printable(cause.what), cause.kind, cause.id, cause.sure);
  add_wrapped(lines, "  cause: " + style.wrap(what, 9), 4, style);
  for (std::size_t i = 0; i < cause.why.size() && (i == 0 || style.details); ++i)
    add_wrapped(
        lines,
        "  message: " + style.wrap(fmt::format("line {}: {}", cause.why[i].line, printable(cause.why[i].text)), 11), 2,
        style);
  for (std::size_t i = 0; i < cause.fixes.size() && (i < 2 || style.details); ++i)
    add_wrapped(lines, "  " + style.green("fix: ") + style.wrap(printable(cause.fixes[i]), 7), 3, style);
}

Lines tail_lines(const run::StepOutcome& step, const Style& style) {
  Lines lines;
  if (!step.log.empty()) lines.push_back("  log: " + step.log.string());
  if (!step.repeat_script.empty()) lines.push_back("  rerun: " + step.repeat_script.string());
  if (!step.refused_wheel.empty()) lines.push_back("  rejected wheel: " + step.refused_wheel.string());
  std::size_t shown = 0, left_out = 0;
  for (const Finding& finding : step.findings) {
    if (finding.severity != Severity::error) continue;
    if (!style.details && shown++ >= k_most_findings) {
      ++left_out;
      continue;
    }
    add_wrapped(lines,
                fmt::format("  {} {}: {}", style.red(finding.id), printable(finding.subject),
                            style.wrap(printable(finding.what), 4)),
                2, style);
    if (!finding.fix.empty()) add_wrapped(lines, "    fix: " + style.wrap(printable(finding.fix), 9), 2, style);
  }
  if (left_out != 0) lines.push_back(fmt::format("  {} more; use --all to show", left_out));
  if (step.diagnosis) add_cause(lines, *step.diagnosis, style);
  return lines;
}

// The first lines of the output usually contain the error, the last lines the exit.
Lines output_lines(const run::StepOutcome& step, std::size_t room, const Style& style) {
  Lines lines;
  if (!step.failure || step.failure->output.empty() || (room < 3 && !style.details)) return lines;
  const std::vector<std::string_view> all = wheelsmith::lines(step.failure->output);
  const std::size_t most = std::max<std::size_t>(room, 1) - 1;
  lines.emplace_back("  output:");
  if (style.details || all.size() <= most) {
    for (const std::string_view line : all) lines.push_back(cut_line(line, style));
    return lines;
  }
  const std::size_t first = most / 2, last = most - first - 1;
  for (std::size_t i = 0; i < first; ++i) lines.push_back(cut_line(all[i], style));
  lines.push_back(
      style.dim(fmt::format("    … {} lines omitted; use --all or see the log", all.size() - first - last)));
  for (std::size_t i = all.size() - last; i < all.size(); ++i) lines.push_back(cut_line(all[i], style));
  return lines;
}

}  // namespace

std::string failure_block(const run::StepOutcome& step, const Style& given) {
  Style style = given;
  if (!style.details) style.width = std::min(style.width, k_screen_columns);
  Style plain = style;
  plain.colour = false;
  const Lines head = head_lines(step, style), tail = tail_lines(step, style);
  const std::size_t used = rows(head_lines(step, plain)) + rows(tail_lines(step, plain));
  const Lines output = output_lines(step, used < k_block_lines ? k_block_lines - used : 0, style);
  std::string text = "\n";
  for (const Lines* part : {&head, &output, &tail}) {
    for (const std::string& line : *part) text += line + "\n";
  }
  return text;
}

}  // namespace wheelsmith::report
