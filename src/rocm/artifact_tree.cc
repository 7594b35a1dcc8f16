// Links are resolved among the entries that are known, never by the operating system.

#include "base/text.h"
#include "rocm/artifacts.h"

namespace wheelsmith::rocm {

namespace {

constexpr int k_most_links = 40;

}  // namespace

Tree::Tree(const Entries& entries) : m_entries(entries) {
  m_folders[""] = true;
  for (const auto& [path, entry] : entries) {
    for (std::size_t slash = path.rfind('/'); slash != path.npos; slash = path.rfind('/', slash - 1)) {
      if (!m_folders.emplace(path.substr(0, slash), true).second || slash == 0) break;
    }
  }
}

Resolved Tree::resolve(const std::string& path) const {
  std::vector<std::string> rest;  // of the path, the next part last
  const auto push = [&](std::string_view text) {
    const std::vector<std::string_view> parts = split(text, '/');
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) rest.emplace_back(*part);
  };
  push(path);
  std::vector<std::string> done;
  for (int links = 0; !rest.empty();) {
    const std::string part = std::move(rest.back());
    rest.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (done.empty()) return {};  // out of the prefix
      done.pop_back();
      continue;
    }
    done.push_back(part);
    const auto found = m_entries.find(join(done, "/"));
    if (found == m_entries.end()) {
      if (!m_folders.contains(join(done, "/"))) return {};
    } else if (found->second.link) {
      if (++links > k_most_links || found->second.link_target.starts_with('/')) return {};
      done.pop_back();
      push(found->second.link_target);
    } else if (!rest.empty()) {
      return {};  // below a file there is nothing
    }
  }
  std::string end = join(done, "/");
  const bool is_file = m_entries.contains(end);
  return {is_file ? Resolved::Kind::file : Resolved::Kind::folder, std::move(end)};
}

}  // namespace wheelsmith::rocm
