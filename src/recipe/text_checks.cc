#include "recipe/text_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/attempt.h"
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

}  // namespace

std::string check_project_name(const std::string& text) {
  return pep::is_valid_name(text) ? "" : fmt::format("{} is not a valid project name", in_quotes(text));
}

std::string check_specifiers(const std::string& text) {
  return problem_of([&] { (void)pep::parse_specifiers(text); });
}

std::string check_version_or_specifiers(const std::string& text) {
  if (text.empty() || pep::Version::try_parse(text)) return "";
  return problem_of([&] { (void)pep::parse_specifiers(text); });
}

std::string check_requirement(const std::string& text) {
  return problem_of([&] { (void)pep::Requirement::parse(text); });
}

std::string check_variable(const std::string& text) {
  return is_identifier(text) ? "" : fmt::format("{} is not a valid variable name", in_quotes(text));
}

std::string check_word(const std::string& text) {
  const auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.'; };
  const bool good = !text.empty() && text.size() <= 64 && (is_letter(text[0]) || is_digit(text[0])) &&
                    std::all_of(text.begin(), text.end(), fits);
  return good ? "" : fmt::format("{} is not a valid name (letters, digits, \"-\", \"_\", \".\")", in_quotes(text));
}

std::string check_library(const std::string& text) {
  const std::size_t end = std::min(text.find_first_of("<>=!~ "), text.size());
  const std::string complaint = check_word(text.substr(0, end));
  return complaint.empty() ? check_specifiers(std::string(trim(std::string_view(text).substr(end)))) : complaint;
}

std::string check_module(const std::string& text) {
  const auto parts = split(text, '.');
  const bool good = std::all_of(parts.begin(), parts.end(), is_identifier);
  return good ? "" : fmt::format("{} is not a valid module name", in_quotes(text));
}

std::string check_relative_path(const std::string& text) {
  if (text.empty()) return "a path cannot be empty";
  if (text[0] == '/' || text[0] == '~') return fmt::format("{} must be a relative path", in_quotes(text));
  for (const std::string_view part : split(text, '/')) {
    if (part == "..") return fmt::format("{} points outside its folder", in_quotes(text));
  }
  return "";
}

std::string check_glob(const std::string& text) {
  if (text.empty()) return "a pattern cannot be empty";
  const std::size_t open = text.rfind('[');
  if (open != std::string::npos && text.find(']', open + 1) == std::string::npos) {
    return fmt::format("{}: unclosed [", in_quotes(text));
  }
  return "";
}

std::string check_relative_glob(const std::string& text) {
  const std::string complaint = check_relative_path(text);
  return complaint.empty() ? check_glob(text) : complaint;
}

std::string check_architectures(const std::string& text) {
  return problem_of([&] { (void)gpu::ArchList::parse(text); });
}

std::string check_git(const std::string& text) {
  if (text.empty()) return "a string cannot be empty";
  // "-u…" would be an option, "ext::sh -c …" a program.
  if (text[0] == '-' || text.find("::") != std::string::npos || text.find_first_of(" \t\n\r") != std::string::npos) {
    return fmt::format("{} is not a valid git argument", in_quotes(text));
  }
  return "";
}

}  // namespace wheelsmith::recipe
