// Where pip reads its settings, later ones override earlier ones:
//
//   global   $XDG_CONFIG_DIRS (or /etc/xdg) /pip/pip.conf, /etc/pip.conf
//   user     ~/.pip/pip.conf, $XDG_CONFIG_HOME (or ~/.config) /pip/pip.conf; not read if PIP_CONFIG_FILE exists
//   site     PREFIX/pip.conf of the environment
//   env      the file that PIP_CONFIG_FILE names; /dev/null there means no files at all
//   PIP_*    variables
//
// Across all files, the command's section overrides [global]. Lists are separated by blanks or lines; a later list
// replaces an earlier one. Empty values count as not set.

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "fetch/ini.h"
#include "sys/files.h"

namespace wheelsmith::fetch {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_largest_file = 1 << 20;
constexpr std::array<std::string_view, 3> k_sections{"global", "install", "download"};

using Values = std::map<std::string, std::string>;  // "index-url" -> value

std::string variable(const sys::Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

fs::path home(const sys::Environment& environment) { return variable(environment, "HOME"); }

std::vector<fs::path> config_files(const sys::Environment& environment, const fs::path& site_prefix) {
  const std::string named = variable(environment, "PIP_CONFIG_FILE");
  if (named == "/dev/null") return {};
  std::vector<fs::path> files;
  std::string folders = variable(environment, "XDG_CONFIG_DIRS");
  if (folders.empty()) folders = "/etc/xdg";
  for (const std::string_view folder : split(folders, ':')) {
    if (!folder.empty()) files.push_back(fs::path(folder) / "pip/pip.conf");
  }
  files.emplace_back("/etc/pip.conf");
  std::error_code ignored;
  if (named.empty() || !fs::exists(named, ignored)) {
    const fs::path user_folder = variable(environment, "XDG_CONFIG_HOME");
    if (!home(environment).empty()) files.push_back(home(environment) / ".pip/pip.conf");
    if (!user_folder.empty()) {
      files.push_back(user_folder / "pip/pip.conf");
    } else if (!home(environment).empty()) {
      files.push_back(home(environment) / ".config/pip/pip.conf");
    }
  }
  if (!site_prefix.empty()) files.push_back(site_prefix / "pip.conf");
  if (!named.empty()) files.emplace_back(named);
  return files;
}

std::string normal_key(std::string_view key) {
  std::string result = to_lower(key);
  for (char& c : result) c = c == '_' ? '-' : c;
  return result.starts_with("--") ? result.substr(2) : result;
}

void set(Values& values, std::string_view key, std::string_view value) {
  if (!trim(value).empty()) values[normal_key(key)] = trim(value);
}

Values read_values(const sys::Environment& environment, const fs::path& site_prefix) {
  std::map<std::string, Values, std::less<>> sections;
  for (const fs::path& file : config_files(environment, site_prefix)) {
    const auto text = sys::read_file_if_there(file, k_largest_file);
    if (!text) continue;
    for (const IniEntry& entry : parse_ini(*text, file.string())) set(sections[entry.section], entry.key, entry.value);
  }
  Values values = sections["DEFAULT"];
  for (const std::string_view section : k_sections) {
    for (const auto& [key, value] : sections[std::string(section)]) values[key] = value;
  }
  for (const auto& [name, value] : environment) {
    if (name.starts_with("PIP_")) set(values, std::string_view(name).substr(4), value);
  }
  return values;
}

std::string text_of(const Values& values, const char* key) {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second;
}

std::vector<std::string> list_of(const Values& values, const char* key) {
  std::vector<std::string> result;
  std::string word;
  for (const char c : text_of(values, key) + " ") {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      word += c;
    } else if (!word.empty()) {
      result.push_back(std::move(word));
      word.clear();
    }
  }
  return result;
}

bool flag_of(const Values& values, const char* key) {
  const std::string word = to_lower(text_of(values, key));
  for (const std::string_view yes : {"y", "yes", "t", "true", "on", "1"}) {
    if (word == yes) return true;
  }
  for (const std::string_view no : {"", "n", "no", "f", "false", "off", "0"}) {
    if (word == no) return false;
  }
  throw Error(fmt::format("pip's setting {} is \"{}\"; expected yes or no", key, printable(word)));
}

// Whole numbers; a fraction (pip accepts "15.5" as a timeout) is dropped.
int number_of(const Values& values, const char* key, int fallback) {
  const std::string text = text_of(values, key);
  if (text.empty()) return fallback;
  const auto number = to_number(std::string_view(text).substr(0, text.find('.')));
  if (!number) throw Error(fmt::format("pip's setting {} is \"{}\"; expected a number", key, printable(text)));
  return static_cast<int>(std::min<std::uint64_t>(*number, 86'400));
}

std::string path_of(const Values& values, const char* key, const sys::Environment& environment) {
  const std::string path = text_of(values, key);
  return path.starts_with("~/") ? (home(environment) / path.substr(2)).string() : path;
}

}  // namespace

IndexSettings read_pip_settings(const sys::Environment& environment, const fs::path& site_prefix) {
  const Values values = read_values(environment, site_prefix);
  IndexSettings settings;
  settings.index_url = text_of(values, values.contains("index-url") ? "index-url" : "pypi-url");
  settings.extra_index_urls = list_of(values, "extra-index-url");
  settings.find_links = list_of(values, "find-links");
  for (std::string& link : settings.find_links) {
    if (link.starts_with("~/")) link = (home(environment) / link.substr(2)).string();
  }
  settings.no_index = flag_of(values, "no-index");
  settings.cert = path_of(values, "cert", environment);
  if (settings.cert.empty()) settings.cert = variable(environment, "REQUESTS_CA_BUNDLE");
  settings.client_cert = path_of(values, "client-cert", environment);
  settings.proxy = text_of(values, "proxy");
  settings.trusted_hosts = list_of(values, "trusted-host");
  settings.timeout_seconds = number_of(values, "default-timeout", settings.timeout_seconds);
  settings.timeout_seconds = number_of(values, "timeout", settings.timeout_seconds);
  settings.retries = number_of(values, "retries", settings.retries);
  return settings;
}

}  // namespace wheelsmith::fetch
