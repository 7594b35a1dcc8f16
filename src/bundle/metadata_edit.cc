#include "bundle/metadata_edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/version.h"

namespace wheelsmith::bundle {

MetadataEdit edit_metadata(std::string_view text, const std::function<bool(std::string_view name)>& is_dropped,
                           std::string_view version) {
  MetadataEdit result;
  const auto line_end = [&](std::size_t from) { return std::min(text.find('\n', from), text.size() - 1) + 1; };
  while (!text.empty() && !trim(text.substr(0, line_end(0))).empty()) {  // an empty line starts the body
    // The field with the lines that continue it.
    std::size_t end = line_end(0);
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) end = line_end(end);
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(end);
    const std::size_t colon = std::min(whole.find(':'), whole.size());
    const std::string field = to_lower(trim(whole.substr(0, colon)));
    std::string value(trim(whole.substr(std::min(colon + 1, whole.size()))));
    std::replace_if(value.begin(), value.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    if (field == "requires-dist" && is_dropped(pep::Requirement::parse(value).name)) {
      result.dropped.push_back(std::move(value));
    } else if (field == "version" && !version.empty()) {
      result.text += fmt::format("Version: {}\n", version);
    } else {
      result.text += whole;
    }
  }
  result.text += text;
  return result;
}

std::string with_local_label(std::string_view version, std::string_view label) {
  const std::string result = fmt::format("{}{}{}", version, version.find('+') == version.npos ? "+" : ".", label);
  if (label.empty() || label.find('+') != label.npos || !pep::Version::try_parse(result))
    throw Error(
        fmt::format("\"{}\" is not a valid local label: use letters and digits, separated by dots", printable(label)));
  return result;
}

}  // namespace wheelsmith::bundle
