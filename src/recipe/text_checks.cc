#include "recipe/text_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "gpu/arch.h"
#include "pep/requirement.h"

namespace wheelsmith::recipe {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

// What the parser of another module says about the text.
template <class Parse>
std::string complaint_of(Parse&& parse) {
  try {
    parse();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t k_longest = 80;
  return fmt::format("\"{}{}\"", printable(text.substr(0, k_longest)), text.size() > k_longest ? "…" : "");
}

std::string check_project_name(const std::string& text) {
  return pep::is_valid_name(text) ? "" : fmt::format("{} is no project name", in_quotes(text));
}

std::string check_specifiers(const std::string& text) {
  return complaint_of([&] { (void)pep::parse_specifiers(text); });
}

std::string check_version_or_specifiers(const std::string& text) {
  if (text.empty() || pep::Version::try_parse(text)) return "";
  return complaint_of([&] { (void)pep::parse_specifiers(text); });
}

std::string check_requirement(const std::string& text) {
  return complaint_of([&] { (void)pep::Requirement::parse(text); });
}

std::string check_variable(const std::string& text) {
  return is_identifier(text) ? "" : fmt::format("{} is no name of a variable", in_quotes(text));
}

std::string check_word(const std::string& text) {
  const auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.'; };
  const bool good = !text.empty() && text.size() <= 64 && (is_letter(text[0]) || is_digit(text[0])) &&
                    std::all_of(text.begin(), text.end(), fits);
  return good ? "" : fmt::format("{} is no name (letters, digits, \"-\", \"_\", \".\")", in_quotes(text));
}

std::string check_module(const std::string& text) {
  const auto parts = split(text, '.');
  const bool good = std::all_of(parts.begin(), parts.end(), is_identifier);
  return good ? "" : fmt::format("{} is no name of a module", in_quotes(text));
}

std::string check_relative_path(const std::string& text) {
  if (text.empty()) return "an empty path";
  if (text[0] == '/' || text[0] == '~') return fmt::format("{} must be a relative path", in_quotes(text));
  for (const std::string_view part : split(text, '/')) {
    if (part == "..") return fmt::format("{} leads out of its folder", in_quotes(text));
  }
  return "";
}

std::string check_glob(const std::string& text) {
  if (text.empty()) return "an empty pattern";
  const std::size_t open = text.rfind('[');
  if (open != std::string::npos && text.find(']', open + 1) == std::string::npos) {
    return fmt::format("{}: a [ without its ]", in_quotes(text));
  }
  return "";
}

std::string check_relative_glob(const std::string& text) {
  const std::string complaint = check_relative_path(text);
  return complaint.empty() ? check_glob(text) : complaint;
}

std::string check_architectures(const std::string& text) {
  return complaint_of([&] { (void)gpu::ArchList::parse(text); });
}

std::string check_git(const std::string& text) {
  if (text.empty()) return "an empty text";
  // "-u…" would be an option, "ext::sh -c …" a program.
  if (text[0] == '-' || text.find("::") != std::string::npos || text.find_first_of(" \t\n\r") != std::string::npos) {
    return fmt::format("{} is nothing to hand to git", in_quotes(text));
  }
  return "";
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  static const std::vector<std::pair<std::string_view, double>> k_units = {{"", 1},
                                                                           {"b", 1},
                                                                           {"kb", 1e3},
                                                                           {"mb", 1e6},
                                                                           {"gb", 1e9},
                                                                           {"tb", 1e12},
                                                                           {"kib", 1024},
                                                                           {"mib", 1024 * 1024},
                                                                           {"gib", 1024.0 * 1024 * 1024},
                                                                           {"tib", 1024.0 * 1024 * 1024 * 1024}};
  const std::string_view trimmed = trim(text);
  const std::size_t end = std::min(trimmed.find_first_not_of("0123456789."), trimmed.size());
  const std::string digits(trimmed.substr(0, end));
  if (digits.empty() || digits.size() > 20 || !is_digit(digits.back()) || !is_digit(digits.front()) ||
      std::count(digits.begin(), digits.end(), '.') > 1) {
    return std::nullopt;
  }
  const std::string unit = to_lower(trim(trimmed.substr(end)));
  for (const auto& [name, factor] : k_units) {
    if (unit != name) continue;
    const double bytes = std::strtod(digits.c_str(), nullptr) * factor;
    if (bytes > 1e18) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(bytes));
  }
  return std::nullopt;
}

}  // namespace wheelsmith::recipe
