#include "cache/dependencies.h"

#include <unordered_set>

namespace wheelsmith::cache {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The end of the rule's targets: a colon before a blank or a line end. A colon inside a name is followed by neither.
std::size_t targets_end(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      ++at;
    } else if (text[at] == '\n') {
      return text.npos;
    } else if (text[at] == ':' && (at + 1 == text.size() || is_blank(text[at + 1]) || text[at + 1] == '\n')) {
      return at;
    }
  }
  return text.npos;
}

}  // namespace

std::optional<std::vector<std::string>> read_dependencies(std::string_view text) {
  const std::size_t colon = targets_end(text);
  if (colon == text.npos) return std::nullopt;
  text.remove_prefix(colon + 1);
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  std::string name;
  const auto finish = [&] {
    if (!name.empty() && seen.insert(name).second) names.push_back(name);
    name.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '\\' && (next == '\n' || (next == '\r' && at + 2 < text.size() && text[at + 2] == '\n'))) {
      finish();
      at += next == '\n' ? 1 : 2;
    } else if (c == '\\' && (next == ' ' || next == '#' || next == '\t')) {
      name += next;
      ++at;
    } else if (c == '$' && next == '$') {
      name += '$';
      ++at;
    } else if (c == '\n') {
      break;  // the next rule: targets of -MP
    } else if (is_blank(c)) {
      finish();
    } else {
      name += c;
    }
  }
  finish();
  return names;
}

std::string quoted_for_make(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == ' ' || c == '\t' || c == '#') result += '\\';
    if (c == '$') result += '$';
    result += c;
  }
  return result;
}

std::string write_dependencies(std::string_view target, const std::vector<std::string>& names, bool phony) {
  std::string text(target);
  text += ':';
  for (const std::string& name : names) text += " \\\n " + quoted_for_make(name);
  text += '\n';
  for (std::size_t i = 1; phony && i < names.size(); ++i) text += quoted_for_make(names[i]) + ":\n";
  return text;
}

}  // namespace wheelsmith::cache
