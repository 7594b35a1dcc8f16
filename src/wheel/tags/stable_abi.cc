#include "wheel/tags/stable_abi.h"

#include <string>
#include <unordered_map>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace data {
extern const std::string_view stable_abi_txt;
}  // namespace data

namespace {

const std::unordered_map<std::string_view, unsigned>& stable_names() {
  static const std::unordered_map<std::string_view, unsigned> names = [] {
    std::unordered_map<std::string_view, unsigned> result;
    for (const std::string_view line : lines(data::stable_abi_txt)) {
      if (line.starts_with('#')) continue;
      const std::size_t blank = line.find(' ');
      const std::uint64_t minor = blank == line.npos ? 0 : to_number(line.substr(blank + 1)).value_or(0);
      result.emplace(line.substr(0, blank), static_cast<unsigned>(minor));
    }
    return result;
  }();
  return names;
}

}  // namespace

bool is_python_symbol(std::string_view name) {
  if (name.starts_with('_')) name.remove_prefix(1);
  if (!name.starts_with("Py") || name.size() < 3) return false;
  return name[2] == '_' || (name[2] >= 'A' && name[2] <= 'Z');
}

std::optional<unsigned> stable_since(std::string_view name) {
  const auto found = stable_names().find(name);
  if (found == stable_names().end()) return std::nullopt;
  return found->second;
}

}  // namespace wheelsmith::wheel
