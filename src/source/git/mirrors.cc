#include "source/git/mirrors.h"

// A mirror replaces everything below a prefix. Different users write repository names with and without ".git" (and so
// does the same project in different files), so both count as one name here. git itself only replaces plain prefixes:
// for a build, the repositories of a folder whose names differ are listed one by one.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "pep/project/project_page.h"
#include "sys/file.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_git = ".git";
constexpr int k_deepest_name = 3;  // host/owner/name
constexpr std::size_t k_most_names = 2000;

std::string without_slashes(std::string text) {
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string without_git(std::string_view text) {
  if (text.ends_with(k_git) && text.size() > k_git.size() && text[text.size() - k_git.size() - 1] != '/')
    text.remove_suffix(k_git.size());
  return std::string(text);
}

bool has_scheme(std::string_view text) {
  const std::size_t mark = text.find("://");
  return mark != std::string_view::npos && mark < text.find('/');
}

// "git@host:a/b", git's short form of ssh.
bool is_short_ssh(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon > 0 && colon < text.find('/') && !has_scheme(text);
}

fs::path folder_of(std::string text) {
  if (to_lower(text.substr(0, 7)) == "file://") text = pep::percent_decoded(text.substr(7));
  if (text == "~" || text.starts_with("~/")) {
    if (const char* home = std::getenv("HOME")) text = home + text.substr(1);
  }
  return fs::absolute(text).lexically_normal();
}

// Bare, or with files beside it (.git may be a file that names another folder).
bool is_repository(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path / ".git", ignored)) return true;
  return fs::exists(path / "HEAD", ignored) && fs::is_directory(path / "objects", ignored);
}

void list_repositories(const fs::path& folder, const std::string& name, int depth, std::vector<std::string>& found) {
  std::error_code failed;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder / name, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& inner : names) {
    if (found.size() >= k_most_names) return;
    const std::string below = name.empty() ? inner : name + "/" + inner;
    if (is_repository(folder / below))
      found.push_back(below);
    else if (depth > 1)
      list_repositories(folder, below, depth - 1, found);
  }
}

}  // namespace

std::string repository_name(std::string_view url) {
  return without_git(without_slashes(fetch::without_credentials(url)));
}

std::filesystem::path local_folder(const std::string& url) { return folder_of(url); }

bool is_local(std::string_view url) {
  if (to_lower(url.substr(0, 5)) == "file:") return true;
  return !has_scheme(url) && !is_short_ssh(url) && url.find("::") == std::string_view::npos;
}

// Unencrypted only where the user wrote it so.
std::string MirrorAddress::protocols() const {
  if (local) return "file";
  return !prefix.empty() && to_lower(address.substr(0, 5)) == "http:" ? "http:https:ssh" : "https:ssh";
}

Mirrors::Mirrors(const std::map<std::string, std::string>& map) {
  for (const auto& [from, to] : map) {
    if (from.empty() || to.empty())
      throw Error(fmt::format("[mirrors]: \"{}\" = \"{}\" is not valid; expected a URL prefix and a URL or folder",
                              printable(from), printable(fetch::without_credentials(to))));
    const bool folder = is_local(to);
    Mirror mirror{without_slashes(fetch::without_credentials(from)), folder ? folder_of(to).string() : to, folder};
    mirror.to = without_slashes(mirror.to);
    if (!mirror.prefix.empty() && !mirror.to.empty()) m_mirrors.push_back(std::move(mirror));
  }
  std::stable_sort(m_mirrors.begin(), m_mirrors.end(), [](const Mirror& a, const Mirror& b) {
    return without_git(a.prefix).size() > without_git(b.prefix).size();
  });
}

const Mirrors::Mirror* Mirrors::mirror_of(const std::string& url) const {
  const std::string plain = repository_name(url);  // a password belongs to the original
  for (const Mirror& mirror : m_mirrors) {
    if (plain == without_git(mirror.prefix)) return &mirror;
    const std::string& prefix = mirror.prefix;
    if (!plain.starts_with(prefix)) continue;
    // "https://a/b" matches "https://a/b/c", not "https://a/bc" or "https://a.evil".
    if (plain[prefix.size()] == '/' || prefix.ends_with(':')) return &mirror;
  }
  return nullptr;
}

MirrorAddress Mirrors::place(const std::string& url) const {
  const Mirror* mirror = mirror_of(url);
  if (mirror == nullptr) {
    if (is_local(url) && to_lower(url.substr(0, 5)) != "file:") return {folder_of(url).string(), "", true};
    return {url, "", is_local(url)};
  }
  const std::string plain = repository_name(url);
  const bool itself = plain == without_git(mirror->prefix);
  if (!mirror->folder) {
    // As written, except for the prefix.
    const std::string rest = itself ? "" : fetch::without_credentials(url).substr(mirror->prefix.size());
    return {mirror->to + (rest.empty() || rest.starts_with('/') ? "" : "/") + rest, mirror->prefix, false};
  }
  std::string rest = itself ? "" : pep::percent_decoded(plain.substr(mirror->prefix.size()));
  while (rest.starts_with('/')) rest.erase(0, 1);
  const bool climbs = ("/" + rest + "/").find("/../") != std::string::npos || rest.find('\0') != std::string::npos;
  const fs::path base = rest.empty() ? fs::path(mirror->to) : fs::path(mirror->to) / rest;
  const fs::path shapes[] = {base.string() + ".git", base, without_git(base.string())};
  for (const fs::path& shape : shapes) {
    if (!climbs && is_repository(shape)) return {shape.string(), mirror->prefix, true};
  }
  throw Error(fmt::format("{}: the mirror for {} has no repository {}.git or {}",
                          printable(fetch::without_credentials(url)),
                          printable(fetch::without_credentials(mirror->prefix)), printable(base.string()),
                          printable(base.filename().string())));
}

bool Mirrors::has_folders() const {
  return std::any_of(m_mirrors.begin(), m_mirrors.end(), [](const Mirror& mirror) { return mirror.folder; });
}

sys::Environment Mirrors::git_variables() const {
  std::vector<std::pair<std::string, std::string>> settings;
  const auto instead = [&](const std::string& to, const std::string& from) {
    settings.emplace_back("url." + to + ".insteadOf", from);
  };
  for (const Mirror& mirror : m_mirrors) {
    // A password is for our own fetches, not for the package being built.
    if (!mirror.folder && fetch::without_credentials(mirror.to) != mirror.to) continue;
    const bool itself = mirror.folder ? is_repository(mirror.to) || is_repository(mirror.to + ".git")
                                      : mirror.prefix.ends_with(k_git) || mirror.to.ends_with(k_git);
    if (itself) {
      const bool suffixed = mirror.folder && !is_repository(mirror.to);
      const std::string to = suffixed ? mirror.to + ".git" : mirror.to;
      instead(to, without_git(mirror.prefix) + ".git");
      instead(to, without_git(mirror.prefix));
      continue;
    }
    const std::string border = mirror.prefix.ends_with(':') ? "" : "/";
    instead(mirror.to + "/", mirror.prefix + border);
    if (!mirror.folder) continue;
    std::vector<std::string> names;
    list_repositories(mirror.to, "", k_deepest_name, names);
    for (const std::string& name : names) {
      // git finds NAME.git for NAME, not vice versa.
      if (!name.ends_with(k_git)) instead(mirror.to + "/" + name, mirror.prefix + border + name + ".git");
    }
  }
  if (has_folders()) {
    settings.emplace_back("protocol.file.allow", "always");
    settings.emplace_back("safe.directory", "*");
  }
  sys::Environment variables;
  if (settings.empty()) return variables;
  variables["GIT_CONFIG_COUNT"] = std::to_string(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    variables[fmt::format("GIT_CONFIG_KEY_{}", i)] = settings[i].first;
    variables[fmt::format("GIT_CONFIG_VALUE_{}", i)] = settings[i].second;
  }
  return variables;
}

}  // namespace wheelsmith::source
