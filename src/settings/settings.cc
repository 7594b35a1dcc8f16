#include "settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/text.h"
#include "settings/project_file.h"
#include "sys/files.h"

namespace wheelsmith::settings {

namespace {

std::string without_exponent(double number) {
  std::string text = fmt::format("{:.12f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text += '0';
  return text;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const Option& option : all_options()) names.push_back(option.name);
  return names;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? "; did you mean " + *near + "?" : "";
}

void check_choice(const Option& option, const std::string& text) {
  if (option.choices.empty() || std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end())
    return;
  throw Error(fmt::format("{} {}: must be one of {}{}", option.name, printable(text), join(option.choices, ", "),
                          did_you_mean(text, option.choices)));
}

constexpr std::uint64_t k_largest_count = 1'000'000;

void check_form(const Option& option, const std::string& text) {
  check_choice(option, text);
  if (text.empty()) return;  // an empty value means unset
  const auto refuse = [&](std::string_view wanted) {
    throw Error(fmt::format("{} {}: must be {}", option.name, printable(text), wanted));
  };
  switch (option.form) {
    case Form::any: return;
    case Form::size:
      if (parse_byte_size(text).value_or(0) == 0) refuse("a size such as 12GB or 1.5GiB");
      return;
    case Form::price:
      if (!read_price(text)) refuse("a number of at most 1,000,000 and perhaps a currency, such as 0.04 EUR");
      return;
    case Form::count:
    case Form::positive: break;
  }
  const auto number = to_number(text);
  const std::uint64_t least = option.form == Form::positive ? 1 : 0;
  if (!number || *number < least || *number > k_largest_count)
    refuse(fmt::format("a whole number from {} to {}", least, k_largest_count));
}

void check_items(const Option& option, const document::Array& items) {
  for (const document::Value& item : items) check_form(option, item.text_or());
}

bool read_flag(const Option& option, const std::string& text) {
  const std::string lower = to_lower(trim(text));
  if (lower == "1" || lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower.empty() || lower == "0" || lower == "false" || lower == "no" || lower == "off") return false;
  throw Error(fmt::format("{} {}: must be true or false", option.name, printable(text)));
}

document::Array read_list(const std::string& text, char separator) {
  document::Array values;
  for (const std::string_view word : split(text, separator)) {
    if (!trim(word).empty()) values.emplace_back(std::string(trim(word)));
  }
  return values;
}

bool is_url(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

// Folder names may contain commas, so only a newline or a comma before a URL separates items.
document::Value read_places(const std::string& text) {
  document::Array places;
  for (std::string_view line : split(text, '\n')) {
    for (std::size_t at = line.find(','); at != line.npos; at = line.find(',', at + 1)) {
      if (!is_url(trim(line.substr(at + 1)))) continue;
      if (!trim(line.substr(0, at)).empty()) places.emplace_back(std::string(trim(line.substr(0, at))));
      line.remove_prefix(at + 1);
      at = 0;
    }
    if (!trim(line).empty()) places.emplace_back(std::string(trim(line)));
  }
  if (places.empty()) return "";
  return places.size() == 1 ? places.front() : document::Value(places);
}

document::Value places_of_file(const Option& option, const document::Value& value, const std::filesystem::path& folder);

document::Table read_table(const Option& option, const std::vector<std::string>& pairs) {
  document::Table table;
  for (const std::string& word : pairs) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos || equals == 0)
      throw Error(fmt::format("{} {}: must be {}", option.name, printable(word), option.argument));
    table[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return table;
}

document::Value from_text(const Option& option, const std::string& text) {
  switch (option.kind) {
    case Kind::flag: return read_flag(option, text);
    case Kind::programs:
    case Kind::list:
    case Kind::texts: {
      document::Array items = read_list(text, option.kind == Kind::texts ? '\n' : ',');
      check_items(option, items);
      return items;
    }
    // Values with commas are on separate lines.
    case Kind::table:
      return read_table(option, document::Value(read_list(text, text.find('\n') == text.npos ? ',' : '\n')).texts());
    case Kind::places: return read_places(text);
    case Kind::text:
    case Kind::program:
    case Kind::folder: break;
  }
  check_form(option, text);
  return text;
}

[[noreturn]] void wrong_kind(const Option& option, const document::Value& value, std::string_view wanted) {
  throw Error(fmt::format("{} must be {}, but is {}", option.name, wanted, value.kind()));
}

std::string scalar_text(const document::Value& value) {
  if (const std::string* text = value.text()) return *text;
  if (const std::int64_t* number = value.integer()) return std::to_string(*number);
  return "";
}

// A name is kept; a path is relative to the file that contains it, not to the current folder.
std::string program_in(const std::filesystem::path& folder, const std::string& text) {
  if (text.find('/') == text.npos || text.starts_with('~')) return text;
  return (folder / text).lexically_normal().string();
}

// Tables in a table become names with dots, lists one item to a line: [slurm.cuda] options = ["-x"] is cuda.options.
void flatten(const Option& option, const std::string& prefix, const document::Value& value, document::Table& texts) {
  for (const auto& [key, item] : *value.table()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (item.table() != nullptr) {
      flatten(option, name, item, texts);
    } else if (item.array() != nullptr) {
      if (item.texts().size() != item.array()->size()) wrong_kind(option, item, "a list of strings");
      texts[name] = join(item.texts(), "\n");
    } else if (item.text() == nullptr && item.integer() == nullptr) {
      wrong_kind(option, item, "a string, a number or a list of strings");
    } else {
      texts[name] = scalar_text(item);
    }
  }
}

// Converts a value of a settings file; integers become texts (jobs = 4), other numbers are rejected (python = 3.11).
document::Value from_file(const Option& option, const document::Value& value, const std::filesystem::path& folder) {
  switch (option.kind) {
    case Kind::flag:
      if (value.boolean() == nullptr) wrong_kind(option, value, "true or false");
      return value;
    case Kind::texts:
    case Kind::programs:
    case Kind::list: {
      document::Array items = value.array() == nullptr ? document::Array{value} : *value.array();
      if (value.text() == nullptr && value.array() == nullptr) wrong_kind(option, value, "a list of strings");
      for (document::Value& item : items) {
        if (item.text() == nullptr) wrong_kind(option, item, "a list of strings");
        if (option.kind == Kind::programs) item = program_in(folder, *item.text());
      }
      check_items(option, items);
      return items;
    }
    case Kind::table: {
      if (value.table() == nullptr) wrong_kind(option, value, "a table");
      document::Table texts;
      if (option.name == "slurm") {
        flatten(option, "", value, texts);
        return texts;
      }
      for (const auto& [key, item] : *value.table()) {
        if (item.boolean() != nullptr)
          texts[key] = *item.boolean() ? "1" : "0";
        else if (item.text() == nullptr && item.integer() == nullptr)
          wrong_kind(option, item, "a table of strings");
        else
          texts[key] = scalar_text(item);
        // A folder is relative to the file that contains it.
        const std::string text = texts[key].text_or();
        if (option.name == "mirrors" && !text.empty() && text.find(':') == text.npos && text[0] != '~')
          texts[key] = (folder / text).lexically_normal().string();
      }
      return texts;
    }
    case Kind::places: return places_of_file(option, value, folder);
    case Kind::text:
    case Kind::program:
    case Kind::folder: break;
  }
  // A version such as 3.10 would lose its zero as a number; a price loses nothing.
  const bool price = option.form == Form::price && value.is_number() && value.integer() == nullptr;
  if (value.text() == nullptr && value.integer() == nullptr && !price)
    wrong_kind(option, value, "a string (in quotes)");
  const std::string text = price ? without_exponent(value.number()) : scalar_text(value);
  check_form(option, text);
  if (option.kind == Kind::text || text.empty()) return text;
  if (option.kind == Kind::program) return program_in(folder, text);
  return (folder / text).lexically_normal().string();
}

document::Value places_of_file(const Option& option, const document::Value& value,
                               const std::filesystem::path& folder) {
  if (value.text() == nullptr && value.array() == nullptr) wrong_kind(option, value, "a string or a list of strings");
  document::Array items = value.array() == nullptr ? document::Array{value} : *value.array();
  for (document::Value& item : items) {
    if (item.text() == nullptr) wrong_kind(option, item, "a list of strings");
    const std::string text = *item.text();
    if (!text.empty() && !is_url(text)) item = (folder / text).lexically_normal().string();
  }
  return items.size() == 1 ? items.front() : document::Value(items);
}

// "3.12", "3.13t", "cp312", "2.9.0+cu130": a version, not a path or program.
bool is_version(std::string_view text) {
  for (const std::string_view tag : {"cp", "pp"}) {
    if (text.starts_with(tag)) text.remove_prefix(tag.size());
  }
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '+'; });
}

bool needs_trust(const Option& option, const document::Value& value) {
  if (option.trust != Trust::not_for_versions) return option.trust == Trust::needed;
  const std::vector<std::string> texts = value.text() == nullptr ? value.texts() : std::vector{*value.text()};
  return !std::all_of(texts.begin(), texts.end(), is_version);
}

}  // namespace

const Option* option_named(std::string_view name) {
  for (const Option& option : all_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::optional<Price> read_price(std::string_view text) {
  constexpr double k_highest_price = 1e6;
  constexpr std::size_t k_longest_currency = 12;
  text = trim(text);
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789."));
  const std::string_view currency = trim(text.substr(digits.size()));
  Price price;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), price.per_core_hour);
  if (problem != std::errc() || end != digits.data() + digits.size() || price.per_core_hour > k_highest_price)
    return std::nullopt;
  // A currency is a name or a sign, shown as it is.
  const bool sign = std::all_of(currency.begin(), currency.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || c == '$' || std::isalpha(static_cast<unsigned char>(c)) != 0;
  });
  if (!sign || currency.size() > k_longest_currency || to_valid_utf8(currency) != currency ||
      printable(currency) != currency)
    return std::nullopt;
  price.currency = std::string(currency);
  return price;
}

std::string_view to_string(Group group) {
  switch (group) {
    case Group::source: return "Source";
    case Group::target: return "Target";
    case Group::toolchain: return "Toolchain";
    case Group::resources: return "Resources";
    case Group::output: return "Output";
    case Group::advanced: break;
  }
  return "Advanced";
}

document::Value read_value(const Option& option, const std::string& text) { return from_text(option, text); }

bool is_table(std::string_view name) {
  const Option* option = option_named(name);
  return option != nullptr && option->kind == Kind::table;
}

std::map<std::string, Held> Settings::defaults() {
  std::map<std::string, Held> result;
  for (const Option& option : all_options()) {
    if (!option.fallback.empty()) result[option.name] = Held{option.fallback, "default"};
  }
  return result;
}

void Settings::put(Level level, const std::string& name, Held held) { m_levels[level][name] = std::move(held); }

void Settings::set_from_command_line(const std::string& name, document::Value value) {
  const Option* option = option_named(name);
  try {
    if (option != nullptr && value.text() != nullptr) value = from_text(*option, *value.text());
    if (option != nullptr && option->kind == Kind::table && value.array() != nullptr)
      value = read_table(*option, value.texts());
  } catch (const Error& error) {  // its message begins with the option's name
    throw Error(std::string("--") + error.what());
  }
  put(command_line, name, {std::move(value), "--" + name});
}

void Settings::read_environment(const sys::Environment& variables) {
  constexpr std::string_view prefix = "WHEELSMITH_";
  for (const auto& [variable, text] : variables) {
    if (!variable.starts_with(prefix) || variable == k_token_variable) continue;
    std::string name = to_lower(variable.substr(prefix.size()));
    std::replace(name.begin(), name.end(), '_', '-');
    const Option* option = option_named(name);
    if (option == nullptr) {
      throw Error(fmt::format("{}: unknown setting {}{}", variable, name, did_you_mean(name, option_names())));
    }
    try {
      put(environment, name, {from_text(*option, text), variable});
    } catch (const Error& error) {
      throw error.in(variable);
    }
  }
}

void Settings::read_text(Level level, const std::filesystem::path& path, std::string_view text) {
  const document::Table file = document::parse_toml(text, path.string());
  for (const auto& [name, value] : file) {
    const std::string place = fmt::format("{}:{}", path.string(), value.line);
    const Option* option = option_named(name);
    if (option == nullptr)
      throw Error(fmt::format("{}: unknown key {}{}", place, printable(name), did_you_mean(name, option_names())));
    if (option->allowed == Allowed::not_in_files)
      throw Error(fmt::format("{}: {} can be given on the command line only", place, name));
    try {
      put(level, name, {from_file(*option, value, path.parent_path()), place});
    } catch (const Error& error) {
      throw error.in(place);
    }
  }
}

void Settings::read_project(const std::filesystem::path& file, std::string_view text) {
  read_text(project, file, text);
  m_project_file = file;
}

void Settings::read_user_file(const sys::Environment& variables) {
  std::error_code ignored;
  const std::filesystem::path folder = user_folder(variables);
  if (folder.empty() || !std::filesystem::is_regular_file(folder / "config.toml", ignored)) return;
  read_text(user, folder / "config.toml", sys::read_file(folder / "config.toml", k_largest_file));
}

std::vector<Settings::RiskyOption> Settings::risky_options() const {
  std::vector<RiskyOption> result;
  for (const auto& [name, held] : m_levels[project]) {
    if (needs_trust(*option_named(name), held.value)) result.push_back({name, held});
  }
  return result;
}

namespace {

// The XDG specification says to ignore relative paths.
std::filesystem::path xdg_folder(const sys::Environment& variables, const char* name, const char* below_home) {
  const auto own = variables.find(name);
  if (own != variables.end() && own->second.starts_with('/')) return std::filesystem::path(own->second) / "wheelsmith";
  const auto home = variables.find("HOME");
  if (home != variables.end() && home->second.starts_with('/'))
    return std::filesystem::path(home->second) / below_home / "wheelsmith";
  return {};
}

}  // namespace

std::filesystem::path user_folder(const sys::Environment& variables) {
  return xdg_folder(variables, "XDG_CONFIG_HOME", ".config");
}

std::filesystem::path state_folder(const sys::Environment& variables) {
  return xdg_folder(variables, "XDG_STATE_HOME", ".local/state");
}

const Held* Settings::find(std::string_view name) const {
  const std::string key(name);
  for (const auto& level : m_levels) {
    if (const auto found = level.find(key); found != level.end()) return &found->second;
  }
  const auto found = m_defaults.find(key);
  return found == m_defaults.end() ? nullptr : &found->second;
}

std::string Settings::text(std::string_view name) const {
  const Held* held = find(name);
  return held == nullptr ? "" : held->value.text_or();
}

std::vector<std::string> Settings::list(std::string_view name) const {
  const Held* held = find(name);
  return held == nullptr ? std::vector<std::string>() : held->value.texts();
}

std::string Settings::folder(std::string_view name) const {
  const Held* held = find(name);
  if (held == nullptr) return "";
  std::string result;
  for (const std::string& place :
       held->value.text() == nullptr ? held->value.texts() : std::vector{*held->value.text()}) {
    if (!is_url(place)) result = place;
  }
  return result;
}

std::vector<std::string> Settings::urls(std::string_view name) const {
  const Held* held = find(name);
  if (held == nullptr) return {};
  std::vector<std::string> result =
      held->value.text() == nullptr ? held->value.texts() : std::vector{*held->value.text()};
  std::erase_if(result, [](const std::string& place) { return !is_url(place); });
  return result;
}

bool Settings::flag(std::string_view name) const {
  const Held* held = find(name);
  return held != nullptr && held->value.boolean_or(false);
}

std::map<std::string, std::string> Settings::table(std::string_view name) const {
  std::map<std::string, std::string> result;
  for (int level = levels - 1; level >= 0; --level) {
    const auto found = m_levels[level].find(std::string(name));
    if (found == m_levels[level].end() || found->second.value.table() == nullptr) continue;
    for (const auto& [key, value] : *found->second.value.table()) result[key] = value.text_or();
  }
  return result;
}

std::map<std::string, Held> Settings::all() const {
  std::map<std::string, Held> result;
  for (const Option& option : all_options()) {
    if (const Held* held = find(option.name)) result[option.name] = *held;
  }
  return result;
}

}  // namespace wheelsmith::settings
