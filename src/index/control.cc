#include "index/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/wheel_name.h"

namespace wheelsmith::index {

namespace {

using document::Table;
using document::Value;

[[noreturn]] void refuse(const Value& value, std::string_view what) {
  throw Error(fmt::format("{}:{}: {}", k_control_file, value.line, what));
}

const Table& table_of(const Value& value, std::string_view key) {
  if (value.table() == nullptr) refuse(value, fmt::format("{} must be a table, but is {}", key, value.kind()));
  return *value.table();
}

// "2026-11-15T18:00:00Z", with a fraction or without.
bool is_utc_time(std::string_view text) {
  constexpr std::string_view k_form = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= k_form.size() || text.size() > 30 || !text.ends_with('Z')) return false;
  for (std::size_t i = 0; i < k_form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (k_form[i] == 'd' ? !digit : text[i] != k_form[i]) return false;
  }
  const std::string_view fraction = text.substr(k_form.size(), text.size() - k_form.size() - 1);
  return fraction.empty() || (fraction.size() > 1 && fraction[0] == '.' && to_number(fraction.substr(1)));
}

std::vector<Control::Rule> read_rules(const Table& table, bool times) {
  std::vector<Control::Rule> rules;
  for (const auto& [pattern, value] : table) {
    if (value.text() == nullptr) refuse(value, fmt::format("{} must be a string, but is {}", pattern, value.kind()));
    if (times && !is_utc_time(*value.text())) refuse(value, "expected a time such as 2026-11-15T18:00:00Z");
    rules.push_back({pattern, *value.text()});
  }
  return rules;
}

void read_project(Control& control, const std::string& name, const Value& value) {
  std::optional<ProjectStatus> status;
  std::string reason;
  for (const auto& [key, member] : table_of(value, name)) {
    if (member.text() == nullptr) refuse(member, fmt::format("{} must be a string, but is {}", key, member.kind()));
    if (key == "status") {
      status = enum_named<ProjectStatus>(*member.text());
      if (!status) refuse(member, "status must be active, archived, quarantined or deprecated");
    } else if (key == "reason") {
      reason = *member.text();
    } else {
      refuse(member, fmt::format("unknown key {}; valid keys are status and reason", key));
    }
  }
  if (!status) refuse(value, fmt::format("project {} has no status", name));
  control.projects[pep::normalized_name(name)] = {*status, reason};
}

}  // namespace

Control Control::parse(std::string_view text) {
  Control control;
  for (const auto& [key, value] : document::parse_toml(text, k_control_file)) {
    const Table& table = table_of(value, key);
    if (key == "yanked") {
      control.yanked = read_rules(table, false);
    } else if (key == "upload-time") {
      control.upload_times = read_rules(table, true);
    } else if (key == "project") {
      for (const auto& [name, status] : table) read_project(control, name, status);
    } else {
      refuse(value, fmt::format("unknown table {}; valid tables are yanked, upload-time and project", key));
    }
  }
  return control;
}

Filter::Filter(const std::vector<std::string>& expressions) : m_expressions(expressions) {
  for (const std::string& expression : expressions) {
    Term term;
    std::string_view text = trim(expression);
    if (text.starts_with('!')) {
      term.exclude = true;
      text = trim(text.substr(1));
    }
    if (text.empty()) throw Error("an empty filter matches nothing");
    if (text.find_first_of("<>=~") != std::string_view::npos) {
      term.requirement = pep::Requirement::parse(text);
    } else {
      term.pattern = text;
    }
    m_terms.push_back(std::move(term));
  }
}

bool Filter::matches(const Term& term, std::string_view file_name, const FileName& parts) {
  if (term.requirement)
    return pep::normalized_name(term.requirement->name) == parts.project &&
           pep::contains(term.requirement->specifiers, parts.parsed);
  return glob_match(term.pattern, file_name) || glob_match(term.pattern, parts.project);
}

bool Filter::takes(std::string_view file_name, const FileName& parts) const {
  bool wanted = true;
  bool any = false;
  for (const Term& term : m_terms) {
    if (term.exclude) {
      if (matches(term, file_name, parts)) return false;
    } else if (!any) {
      any = matches(term, file_name, parts);
      wanted = any;
    }
  }
  return wanted;
}

}  // namespace wheelsmith::index
