#include "report/json_document.h"

namespace wheelsmith::report {

document::Table new_document() {
  document::Table document;
  document["schema"] = 1;
  return document;
}

std::string document_text(const document::Table& document) { return document::to_json(document) + "\n"; }

document::Array text_array(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

}  // namespace wheelsmith::report
