// The names of wheels (PEP 427, PEP 425) with the variant label of PEP 825.
//
//   {name}-{version}(-{build})?-{python}-{abi}-{platform}(-{label})?.whl
//
// "-" is the separator, so no part contains it: 5 parts are the plain form, 7 the full one. With 6 the third decides: a
// build number begins with a digit, a Python tag never does. "+" (local version) and "!" (epoch) are not escaped.

#include "pep/wheel_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

constexpr std::size_t k_most_tags = 10000;

[[noreturn]] void refuse(std::string_view file_name, std::string_view why) {
  throw Error(fmt::format("{} is not a valid wheel file name: {}", quoted_text(file_name), why));
}

std::vector<Tag> expand_sets(std::string_view pythons, std::string_view abis, std::string_view platforms) {
  const auto a = split(pythons, '.');
  const auto b = split(abis, '.');
  const auto c = split(platforms, '.');
  // Each count is checked before the product is formed, so that it cannot overflow.
  if (a.size() > k_most_tags || b.size() > k_most_tags || c.size() > k_most_tags ||
      a.size() * b.size() * c.size() > k_most_tags) {
    throw Error(fmt::format("the compressed tag expands to more than {} tags", k_most_tags));
  }
  std::vector<Tag> tags;
  tags.reserve(a.size() * b.size() * c.size());
  for (const std::string_view python : a) {
    for (const std::string_view abi : b) {
      for (const std::string_view platform : c) {
        tags.push_back({std::string(python), std::string(abi), std::string(platform)});
      }
    }
  }
  return tags;
}

void check_parts(const WheelName& name, std::string_view file_name) {
  struct Part {
    std::string_view what, text;
  };
  for (const Part& part : {Part{"name", name.name}, Part{"version", name.version}, Part{"Python tag", name.python},
                           Part{"ABI tag", name.abi}, Part{"platform tag", name.platform}}) {
    if (part.text.empty()) refuse(file_name, fmt::format("its {} is empty", part.what));
  }
  if (is_digit(name.python.front())) {
    refuse(file_name, fmt::format("its Python tag {} begins with a digit (is there a \"-\" in the name or the version? "
                                  "it must be written \"_\")",
                                  quoted_text(name.python)));
  }
}

}  // namespace

Tag Tag::parse(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '-');
  if (parts.size() != 3) {
    throw Error(fmt::format("{} is not a valid compatibility tag: it has {} part{} separated by \"-\" instead of 3",
                            quoted_text(text), parts.size(), parts.size() == 1 ? "" : "s"));
  }
  for (const std::string_view part : parts) {
    if (part.empty())
      throw Error(fmt::format("{} is not a valid compatibility tag: a part is empty", quoted_text(text)));
  }
  return {std::string(parts[0]), std::string(parts[1]), std::string(parts[2])};
}

std::vector<Tag> Tag::expand(std::string_view text) {
  const Tag set = parse(text);
  return expand_sets(set.python, set.abi, set.platform);
}

std::optional<std::vector<Tag>> Tag::try_expand(std::string_view text) {
  return if_valid([&] { return expand(text); });
}

std::string Tag::to_string() const { return python + '-' + abi + '-' + platform; }

WheelName WheelName::parse(std::string_view file_name) {
  if (!file_name.ends_with(".whl")) refuse(file_name, "it does not end in .whl");
  if (file_name.find_first_of(std::string_view("/\\\0", 3)) != std::string_view::npos) {
    refuse(file_name, "it contains a path separator or a NUL");
  }
  const std::vector<std::string_view> parts = split(file_name.substr(0, file_name.size() - 4), '-');
  if (parts.size() < 5 || parts.size() > 7) {
    refuse(file_name, fmt::format("it has {} part{} separated by \"-\" instead of 5, 6 or 7", parts.size(),
                                  parts.size() == 1 ? "" : "s"));
  }
  const bool third_is_build = !parts[2].empty() && is_digit(parts[2].front());
  const bool has_build = parts.size() == 7 || (parts.size() == 6 && third_is_build);
  const bool has_label = parts.size() == 7 || (parts.size() == 6 && !third_is_build);
  const std::size_t tag = has_build ? 3 : 2;

  WheelName name;
  name.name = parts[0];
  name.version = parts[1];
  if (has_build) name.build = parts[2];
  name.python = parts[tag];
  name.abi = parts[tag + 1];
  name.platform = parts[tag + 2];
  if (has_label) name.label = parts.back();

  if (has_build && !third_is_build) {
    refuse(file_name, fmt::format("its build number {} does not begin with a digit", quoted_text(name.build)));
  }
  check_parts(name, file_name);
  if (has_label && name.label.empty()) refuse(file_name, "its variant label is empty");
  return name;
}

std::optional<WheelName> WheelName::try_parse(std::string_view file_name) {
  return if_valid([&] { return parse(file_name); });
}

std::string WheelName::to_string() const {
  std::string text = name + '-' + version;
  if (!build.empty()) text += '-' + build;
  text += '-' + python + '-' + abi + '-' + platform;
  if (!label.empty()) text += '-' + label;
  return text + ".whl";
}

std::vector<Tag> WheelName::tags() const { return expand_sets(python, abi, platform); }

std::vector<std::string> WheelName::platforms() const {
  const std::vector<std::string_view> parts = split(platform, '.');
  return {parts.begin(), parts.end()};
}

std::string normalized_name(std::string_view name) {
  std::string result;
  bool in_run = false;
  for (const char c : to_lower(name)) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (!separator) result += c;
    if (separator && !in_run) result += '-';
    in_run = separator;
  }
  return result;
}

bool same_name(std::string_view a, std::string_view b) { return normalized_name(a) == normalized_name(b); }

std::string escaped_name(std::string_view name) {
  std::string result = normalized_name(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

}  // namespace wheelsmith::pep
