// "{archs}" in a recipe is a placeholder for a value that is only known when a step is planned. "{{" and "}}" are
// literal braces; an unmatched "}" stands for itself. Unknown names are errors: shell or CMake code with undoubled
// braces is found when the recipe is read, not after an hour of compiling.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "recipe/recipe.h"
#include "recipe/table_reader.h"
#include "recipe/text_checks.h"

namespace wheelsmith::recipe {
namespace {

// Calls literal(text) and name(text) for the parts, in order. Throws Error for a brace that is not closed.
template <class Literal, class Name>
void walk(std::string_view text, Literal&& literal, Name&& name) {
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find_first_of("{}"), text.size());
    literal(text.substr(0, brace));
    text.remove_prefix(brace);
    if (text.empty()) return;
    if (text.starts_with("{{") || text.starts_with("}}") || text[0] == '}') {
      literal(text.substr(0, 1));
      text.remove_prefix(text.size() > 1 && text[1] == text[0] ? 2 : 1);
      continue;
    }
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos || text.substr(1, close - 1).find('{') != std::string_view::npos) {
      throw Error(fmt::format("{}: unclosed {{; write {{{{ for a literal brace", in_quotes(text)));
    }
    name(text.substr(1, close - 1));
    text.remove_prefix(close + 1);
  }
}

}  // namespace

const std::vector<std::string>& known_placeholders() {
  static const std::vector<std::string> names = {"version",
                                                 "version.public",
                                                 "source",
                                                 "source.commit",
                                                 "source.commit8",
                                                 "source.ref",
                                                 "archs",
                                                 "archs.comma",
                                                 "archs.space",
                                                 "hsa.version",
                                                 "python",
                                                 "python.nodot",
                                                 "tree",
                                                 "env",
                                                 "toolkit",
                                                 "torch.version",
                                                 "torch.cuda",
                                                 "torch.hip",
                                                 "torch.folder",
                                                 "jobs",
                                                 "platform",
                                                 "build-type",
                                                 "variant",
                                                 "target",
                                                 "label",
                                                 "rocm",
                                                 "rocm.version",
                                                 "rocm.minor",
                                                 "rocm.suffix",
                                                 "cuda.version",
                                                 "cc",
                                                 "cxx",
                                                 "platform.machine",
                                                 "rocm.label",
                                                 "torch.public",
                                                 "torch.pin"};
  return names;
}

bool is_library_placeholder(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  constexpr std::array<std::string_view, 4> k_fields = {"root", "include", "lib", "file"};
  return parts.size() == 3 && parts[0] == "library" &&
         std::find(k_fields.begin(), k_fields.end(), parts[2]) != k_fields.end();
}

std::vector<std::string> placeholders(std::string_view text, std::string& problem) {
  std::vector<std::string> names;
  problem = problem_of(
      [&] { walk(text, [](std::string_view) {}, [&](std::string_view name) { names.emplace_back(name); }); });
  return names;
}

std::string expand(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string result;
  const auto add_value = [&](std::string_view name) {
    const auto found = values.find(std::string(name));
    if (found == values.end()) {
      std::vector<std::string> known;
      for (const auto& [key, value] : values) known.push_back(key);
      throw Error(fmt::format("unknown placeholder {{{}}}{}", printable(name.substr(0, 80)), suggestion(name, known)));
    }
    result += found->second;
  };
  walk(text, [&](std::string_view part) { result += part; }, add_value);
  return result;
}

}  // namespace wheelsmith::recipe
