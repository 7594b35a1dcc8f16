#include "toolchain/wanted_python.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::toolchain {

namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw Error(
      fmt::format("'{}' is not a Python version: use a version (3.12, 3.12.1, 3.13t), a tag (cp312, cp313t) or a path",
                  printable(text)));
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

WantedPython WantedPython::parse(std::string_view text) {
  WantedPython wanted;
  std::string_view rest = trim(text);
  if (rest.size() > 64) refuse(text.substr(0, 64));
  const bool tag = take_prefix(rest, "cp") || (rest.starts_with("pp") && (wanted.pypy = take_prefix(rest, "pp")));
  if (!tag && !take_prefix(rest, "python")) wanted.pypy = take_prefix(rest, "pypy");
  if (!rest.empty() && rest.ends_with('t')) {
    wanted.free_threaded = true;
    rest.remove_suffix(1);
  }
  std::string spread(rest);
  if (tag && rest.find('.') == std::string_view::npos && rest.size() > 1) spread.insert(1, ".");
  if (spread.empty() && !tag && !wanted.free_threaded) return wanted;
  for (const std::string_view part : split(spread, '.')) {
    const std::optional<std::uint64_t> number = to_number(part);
    if (!number || *number > 9999) refuse(text);
    wanted.version.push_back(*number);
  }
  if (wanted.version.size() > 3 || wanted.version[0] < 2) refuse(text);
  return wanted;
}

bool WantedPython::fits(const Python& python) const {
  if ((python.implementation == "pypy") != pypy) return false;
  if (!pypy && python.implementation != "cpython") return false;
  // "3.13" means the default build: wheels of the two builds are not interchangeable.
  if (!pypy && python.abi.ends_with('t') != free_threaded) return false;
  const std::vector<std::string_view> parts = split(python.version, '.');
  if (version.size() > parts.size()) return false;
  for (std::size_t i = 0; i < version.size(); ++i) {
    if (to_number(parts[i]) != version[i]) return false;
  }
  return true;
}

std::string WantedPython::words() const {
  std::vector<std::string> parts;
  for (const std::uint64_t number : version) parts.push_back(std::to_string(number));
  return (pypy ? "pypy" : "") + join(parts, ".") + (free_threaded ? "t" : "");
}

std::string WantedPython::name_suffix() const {
  if (version.size() < 2) return version.empty() ? "3" : std::to_string(version[0]);
  return fmt::format("{}.{}{}", version[0], version[1], free_threaded ? "t" : "");
}

std::vector<std::string> WantedPython::names() const {
  const std::string stem = pypy ? "pypy" : "python";
  std::vector<std::string> names;
  if (version.size() >= 2) {
    names.push_back(stem + name_suffix());
    if (free_threaded) names.push_back(fmt::format("{}{}.{}", stem, version[0], version[1]));
  }
  names.push_back(stem + "3");
  names.push_back(stem);
  return names;
}

}  // namespace wheelsmith::toolchain
