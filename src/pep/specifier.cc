// Version specifiers by PEP 440.
//
// Each operator is a range in version order, with exceptions for what users mean:
//
//   ==1.2.*  all of the series: from 1.2.dev0 up to, but not with, 1.3.dev0; "1.2" and "1.20" are different numbers
//   ~=1.2.3  >=1.2.3 inside ==1.2.*
//   <1.2     not the pre-releases of 1.2 either, unless a pre-release is named
//   >1.2     not 1.2.post1 and not 1.2+local, unless a post-release is named
//   ==1.2    1.2+local as well; only "==" and "!=" may name a local part, and then it counts
//
// Older installers accepted ".*" after other parts; current ones reject it, and so does this parser.

#include <algorithm>
#include <array>
#include <string>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

// Longest first, so that "===" is not read as "==".
constexpr std::array<std::string_view, 8> k_operators = {"===", "==", "~=", "!=", "<=", ">=", "<", ">"};

bool is_wildcard(std::string_view version) { return version.ends_with(".*"); }

bool in_series(const Version& candidate, const Version& series) {
  if (candidate.epoch != series.epoch) return false;
  for (std::size_t i = 0; i < series.release.size(); ++i) {
    if ((i < candidate.release.size() ? candidate.release[i] : 0) != series.release[i]) return false;
  }
  return true;
}

bool equals(const Version& candidate, std::string_view text) {
  if (is_wildcard(text)) return in_series(candidate, Version::parse(text.substr(0, text.size() - 2)));
  const Version wanted = Version::parse(text);
  return wanted.local.empty() ? candidate.public_version() == wanted : candidate == wanted;
}

bool less(const Version& candidate, Version bound) {
  if (!bound.is_prerelease()) bound.dev = 0;
  return candidate < bound;
}

bool greater(const Version& candidate, const Version& bound) {
  if (candidate.public_version() <= bound) return false;
  if (!candidate.is_postrelease() || bound.is_postrelease() || bound.dev) return true;
  Version without_post = candidate.base_version();
  without_post.pre = candidate.pre;
  return without_post != bound;
}

bool compatible(const Version& candidate, const Version& bound) {
  Version series = bound.base_version();
  if (!series.release.empty()) series.release.pop_back();
  return candidate.public_version() >= bound && in_series(candidate, series);
}

}  // namespace

bool Specifier::contains(const Version& candidate) const {
  if (op == "===") return to_lower(candidate.to_string()) == to_lower(version);
  if (op == "==") return equals(candidate, version);
  if (op == "!=") return !equals(candidate, version);
  const Version bound = Version::parse(version);
  if (op == "<") return less(candidate, bound);
  if (op == ">") return greater(candidate, bound);
  if (op == "<=") return candidate.public_version() <= bound;
  if (op == ">=") return candidate.public_version() >= bound;
  if (op == "~=") return compatible(candidate, bound);
  throw Error(quoted_text(op) + " is not a version comparison");
}

std::optional<std::string> specifier_problem(std::string_view op, std::string_view version) {
  if (std::find(k_operators.begin(), k_operators.end(), op) == k_operators.end()) {
    return quoted_text(op) + " is not a version comparison";
  }
  if (version.empty()) return "a version is missing after \"" + std::string(op) + '"';
  if (op == "===") return std::nullopt;
  const bool equality = op == "==" || op == "!=";
  const bool wildcard = is_wildcard(version);
  if (wildcard && !equality) return "\".*\" may only be used with \"==\" and \"!=\"";
  const std::optional<Version> parsed = Version::try_parse(wildcard ? version.substr(0, version.size() - 2) : version);
  if (!parsed) return quoted_text(version) + " is not a valid version";
  if (wildcard && (parsed->is_prerelease() || parsed->is_postrelease() || !parsed->local.empty())) {
    return "\".*\" may only follow release numbers";
  }
  if (!equality && !parsed->local.empty()) return "a local version may only be used with \"==\" and \"!=\"";
  if (op == "~=" && parsed->release.size() < 2) return "\"~=\" needs at least two release numbers";
  return std::nullopt;
}

std::vector<Specifier> take_specifiers(Scanner& scanner) {
  constexpr auto in_version = [](char c) { return !is_blank(c) && c != ',' && c != ';' && c != ')'; };
  std::vector<Specifier> specifiers;
  do {
    scanner.skip_blanks();
    const auto op =
        std::find_if(k_operators.begin(), k_operators.end(), [&](auto word) { return scanner.accept(word); });
    if (op == k_operators.end()) {
      // All installers accept a comma after the last specifier.
      if (!specifiers.empty()) return specifiers;
      scanner.fail("expected a comparison such as \">=\"");
    }
    scanner.skip_blanks();
    const std::size_t begin = scanner.at();
    const std::string_view version = scanner.take_while(in_version);
    if (const auto problem = specifier_problem(*op, version)) scanner.fail(*problem, begin);
    specifiers.push_back({std::string(*op), std::string(version)});
    scanner.skip_blanks();
  } while (scanner.accept(','));
  return specifiers;
}

std::vector<Specifier> parse_specifiers(std::string_view text) {
  Scanner scanner(trim(text), "set of version specifiers");
  if (scanner.done()) return {};
  std::vector<Specifier> specifiers = take_specifiers(scanner);
  if (!scanner.done()) scanner.fail("expected the end");
  return specifiers;
}

std::optional<std::vector<Specifier>> try_parse_specifiers(std::string_view text) {
  return if_valid([&] { return parse_specifiers(text); });
}

bool contains(const std::vector<Specifier>& specifiers, const Version& version) {
  return std::all_of(specifiers.begin(), specifiers.end(), [&](const Specifier& s) { return s.contains(version); });
}

}  // namespace wheelsmith::pep
