#include "env/entry_points.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/project/project_page.h"

namespace wheelsmith::env {

namespace {

constexpr std::size_t k_longest_shebang = 127;  // Linux before 5.1 silently truncates longer lines
constexpr std::size_t k_most_entry_points = 10'000;

bool is_identifier(std::string_view word) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  return !word.empty() && std::ranges::all_of(word, fits) && !(word[0] >= '0' && word[0] <= '9');
}

bool is_dotted_name(std::string_view text) {
  const auto parts = split(text, '.');
  return is_valid_utf8(text) && std::ranges::all_of(parts, is_identifier);
}

EntryPoint parse_line(std::string_view line) {
  const std::size_t equals = line.find('=');
  const auto refuse = [&]() -> Error {
    return Error(
        fmt::format("\"{}\" is not a valid entry point (name = module:function)", printable(line.substr(0, 200))));
  };
  if (equals == std::string_view::npos) throw refuse();
  std::string_view target = line.substr(equals + 1);
  target = trim(target.substr(0, target.find('[')));  // extras only matter for resolving
  const std::size_t colon = target.find(':');
  if (colon == std::string_view::npos) throw refuse();
  EntryPoint point{std::string(trim(line.substr(0, equals))), std::string(trim(target.substr(0, colon))),
                   std::string(trim(target.substr(colon + 1)))};
  if (!pep::is_safe_file_name(point.name) || !is_dotted_name(point.module) || !is_dotted_name(point.function)) {
    throw refuse();
  }
  return point;
}

}  // namespace

std::vector<EntryPoint> parse_entry_points(std::string_view text) {
  std::vector<EntryPoint> points;
  bool wanted = false;
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      wanted = line == "[console_scripts]" || line == "[gui_scripts]";
      continue;
    }
    if (!wanted) continue;
    if (points.size() == k_most_entry_points) throw Error("has more than 10000 entry points");
    points.push_back(parse_line(line));
  }
  std::ranges::sort(points, {}, &EntryPoint::name);
  const auto twice = std::ranges::adjacent_find(points, {}, &EntryPoint::name);
  if (twice != points.end()) throw Error(fmt::format("has the entry point {} twice", twice->name));
  return points;
}

std::string shebang(const std::filesystem::path& python) {
  const std::string& path = python.native();
  if (path.find_first_of("\n\r") != std::string::npos) {
    throw Error(fmt::format("scripts cannot start \"{}\": its path contains a line break", printable(path)));
  }
  if (path.size() + 2 <= k_longest_shebang && path.find_first_of(" \t\"'\\") == std::string::npos) {
    return "#!" + path + "\n";
  }
  if (path.find_first_of("\"'\\$`") != std::string::npos) {
    throw Error(fmt::format("scripts cannot start \"{}\": its path contains quotes", printable(path)));
  }
  return "#!/bin/sh\n'''exec' \"" + path + "\" \"$0\" \"$@\"\n' '''\n";
}

std::string entry_point_script(const EntryPoint& point, const std::filesystem::path& python) {
  const std::string root = point.function.substr(0, point.function.find('.'));
  return shebang(python) + fmt::format(
                               "import sys\n\nfrom {} import {}\n\nif __name__ == \"__main__\":\n"
                               "    sys.exit({}())\n",
                               point.module, root, point.function);
}

std::string rewritten_script(std::string_view script, const std::filesystem::path& python) {
  if (!script.starts_with("#!python")) return std::string(script);
  const std::size_t end = std::min(script.find('\n'), script.size());
  std::string_view arguments = trim(script.substr(8, end - 8));
  if (arguments.starts_with('w')) arguments = trim(arguments.substr(1));
  std::string first = shebang(python);
  // "#!python -E" keeps its argument where the kernel can pass it on.
  if (!arguments.empty() && first.starts_with("#!/bin/sh") == false) {
    first.insert(first.size() - 1, " " + std::string(arguments));
  }
  return first + std::string(script.substr(std::min(end + 1, script.size())));
}

}  // namespace wheelsmith::env
