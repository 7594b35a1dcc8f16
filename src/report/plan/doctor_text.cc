#include "report/plan/doctor_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/knowledge.h"
#include "document/value.h"

namespace wheelsmith::report {

namespace {

using doctor::Check;
using doctor::State;

constexpr std::size_t k_state_columns = 9, k_id_columns = 22;
constexpr std::size_t k_indent = 2 + k_state_columns + k_id_columns;

std::string state_word(State state, const Style& style) {
  const std::string word = pad_right(doctor::to_string(state), k_state_columns);
  switch (state) {
    case State::good: return style.green(word);
    case State::bad: return style.red(word);
    case State::unknown: return style.yellow(word);
  }
  return word;
}

std::string check_text(const Check& check, const Style& style) {
  std::string text = "  " + state_word(check.state, style) + style.bold(pad_right(printable(check.id), k_id_columns)) +
                     style.wrap(printable(check.found), k_indent) + "\n";
  const auto line = [&](std::string_view label, const std::string& content) {
    if (content.empty()) return;
    text +=
        std::string(k_indent, ' ') + style.dim(label) + style.wrap(printable(content), k_indent + label.size()) + "\n";
  };
  if (check.state != State::good || style.details) line("wanted: ", check.wanted);
  line("", check.why);
  line("fix: ", check.fix);
  if (check.state == State::bad && style.details)
    line("prevents (see wheelsmith diagnose): ", join(diagnose::failures_seen_by(check.id), ", "));
  return text;
}

}  // namespace

std::string doctor_json(const std::vector<Check>& checks, const MachineSummary* summary) {
  document::Array list;
  for (const Check& check : checks) {
    document::Table table;
    table["id"] = check.id;
    table["state"] = doctor::to_string(check.state);
    table["found"] = check.found;
    table["wanted"] = check.wanted;
    table["why"] = check.why;
    table["fix"] = check.fix;
    table["package"] = check.package;
    table["step"] = check.step;
    document::Array prevents;
    if (check.state == State::bad) {
      for (const std::string& id : diagnose::failures_seen_by(check.id)) prevents.emplace_back(id);
    }
    table["prevents"] = std::move(prevents);
    list.emplace_back(std::move(table));
  }
  document::Table document;
  document["schema"] = 1;
  document["checks"] = std::move(list);
  if (summary != nullptr) {
    document::Array variants;
    for (const doctor::Ability& ability : summary->abilities) {
      document::Table table;
      table["variant"] = recipe::to_string(ability.variant);
      table["can"] = ability.can;
      table["how"] = ability.how;
      table["fix"] = ability.fix;
      variants.emplace_back(std::move(table));
    }
    document["can_build"] = std::move(variants);
    document["try_first"] = summary->try_first;
  }
  return document::to_json(document) + "\n";
}

std::string doctor_text(const std::vector<Check>& checks, const Style& style) {
  std::string text, step;
  std::size_t counts[3] = {};
  for (const Check& check : checks) {
    ++counts[static_cast<std::size_t>(check.state)];
    const std::string& name = check.step.empty() ? check.package : check.step;
    if (name != step) text += (text.empty() ? "" : "\n") + style.bold(printable(name)) + "\n";
    step = name;
    text += check_text(check, style);
  }
  return text + fmt::format("{} good, {} bad, {} unknown\n", counts[0], counts[1], counts[2]);
}

std::string summary_text(const MachineSummary& summary, const Style& style) {
  std::string text = "\n" + style.bold("This machine can build") + "\n";
  for (const doctor::Ability& ability : summary.abilities) {
    const std::string word = pad_right(ability.can ? "yes" : "no", k_state_columns);
    text += "  " + (ability.can ? style.green(word) : style.yellow(word)) +
            style.bold(pad_right(recipe::to_string(ability.variant), k_id_columns)) +
            style.wrap(printable(ability.how), k_indent) + "\n";
    if (!ability.fix.empty())
      text += std::string(k_indent, ' ') + style.dim("fix: ") + style.wrap(printable(ability.fix), k_indent + 5) + "\n";
  }
  return text + fmt::format("\nTry first: {}\n", style.bold(printable(summary.try_first)));
}

}  // namespace wheelsmith::report
