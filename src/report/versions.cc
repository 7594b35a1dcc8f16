#include "report/versions.h"

#include <algorithm>

#include "base/text.h"

namespace wheelsmith::report {

namespace {

bool is_number_list(std::string_view text) {
  if (text.empty()) return false;
  for (const std::string_view part : split(text, '.')) {
    if (!to_number(part)) return false;
  }
  return true;
}

}  // namespace

bool is_lower_version(std::string_view a, std::string_view b) {
  const auto numbers = [](std::string_view text) {
    std::vector<std::uint64_t> result;
    for (const std::string_view part : split(text, '.')) result.push_back(to_number(part).value_or(0));
    return result;
  };
  return numbers(a) < numbers(b);
}

std::map<std::string, std::string> highest_versions(const wheel::ElfFacts& file) {
  std::map<std::string, std::string> result;
  for (const auto& [library, versions] : file.versions_needed) {
    for (const std::string& version : versions) {
      const std::size_t underscore = version.rfind('_');
      if (underscore == std::string::npos || !is_number_list(version.substr(underscore + 1))) continue;
      std::string& highest = result[version.substr(0, underscore)];
      const std::string number = version.substr(underscore + 1);
      if (highest.empty() || is_lower_version(highest, number)) highest = number;
    }
  }
  return result;
}

}  // namespace wheelsmith::report
