#include "diagnose/remedy.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace wheelsmith::diagnose {

namespace {

constexpr std::size_t k_longest_value = 300;

const std::string* look_up(std::string_view name, const std::vector<const Values*>& known) {
  for (const Values* values : known) {
    const auto found = values->find(std::string(name));
    if (found != values->end() && !found->second.empty()) return &found->second;
  }
  return nullptr;
}

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

// All of "compute_80", "sm_90a" in a text: "80", "90a", by number.
std::vector<std::string> named_archs(std::string_view text) {
  std::set<std::pair<std::uint64_t, std::string>> found;
  for (const std::string_view prefix : {"compute_", "sm_"}) {
    for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at + 1)) {
      const std::string_view rest = text.substr(at + prefix.size(), 5);
      std::size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
      if (length < 2 || length > 3) continue;
      const std::uint64_t number = to_number(rest.substr(0, length)).value_or(0);
      if (length < rest.size() && (rest[length] == 'a' || rest[length] == 'f')) ++length;
      found.emplace(number, rest.substr(0, length));
    }
  }
  std::vector<std::string> result;
  for (const auto& [number, name] : found) result.push_back(name);
  return result;
}

// "9.0a;12.0" of "90a" and "120".
std::string dotted(const std::vector<std::string>& archs) {
  std::vector<std::string> parts;
  for (const std::string& arch : archs) {
    const std::size_t digits = std::min(arch.find_first_not_of("0123456789"), arch.size());
    parts.push_back(arch.substr(0, digits - 1) + "." + arch.substr(digits - 1));
  }
  return join(parts, ";");
}

}  // namespace

std::optional<std::string> filled_in(std::string_view text, const std::vector<const Values*>& known) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == text.npos ? text.npos : text.find('}', open);
    if (close == text.npos) {
      result += text.substr(at);
      break;
    }
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::size_t bar = inside.find('|');
    const std::string_view name = inside.substr(0, bar);
    result += text.substr(at, open - at);
    at = close + 1;
    if (!is_name(name)) {  // a brace of a shell's or of JSON
      result += text.substr(open, close + 1 - open);
      continue;
    }
    const std::string* value = look_up(name, known);
    if (value == nullptr && bar == inside.npos) return std::nullopt;
    result += value != nullptr ? printable(std::string_view(*value).substr(0, k_longest_value))
                               : std::string(inside.substr(bar + 1));
  }
  return result;
}

Values arch_values(std::string_view command, std::string_view refused, const std::vector<std::string>& known) {
  Values result;
  std::vector<std::string> archs = named_archs(command);
  if (archs.empty()) return result;
  result["archs"] = dotted(archs);
  const std::vector<std::string> out = named_archs(refused);
  if (known.empty() && out.empty()) return result;
  const auto has = [](const std::vector<std::string>& list, const std::string& arch) {
    return std::find(list.begin(), list.end(), arch) != list.end();
  };
  std::erase_if(archs,
                [&](const std::string& arch) { return has(out, arch) || (!known.empty() && !has(known, arch)); });
  if (!archs.empty()) result["archs.known"] = dotted(archs);
  return result;
}

}  // namespace wheelsmith::diagnose
