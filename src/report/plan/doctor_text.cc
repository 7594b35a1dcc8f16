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

std::string doctor_json(const std::vector<Check>& checks) {
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

}  // namespace wheelsmith::report
