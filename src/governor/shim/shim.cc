#include "governor/shim/shim.h"

#include <fmt/format.h>

#include "base/text.h"
#include "governor/server/run_file.h"

namespace wheelsmith::governor {

namespace {

// The entries of a list that do not begin with `prefix`.
std::string without(std::string_view list, char separator, const std::string& prefix) {
  std::string result;
  bool first = true;
  for (const std::string_view part : split(list, separator)) {
    if (part.starts_with(prefix)) continue;
    if (!first) result += separator;
    result += part;
    first = false;
  }
  return result;
}

}  // namespace

std::vector<std::string> environment_below(const std::vector<std::string>& environment, const std::string& shims,
                                           const std::string& extra) {
  constexpr std::string_view k_path = "PATH=";
  constexpr std::string_view k_preload = "LD_PRELOAD=";
  const std::string extra_name = extra.substr(0, extra.find('=') + 1);
  std::vector<std::string> result;
  result.reserve(environment.size() + 1);
  for (const std::string& entry : environment) {
    if (entry.starts_with(extra_name)) continue;
    if (entry.starts_with(k_path)) {
      result.push_back(std::string(k_path) + without(std::string_view(entry).substr(k_path.size()), ':', shims + "/"));
    } else if (entry.starts_with(k_preload)) {
      const std::string left = without(std::string_view(entry).substr(k_preload.size()), ':', shims + "/");
      if (!left.empty()) result.push_back(std::string(k_preload) + left);
    } else {
      result.push_back(entry);
    }
  }
  result.push_back(extra);
  return result;
}

std::string note_of_real(const std::string& shims, std::string_view called) {
  const std::string name(base_name(called));
  const std::string prefix = shims + "/";
  if (called.starts_with(prefix)) {
    const std::vector<std::string_view> parts = split(called.substr(prefix.size()), '/');
    if (parts.size() == 3 && parts[1] == "bin") return fmt::format("{}real/{}/{}", prefix, parts[0], name);
  }
  return fmt::format("{}real/{}", prefix, name);
}

}  // namespace wheelsmith::governor
