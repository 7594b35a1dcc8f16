#include "cache/search.h"

#include <unordered_set>

#include "base/hash.h"
#include "base/text.h"

namespace wheelsmith::cache {

std::shared_ptr<const FileMemo::Names> Glance::names(const std::string& folder) {
  const auto [found, is_new] = m_folders.try_emplace(folder);
  if (is_new) found->second = m_memo.folder(m_view, folder);
  return found->second;
}

bool Glance::has(const std::string& folder, const std::string& name) {
  if (name.starts_with('/') || name.find("..") != name.npos || name.find("//") != name.npos)
    return state(name.starts_with('/') ? name : folder + "/" + name).has_value();
  std::string at = absolute(folder);
  std::string_view rest = name;
  while (rest.starts_with("./")) rest.remove_prefix(2);
  for (;;) {
    const auto known = names(at);
    const std::size_t slash = rest.find('/');
    const std::string part(rest.substr(0, slash));
    if (!known || !known->contains(part)) return false;
    if (slash == rest.npos) return true;
    at += "/" + part;
    rest.remove_prefix(slash + 1);
  }
}

std::vector<std::string> names_below(const std::vector<SearchFolder>& search, const std::vector<std::string>& files) {
  std::unordered_set<std::string> seen;
  std::vector<std::string> result;
  std::unordered_set<std::string> folders;
  for (const SearchFolder& folder : search) {
    std::string prefix = folder.name;
    while (prefix.size() > 1 && prefix.ends_with('/')) prefix.pop_back();
    folders.insert(prefix);
  }
  const auto add = [&](std::string name) {
    if (!name.empty() && seen.insert(name).second) result.push_back(std::move(name));
  };
  for (const std::string& file : files) {
    if (!file.starts_with('/') && folders.contains(".")) add(file.starts_with("./") ? file.substr(2) : file);
    for (std::size_t slash = file.find('/'); slash != file.npos; slash = file.find('/', slash + 1)) {
      if (folders.contains(file.substr(0, slash))) add(file.substr(slash + 1));
    }
  }
  return result;
}

std::string search_state(Glance& glance, const Compile& compile, const std::vector<std::string>& names) {
  Sha256 hash;
  for (const SearchFolder& folder : compile.search) {
    std::string bits(names.size(), '0');
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!glance.has(folder.name, names[i])) continue;
      bits[i] = '1';
      any = true;
    }
    if (!any) continue;
    for (const std::string& part : {folder.kind, compile.map.known(folder.name), bits}) {
      hash.update(std::to_string(part.size()) + " ");
      hash.update(part);
    }
  }
  const Digest digest = hash.finish();
  return {digest.begin(), digest.end()};
}

}  // namespace wheelsmith::cache
