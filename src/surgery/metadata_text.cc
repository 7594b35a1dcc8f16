#include "surgery/metadata_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace wheelsmith::surgery {

std::string edit_metadata_text(std::string_view text, const FieldEdit& edit) {
  std::string result;
  const auto line_end = [&](std::size_t from) {
    const std::size_t end = text.find('\n', from);
    return end == text.npos ? text.size() : end + 1;
  };
  while (!text.empty() && !trim(text.substr(0, line_end(0))).empty()) {  // an empty line begins the body
    std::size_t end = line_end(0);
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t') &&
           !trim(text.substr(end, line_end(end) - end)).empty())
      end = line_end(end);
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(end);
    const std::size_t colon = std::min(whole.find(':'), whole.size());
    std::string_view name = trim(whole.substr(0, colon));
    if (result.empty() && name.starts_with("\xef\xbb\xbf")) name.remove_prefix(3);  // a byte order mark
    std::string value(trim(whole.substr(std::min(colon + 1, whole.size()))));
    std::replace_if(value.begin(), value.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    const std::optional<std::string> changed = edit(to_lower(name), value);
    if (!changed)
      result += whole;
    else if (!changed->empty())
      result += fmt::format("{}: {}{}", name, *changed, whole.ends_with("\r\n") ? "\r\n" : "\n");
  }
  result += text;
  return result;
}

}  // namespace wheelsmith::surgery
