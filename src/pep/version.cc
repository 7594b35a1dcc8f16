// Versions by PEP 440.
//
//   version = ["v"] [N "!"] N ("." N)* [pre] [post] [dev] ["+" local]
//   pre     = [sep] ("a"|"alpha"|"b"|"beta"|"c"|"rc"|"pre"|"preview") [sep] [N]
//   post    = "-" N  |  [sep] ("post"|"rev"|"r") [sep] [N]
//   dev     = [sep] "dev" [sep] [N]
//   local   = alnum+ (sep alnum+)*                    sep = "-" | "_" | "."
//
// Letters of either case, blanks around it. A missing N is 0. A separator behind a word is taken greedily even when no
// number follows ("1.0a-"): the PEP's own expression allows that, and so it can be met.
//
// The order, for one release:  1.dev0 < 1a0.dev0 < 1a0 < 1b0 < 1rc0 < 1 < 1+local < 1.post0.dev0 < 1.post0.
// A version with only a dev part sorts before all pre-releases, which is the one surprise in it.

#include "pep/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

constexpr bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

std::uint64_t take_number(Scanner& scanner) {
  const std::size_t begin = scanner.at();
  const std::string_view digits = scanner.take_while(is_digit);
  if (digits.empty()) scanner.fail("expected a number");
  const std::optional<std::uint64_t> number = to_number(digits);
  if (!number) scanner.fail("a number does not fit into 64 bits", begin);
  return *number;
}

// One of the words, with an optional separator before it; the position stays unchanged if there is none.
template <std::size_t N>
std::string_view take_word(Scanner& scanner, const std::array<std::string_view, N>& longest_first) {
  const std::size_t begin = scanner.at();
  if (is_separator(scanner.peek())) scanner.go_to(begin + 1);
  for (const std::string_view word : longest_first) {
    if (scanner.accept(word)) return word;
  }
  scanner.go_to(begin);
  return {};
}

std::uint64_t take_optional_number(Scanner& scanner) {
  if (is_separator(scanner.peek())) scanner.go_to(scanner.at() + 1);
  return is_digit(scanner.peek()) ? take_number(scanner) : 0;
}

void take_release(Scanner& scanner, Version& version) {
  std::uint64_t first = take_number(scanner);
  if (scanner.accept('!')) {
    version.epoch = first;
    first = take_number(scanner);
  }
  version.release.push_back(first);
  while (scanner.peek() == '.' && is_digit(scanner.peek(1))) {
    scanner.accept('.');
    version.release.push_back(take_number(scanner));
  }
}

void take_suffixes(Scanner& scanner, Version& version) {
  static constexpr std::array<std::string_view, 8> k_pre = {"alpha", "a", "beta", "b", "preview", "pre", "rc", "c"};
  static constexpr std::array<std::string_view, 3> k_post = {"post", "rev", "r"};
  static constexpr std::array<std::string_view, 1> k_dev = {"dev"};
  if (const std::string_view word = take_word(scanner, k_pre); !word.empty()) {
    const char phase = word[0] == 'a' || word[0] == 'b' ? word[0] : 'r';
    version.pre = Version::Pre{phase, take_optional_number(scanner)};
  }
  if (scanner.peek() == '-' && is_digit(scanner.peek(1))) {
    scanner.accept('-');
    version.post = take_number(scanner);
  } else if (!take_word(scanner, k_post).empty()) {
    version.post = take_optional_number(scanner);
  }
  if (!take_word(scanner, k_dev).empty()) version.dev = take_optional_number(scanner);
}

void take_local(Scanner& scanner, Version& version) {
  do {
    std::string_view part = scanner.take_while(is_alnum);
    if (part.empty()) scanner.fail("expected letters or digits in the local version");
    if (std::all_of(part.begin(), part.end(), is_digit)) {
      part.remove_prefix(std::min(part.find_first_not_of('0'), part.size() - 1));
    }
    version.local.emplace_back(part);
  } while (scanner.accept('-') || scanner.accept('_') || scanner.accept('.'));
}

std::strong_ordering compare_text(std::string_view a, std::string_view b) { return a.compare(b) <=> 0; }

std::strong_ordering compare_local_part(const std::string& a, const std::string& b) {
  const auto is_number = [](const std::string& text) { return std::all_of(text.begin(), text.end(), is_digit); };
  const bool a_number = is_number(a);
  if (a_number != is_number(b)) return a_number ? std::strong_ordering::greater : std::strong_ordering::less;
  if (a_number && a.size() != b.size()) return a.size() <=> b.size();
  return compare_text(a, b);
}

std::strong_ordering compare_release(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto order = (i < a.size() ? a[i] : 0) <=> (i < b.size() ? b[i] : 0);
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

// The order of the pre part: a dev release without one, then the phases, then no pre part.
std::pair<int, std::uint64_t> pre_key(const Version& version) {
  if (version.pre) return {version.pre->phase, version.pre->number};
  return {!version.post && version.dev ? 0 : 'z', 0};
}

}  // namespace

Version Version::parse(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  Scanner scanner(lower, "version");
  Version version;
  scanner.accept('v');
  take_release(scanner, version);
  take_suffixes(scanner, version);
  if (scanner.accept('+')) take_local(scanner, version);
  if (!scanner.done()) scanner.fail(fmt::format("unexpected {}", quoted_text(scanner.rest())));
  return version;
}

std::optional<Version> Version::try_parse(std::string_view text) {
  return if_valid([&] { return parse(text); });
}

std::string Version::to_string() const {
  std::string text = epoch != 0 ? fmt::format("{}!", epoch) : "";
  text += fmt::format("{}", fmt::join(release, "."));
  if (pre) text += fmt::format("{}{}", pre->phase == 'r' ? "rc" : std::string(1, pre->phase), pre->number);
  if (post) text += fmt::format(".post{}", *post);
  if (dev) text += fmt::format(".dev{}", *dev);
  if (!local.empty()) text += '+' + join(local, ".");
  return text;
}

Version Version::public_version() const {
  Version version = *this;
  version.local.clear();
  return version;
}

Version Version::base_version() const {
  Version version;
  version.epoch = epoch;
  version.release = release;
  return version;
}

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  if (const auto order = a.epoch <=> b.epoch; order != 0) return order;
  if (const auto order = compare_release(a.release, b.release); order != 0) return order;
  if (const auto order = pre_key(a) <=> pre_key(b); order != 0) return order;
  // No post part sorts before all post parts; no dev part sorts after all dev parts.
  if (const auto order = a.post <=> b.post; order != 0) return order;
  if (a.dev.has_value() != b.dev.has_value()) return b.dev.has_value() <=> a.dev.has_value();
  if (const auto order = a.dev <=> b.dev; order != 0) return order;
  return std::lexicographical_compare_three_way(a.local.begin(), a.local.end(), b.local.begin(), b.local.end(),
                                                compare_local_part);
}

}  // namespace wheelsmith::pep
