#include "cache/path_map.h"

#include "base/text.h"

namespace wheelsmith::cache {

namespace {

constexpr std::string_view k_option = "-ffile-prefix-map=";
constexpr char k_begin = '\1';
constexpr char k_end = '\2';

bool is_path_end(std::string_view text, std::size_t at) {
  return at >= text.size() || std::string_view("/:,;'\" \t\n)]>").find(text[at]) != std::string_view::npos;
}

}  // namespace

void PathMap::add_from(std::string_view word) {
  for (std::size_t at = word.find(k_option); at != word.npos; at = word.find(k_option, at)) {
    at += k_option.size();
    // In nvcc's lists a comma ends the option. A folder with a comma in its name is then not mapped, and its paths
    // count as they are.
    const std::string_view value = word.substr(at, word.find(',', at) - at);
    const std::size_t equals = value.rfind('=');
    if (equals == value.npos) continue;
    std::string from(value.substr(0, equals));
    while (from.size() > 1 && from.ends_with('/')) from.pop_back();
    if (!from.starts_with('/') || from == "/") continue;
    m_pairs.insert(m_pairs.begin(), {from, std::string(value.substr(equals + 1))});
  }
}

std::string PathMap::known(std::string_view path) const {
  for (const Pair& pair : m_pairs) {
    if (!path.starts_with(pair.from)) continue;
    const std::string_view rest = path.substr(pair.from.size());
    if (!rest.empty() && rest.front() != '/') continue;
    return k_begin + pair.to + k_end + std::string(rest);
  }
  return std::string(path);
}

std::string PathMap::local(std::string_view name) const {
  if (name.empty() || name.front() != k_begin) return std::string(name);
  const std::size_t end = name.find(k_end);
  if (end == name.npos) return "";
  for (const Pair& pair : m_pairs) {
    if (name.substr(1, end - 1) == pair.to) return pair.from + std::string(name.substr(end + 1));
  }
  return "";
}

std::string PathMap::known_text(std::string_view text) const {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Pair* found = nullptr;
    if (text[at] == '/') {
      for (const Pair& pair : m_pairs) {
        if (text.substr(at).starts_with(pair.from) && is_path_end(text, at + pair.from.size())) {
          found = &pair;
          break;
        }
      }
    }
    if (found != nullptr) {
      result += k_begin + found->to + k_end;
      at += found->from.size();
    } else {
      result += text[at++];
    }
  }
  return result;
}

std::string PathMap::local_text(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const std::size_t begin = text.find(k_begin);
    result += text.substr(0, begin);
    if (begin == text.npos) break;
    text.remove_prefix(begin);
    const std::size_t end = text.find(k_end);
    if (end == text.npos) break;
    result += local(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string absolute_path(std::string_view folder, std::string_view path) {
  std::string result = path.starts_with('/') ? std::string() : std::string(folder) + "/";
  result += path;
  // Only "." and double slashes: the meaning of ".." depends on links.
  replace_all(result, "//", "/");
  replace_all(result, "/./", "/");
  return result;
}

}  // namespace wheelsmith::cache
