// "manylinux_2_17_x86_64.manylinux2014_x86_64" is for programs; users want the system, the architecture and the minimum
// version. Of several tags for one system and architecture only the most compatible one is shown.

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "index/pages/page_parts.h"

namespace wheelsmith::index {

namespace {

struct PlatformWords {
  std::string system;   // "Linux x86_64"
  std::string library;  // "glibc"
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
};

// "2_28_x86_64" -> 2, 28, "x86_64".
bool take_version(std::string_view& rest, PlatformWords& words) {
  const std::size_t first = rest.find('_');
  const std::size_t second = first == std::string_view::npos ? first : rest.find('_', first + 1);
  if (second == std::string_view::npos) return false;
  const auto major = to_number(rest.substr(0, first));
  const auto minor = to_number(rest.substr(first + 1, second - first - 1));
  if (!major || !minor) return false;
  words.major = *major;
  words.minor = *minor;
  rest.remove_prefix(second + 1);
  return true;
}

PlatformWords words_of(std::string_view tag) {
  struct Form {
    std::string_view prefix, system, library;
    std::uint64_t minor;  // of glibc 2, where the name implies a version
  };
  static constexpr Form k_forms[] = {{"manylinux_", "Linux ", "glibc", 0},
                                     {"musllinux_", "Linux ", "musl", 0},
                                     {"macosx_", "macOS ", "", 0},
                                     {"manylinux1_", "Linux ", "glibc", 5},
                                     {"manylinux2010_", "Linux ", "glibc", 12},
                                     {"manylinux2014_", "Linux ", "glibc", 17}};
  PlatformWords words;
  for (const Form& form : k_forms) {
    if (!tag.starts_with(form.prefix)) continue;
    std::string_view rest = tag.substr(form.prefix.size());
    words.library = form.library;
    if (form.minor != 0) {
      words.major = 2;
      words.minor = form.minor;
    } else if (!take_version(rest, words)) {
      break;
    }
    words.system = std::string(form.system) + std::string(rest);
    return words;
  }
  words = {};
  if (tag.starts_with("linux_")) words.system = "Linux " + std::string(tag.substr(6));
  if (tag.starts_with("win_")) words.system = "Windows " + std::string(tag.substr(4));
  if (tag == "win32") words.system = "Windows x86";
  if (words.system.empty()) words.system = tag;
  return words;
}

}  // namespace

std::vector<std::string> platform_words(std::string_view tags) {
  std::map<std::pair<std::string, std::string>, PlatformWords> best;
  std::vector<std::pair<std::string, std::string>> order;
  for (const std::string_view tag : split(tags, '.')) {
    PlatformWords words = words_of(tag);
    const auto [place, fresh] = best.try_emplace({words.system, words.library}, words);
    if (fresh) order.push_back(place->first);
    if (std::tie(words.major, words.minor) < std::tie(place->second.major, place->second.minor)) place->second = words;
  }
  std::vector<std::string> result;
  for (const auto& key : order) {
    const PlatformWords& words = best.at(key);
    std::string text = words.system;
    if (words.major != 0)
      text += fmt::format(", {}{}≥ {}.{}", words.library, words.library.empty() ? "" : " ", words.major, words.minor);
    result.push_back(std::move(text));
  }
  return result;
}

}  // namespace wheelsmith::index
