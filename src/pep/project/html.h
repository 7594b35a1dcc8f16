#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Inside this module only: the part of HTML that project pages need.

namespace wheelsmith::pep {

struct HtmlTag {
  std::string name;                                             // lower case; "/a" for an end tag
  std::vector<std::pair<std::string, std::string>> attributes;  // names in lower case, entities decoded

  // The first of that name, or null.
  [[nodiscard]] const std::string* find(std::string_view attribute) const;
};

// Reads a page tag by tag. It accepts everything: text that is not a valid tag is text, and an unclosed tag extends
// to the end of the page. One pass, no recursion; a tag keeps at most 64 attributes.
class HtmlReader {
 public:
  explicit HtmlReader(std::string_view page) : m_page(page) {}

  // The next tag, or nothing at the end.
  std::optional<HtmlTag> next();
  // The text between the last two tags, entities decoded, at most 1,000 bytes of it.
  [[nodiscard]] std::string text_before() const;

 private:
  std::optional<HtmlTag> take_tag();
  bool take_attribute(HtmlTag& tag);
  std::string take_value();
  void skip_blanks();
  void skip_behind(std::string_view mark);
  void skip_raw_text(std::string_view element);

  std::string_view m_page;
  std::string_view m_text;
  std::size_t m_at = 0;
};

std::string decode_entities(std::string_view text);

}  // namespace wheelsmith::pep
