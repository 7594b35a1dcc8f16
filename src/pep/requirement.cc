// Dependencies by PEP 508.
//
//   requirement = name ["[" [name ("," name)*] "]"] ("@" url | "(" specifiers ")" | [specifiers]) [";" marker]
//
// A URL ends at the first blank, so a marker behind it needs one before its ";".

#include "pep/requirement.h"

#include "base/attempt.h"
#include "base/text.h"
#include "pep/marker.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

constexpr bool in_name(char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; }

std::string take_name(Scanner& scanner, std::string_view what) {
  const std::size_t begin = scanner.at();
  const std::string_view name = scanner.take_while(in_name);
  if (name.empty()) scanner.fail(std::string(what) + " is missing");
  if (!is_valid_name(name)) scanner.fail("a name must begin and end with a letter or digit", begin);
  return std::string(name);
}

std::vector<std::string> take_extras(Scanner& scanner) {
  std::vector<std::string> extras;
  scanner.skip_blanks();
  if (scanner.accept(']')) return extras;
  do {
    scanner.skip_blanks();
    extras.push_back(take_name(scanner, "the name of an extra"));
    scanner.skip_blanks();
  } while (scanner.accept(','));
  if (!scanner.accept(']')) scanner.fail("expected \",\" or \"]\"");
  return extras;
}

std::string take_url(Scanner& scanner) {
  scanner.skip_blanks();
  const std::string_view url = scanner.take_while([](char c) { return !is_blank(c); });
  if (url.empty()) scanner.fail("expected a URL after \"@\"");
  return std::string(url);
}

void take_versions(Scanner& scanner, Requirement& requirement) {
  if (scanner.accept('(')) {
    scanner.skip_blanks();
    if (scanner.peek() != ')') requirement.specifiers = take_specifiers(scanner);
    if (!scanner.accept(')')) scanner.fail("expected \",\" or \")\"");
  } else if (!scanner.done() && scanner.peek() != ';') {
    requirement.specifiers = take_specifiers(scanner);
  }
}

}  // namespace

bool is_valid_name(std::string_view name) {
  if (name.empty() || !is_alnum(name.front()) || !is_alnum(name.back())) return false;
  for (const char c : name) {
    if (!in_name(c)) return false;
  }
  return true;
}

Requirement Requirement::parse(std::string_view text) {
  text = trim(text);
  Scanner scanner(text, "requirement");
  Requirement requirement;
  requirement.name = take_name(scanner, "the name of a project");
  scanner.skip_blanks();
  if (scanner.accept('[')) requirement.extras = take_extras(scanner);
  scanner.skip_blanks();
  if (scanner.accept('@')) {
    requirement.url = take_url(scanner);
  } else {
    take_versions(scanner, requirement);
  }
  scanner.skip_blanks();
  if (scanner.done()) return requirement;
  if (!scanner.accept(';')) scanner.fail("expected \";\" or the end");
  (void)Marker::parse(text, scanner.at());
  requirement.marker = std::string(trim(scanner.rest()));
  return requirement;
}

std::optional<Requirement> Requirement::try_parse(std::string_view text) {
  return if_valid([&] { return parse(text); });
}

std::string Requirement::to_string() const {
  std::string text = name;
  if (!extras.empty()) text += '[' + join(extras, ",") + ']';
  if (!url.empty()) text += " @ " + url;
  for (const Specifier& specifier : specifiers) {
    if (&specifier != &specifiers.front()) text += ',';
    text += specifier.op + specifier.version;
  }
  if (!marker.empty()) text += (url.empty() ? "; " : " ; ") + marker;
  return text;
}

}  // namespace wheelsmith::pep
