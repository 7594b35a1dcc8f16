#include "report/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/secret.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace {

document::Value without_passwords(const document::Value& value) {
  if (const std::string* text = value.text()) return fetch::without_credentials(*text);
  if (const document::Array* items = value.array()) {
    document::Array result;
    for (const document::Value& item : *items) result.push_back(without_passwords(item));
    return result;
  }
  if (const document::Table* table = value.table()) {
    document::Table result;
    for (const auto& [name, item] : *table) {
      result[fetch::without_credentials(name)] =
          names_a_secret(name) ? document::Value(k_hidden_value) : without_passwords(item);
    }
    return result;
  }
  return value;
}

}  // namespace

std::string settings_text(const settings::Settings& settings, const Style& style) {
  struct Row {
    std::string setting, origin;
  };
  constexpr std::size_t k_widest = 60;
  std::vector<Row> rows;
  std::size_t width = 0;
  for (const auto& [name, held] : settings.all()) {
    const std::string value = document::to_json(without_passwords(held.value), -1);
    rows.push_back({printable(name + " = " + value), printable(held.origin)});
    width = std::max(width, std::min(columns(rows.back().setting), k_widest));
  }
  std::string text;
  for (const Row& row : rows) text += pad_right(row.setting, width) + "  " + style.dim(row.origin) + "\n";
  return text;
}

std::string settings_json(const settings::Settings& settings) {
  document::Table listed;
  for (const auto& [name, held] : settings.all()) {
    document::Table item;
    item["value"] = without_passwords(held.value);
    item["origin"] = held.origin;
    listed[name] = std::move(item);
  }
  document::Table document = new_document();
  document["settings"] = std::move(listed);
  return document_text(document);
}

std::string risky_options_text(const std::vector<settings::Settings::RiskyOption>& options) {
  constexpr std::size_t k_longest = 300;
  std::string text;
  for (const auto& [name, held] : options) {
    std::string value = printable(document::to_json(without_passwords(held.value), -1));
    if (value.size() > k_longest) value = to_valid_utf8(value.substr(0, k_longest)) + " …";
    const std::string line = held.origin.substr(held.origin.rfind(':') + 1);
    text += fmt::format("  {} = {}  (line {})\n", name, value, line);
  }
  return text;
}

}  // namespace wheelsmith::report
