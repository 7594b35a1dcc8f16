#include "wheel/check/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_findings = 50;

Finding unsafe_path(const std::string& name) {
  return {"member-unsafe-path",
          Severity::error,
          name,
          "the name points outside the installation folder",
          "an installer that trusts it overwrites system files",
          "do not install this wheel; rebuild it with relative names only"};
}

Finding case_collision(const std::string& name, const std::string& other) {
  return {"member-case-collision",
          Severity::error,
          name,
          fmt::format("differs from {} only in upper and lower case", other),
          "on case-insensitive file systems one overwrites the other",
          "rename one of them"};
}

}  // namespace

bool is_unsafe_path(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.front() == '\\') return true;
  if (name.size() >= 2 && name[1] == ':') return true;
  while (!name.empty()) {
    const std::size_t end = name.find_first_of("/\\");
    if (name.substr(0, end) == "..") return true;
    name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
  }
  return false;
}

std::vector<Finding> check_member_names(const std::vector<std::string>& names) {
  std::vector<Finding> findings;
  std::map<std::string, std::string> seen;  // lower case -> as written
  // In one order, whatever the order of members: which one of two collides must not depend on it, because operations on
  // finished wheels sort members and compare their findings with those of the input.
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  for (const std::string& name : sorted) {
    if (findings.size() >= k_most_findings) break;
    if (is_unsafe_path(name)) findings.push_back(unsafe_path(name));
    const auto [place, is_new] = seen.emplace(to_lower(name), name);
    if (!is_new && place->second != name) findings.push_back(case_collision(name, place->second));
  }
  return findings;
}

}  // namespace wheelsmith::wheel
