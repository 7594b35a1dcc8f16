// The texts are Markdown inside the program (src/wheel/data/explanations*.md): a heading "## id", then its text up to
// the next heading.

#include "wheel/check/explain.h"

#include "base/text.h"

namespace wheelsmith::wheel {

namespace data {
extern const std::string_view explanations_md;
extern const std::string_view explanations_build_md;
extern const std::string_view explanations_archive_md;
extern const std::string_view explanations_binary_md;
extern const std::string_view explanations_index_md;
extern const std::string_view explanations_metadata_md;
extern const std::string_view explanations_symbols_md;
}  // namespace data

namespace {

template <class Visit>
void each_section(Visit visit) {
  for (std::string_view text : {data::explanations_md, data::explanations_archive_md, data::explanations_metadata_md,
                                data::explanations_binary_md, data::explanations_symbols_md,
                                data::explanations_build_md, data::explanations_index_md}) {
    std::size_t heading = text.starts_with("## ") ? 0 : text.find("\n## ");
    while (heading != text.npos) {
      text.remove_prefix(heading + (heading == 0 && text.starts_with("## ") ? 3 : 4));
      const std::size_t end = text.find('\n');
      const std::size_t next = text.find("\n## ");
      const std::string_view body = end == text.npos ? "" : text.substr(end, next == text.npos ? next : next - end);
      visit(trim(text.substr(0, end)), trim(body));
      heading = next;
    }
  }
}

}  // namespace

std::optional<std::string> explain(std::string_view id) {
  std::optional<std::string> result;
  each_section([&](std::string_view name, std::string_view body) {
    if (name == id) result = std::string(body);
  });
  return result;
}

std::vector<std::string> explained_ids() {
  std::vector<std::string> ids;
  each_section([&](std::string_view name, std::string_view) { ids.emplace_back(name); });
  return ids;
}

}  // namespace wheelsmith::wheel
