#include "source/git/submodules.h"

// .gitmodules is an ordinary file with arbitrary content; only the commit's entry at that path counts. An entry without
// a submodule in the commit was removed, and a submodule without an entry cannot be fetched; git skips both, and so do
// we.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "fetch/fetch.h"

namespace wheelsmith::source {

namespace {

constexpr std::string_view k_section = "submodule.";

bool is_safe(std::string_view text, bool path) {
  if (text.empty() || text.starts_with('/') || text.starts_with('-') || text.ends_with('/')) return false;
  for (const unsigned char c : text) {
    if (c < 0x20 || c == 0x7f || c == '\\') return false;
  }
  for (const std::string_view part : split(text, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
    if (path && to_lower(part) == ".git") return false;
  }
  return true;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

struct Entry {
  std::string path, url;
};

std::map<std::string, Entry> read_entries(std::string_view listing) {
  std::map<std::string, Entry> entries;
  for (const std::string_view record : split(listing, '\0')) {
    const std::size_t end = record.find('\n');
    const std::string_view key = record.substr(0, end);
    const std::size_t dot = key.rfind('.');
    if (end == std::string_view::npos || !key.starts_with(k_section) || dot <= k_section.size()) continue;
    Entry& entry = entries[std::string(key.substr(k_section.size(), dot - k_section.size()))];
    const std::string_view what = key.substr(dot + 1);
    if (what == "path") entry.path = record.substr(end + 1);
    if (what == "url") entry.url = record.substr(end + 1);
  }
  return entries;
}

}  // namespace

std::string submodule_url(const std::string& parent, const std::string& url) {
  if (!url.starts_with("./") && !url.starts_with("../")) return url;
  std::string base = parent;
  while (base.ends_with('/')) base.pop_back();
  const std::size_t scheme = base.find("://");
  // The base that cannot be climbed past: the host, or the root.
  std::size_t least = scheme == std::string::npos ? 0 : std::min(base.find('/', scheme + 3), base.size());
  if (scheme == std::string::npos && !is_local(base)) least = base.find(':') + 1;
  std::string_view rest = url;
  for (;;) {
    if (rest.starts_with("./")) {
      rest.remove_prefix(2);
    } else if (rest.starts_with("../")) {
      rest.remove_prefix(3);
      const std::size_t slash = base.rfind('/');
      if (base.size() <= least) {
        throw Error(fmt::format("the submodule URL {} points outside {}", printable(url),
                                printable(fetch::without_credentials(parent))));
      }
      base.resize(slash == std::string::npos || slash < least ? least : slash);
    } else {
      break;
    }
  }
  const bool joined = base.ends_with(':') || base.ends_with('/');
  return base + (joined ? "" : "/") + std::string(rest);
}

std::vector<Submodule> read_submodules(const GitCommand& git, const std::filesystem::path& repository,
                                       const std::string& url, const std::string& commit) {
  const std::string blob = commit + ":.gitmodules";
  if (!git.run({"cat-file", "-e", blob}, repository).exit.good()) return {};
  const std::string shown = printable(fetch::without_credentials(url));
  const std::string listing =
      git.output({"config", "-z", "--blob", blob, "--list"}, repository, shown + ": cannot read .gitmodules");
  std::vector<Submodule> found;
  std::vector<std::string> tree = {"ls-tree", "-z", "--full-tree", commit, "--"};
  std::map<std::string, Submodule> by_path;
  for (const auto& [name, entry] : read_entries(listing)) {
    if (entry.path.empty() || entry.url.empty()) continue;
    if (!is_safe(name, false) || !is_safe(entry.path, true) || entry.url.starts_with('-'))
      throw Error(fmt::format("{}: its submodule {} at {} has an invalid name, folder or URL", shown, printable(name),
                              printable(entry.path)));
    by_path[entry.path] = {name, entry.path, submodule_url(url, entry.url), ""};
    tree.push_back(entry.path);
  }
  if (by_path.empty()) return {};
  const std::string entries = git.output(tree, repository, shown + ": cannot read the repository");
  for (const std::string_view line : split(entries, '\0')) {
    const std::size_t tab = line.find('\t');
    constexpr std::string_view k_link = "160000 commit ";
    if (tab == std::string_view::npos || !line.starts_with(k_link)) continue;
    const auto entry = by_path.find(std::string(line.substr(tab + 1)));
    if (entry == by_path.end()) continue;
    entry->second.commit = line.substr(k_link.size(), tab - k_link.size());
    // A repository from the network must not read repositories of this machine.
    if (is_local(entry->second.url) && !is_local(url))
      throw Error(fmt::format("{}: its submodule {} refers to {} on this machine", shown, printable(entry->second.path),
                              printable(entry->second.url)));
    found.push_back(entry->second);
  }
  for (const Submodule& one : found) {
    for (const Submodule& other : found) {
      if (is_below(one.name, other.name))
        throw Error(fmt::format("{}: the name of submodule {} places it inside {}", shown, printable(one.name),
                                printable(other.name)));
    }
  }
  return found;
}

WantedFolders::WantedFolders(const std::optional<std::vector<std::string>>& folders) : m_all(!folders) {
  for (std::string folder : folders.value_or(std::vector<std::string>{})) {
    while (folder.ends_with('/')) folder.pop_back();
    if (folder.starts_with("./")) folder.erase(0, 2);
    m_folders.push_back(std::move(folder));
  }
}

bool WantedFolders::takes(const std::string& path) {
  m_seen.push_back(path);
  bool wanted = m_all;
  for (const std::string& folder : m_folders) {
    const bool inside = path == folder || is_below(path, folder);
    if (inside) m_found.insert(folder);
    wanted = wanted || inside || is_below(folder, path);
  }
  return wanted;
}

void WantedFolders::check(bool last) const {
  for (const std::string& folder : m_folders) {
    const bool may_come = !last && std::any_of(m_seen.begin(), m_seen.end(),
                                               [&](const std::string& path) { return is_below(folder, path); });
    if (m_found.contains(folder) || may_come) continue;
    const auto near = nearest(folder, m_seen);
    throw Error(fmt::format("no submodule {} at this ref{}", printable(folder),
                            near             ? "; did you mean " + printable(*near) + "?"
                            : m_seen.empty() ? "; the repository has none"
                                             : ""));
  }
}

}  // namespace wheelsmith::source
