#include "diagnose/remedy.h"

#include <fmt/format.h>

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

// Which architectures a release of nvcc can compile for: the oldest and the newest.
struct Range {
  double nvcc;
  unsigned oldest, newest;
};
constexpr Range k_ranges[] = {{13.0, 75, 121}, {12.9, 50, 121}, {12.8, 50, 120}, {12.0, 50, 90}, {11.8, 35, 90},
                              {11.4, 35, 87},  {11.1, 35, 86},  {11.0, 35, 80},  {10.0, 30, 75}, {9.0, 30, 70}};

// "9.0a" of "90a", "12.0" of "120".
std::string dotted(std::string_view number) {
  const std::size_t digits = std::min(number.find_first_not_of("0123456789"), number.size());
  return fmt::format("{}.{}", number.substr(0, digits - 1), number.substr(digits - 1));
}

// All of "compute_80", "sm_90a" in a command.
std::set<std::string> named_archs(std::string_view text) {
  std::set<std::string> result;
  for (const std::string_view prefix : {"compute_", "sm_"}) {
    for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at + 1)) {
      const std::string_view rest = text.substr(at + prefix.size(), 5);
      std::size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
      if (length < 2 || length > 3) continue;
      if (length < rest.size() && (rest[length] == 'a' || rest[length] == 'f')) ++length;
      result.insert(dotted(rest.substr(0, length)));
    }
  }
  return result;
}

double version_of(const std::string& text) {
  const std::size_t dot = text.find('.');
  const auto major = to_number(text.substr(0, dot));
  if (!major) return 0;
  std::string_view rest = dot == text.npos ? "" : std::string_view(text).substr(dot + 1);
  rest = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
  const auto minor = to_number(rest);
  return static_cast<double>(*major) + static_cast<double>(minor.value_or(0)) / 10;
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

Values arch_values(std::string_view command, const Values& facts, const Values& groups, const Values& machine) {
  Values result;
  std::set<std::string> asked = named_archs(command);
  if (asked.empty()) return result;
  const auto later = [](const std::string& a, const std::string& b) { return version_of(a) < version_of(b); };
  std::vector<std::string> all(asked.begin(), asked.end());
  std::stable_sort(all.begin(), all.end(), later);
  result["archs"] = join(all, ";");
  double nvcc = 0;
  for (const auto& [values, name] : {std::pair(&facts, "nvcc"), std::pair(&machine, "machine.nvcc")}) {
    if (const auto found = values->find(name); nvcc == 0 && found != values->end()) nvcc = version_of(found->second);
  }
  // The one that the message itself refuses is out, whatever the version.
  std::string refused;
  if (const auto found = groups.find("arch"); found != groups.end()) {
    const std::set<std::string> one = named_archs(found->second);
    if (!one.empty()) refused = *one.begin();
  }
  if (nvcc == 0 && refused.empty()) return result;
  std::vector<std::string> known;
  for (const std::string& arch : all) {
    const auto number = static_cast<unsigned>(version_of(arch) * 10 + 0.5);
    const auto range =
        std::find_if(std::begin(k_ranges), std::end(k_ranges), [&](const Range& r) { return nvcc >= r.nvcc; });
    if (arch == refused || (range != std::end(k_ranges) && (number < range->oldest || number > range->newest)))
      continue;
    known.push_back(arch);
  }
  if (!known.empty()) result["archs.known"] = join(known, ";");
  return result;
}

}  // namespace wheelsmith::diagnose
