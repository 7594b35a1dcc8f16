#include "report/trust.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_document.h"
#include "report/settings.h"

namespace wheelsmith::report {

std::string trust_text(const std::vector<TrustItem>& items, const Style& style) {
  std::string text;
  for (const TrustItem& item : items) {
    const std::string state = pad_right(item.state, items.size() > 1 ? 7 : 0);
    text += fmt::format("{} {}\n", item.state == "trusted" ? style.green(state) : style.yellow(state),
                        printable(item.trusted.file.string()));
    text += risky_options_text(item.options);
  }
  return text;
}

std::string trust_json(const std::vector<TrustItem>& items) {
  document::Array listed;
  for (const TrustItem& item : items) {
    document::Table one;
    one["file"] = item.trusted.file.string();
    one["sha256"] = item.trusted.sha256;
    one["state"] = item.state;
    document::Array names;
    for (const auto& option : item.options) names.emplace_back(option.name);
    one["options"] = std::move(names);
    listed.emplace_back(std::move(one));
  }
  document::Table document = new_document();
  document["items"] = std::move(listed);
  return document_text(document);
}

}  // namespace wheelsmith::report
