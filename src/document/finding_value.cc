#include "document/finding_value.h"

namespace wheelsmith::document {

Value to_value(const Finding& finding) {
  Table table;
  table["id"] = finding.id;
  table["severity"] = std::string(to_string(finding.severity));
  table["subject"] = finding.subject;
  table["what"] = finding.what;
  table["why"] = finding.why;
  table["fix"] = finding.fix;
  return table;
}

}  // namespace wheelsmith::document
