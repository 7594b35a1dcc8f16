#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "document/value.h"
#include "report/style.h"

namespace wheelsmith::report {

struct DiagnosedLog {
  std::string path;
  std::string error;  // why the log could not be read, or ""
  bool complete = true;
  diagnose::Diagnosis diagnosis;
};

std::string to_json(const std::vector<DiagnosedLog>& items);
std::string to_text(const DiagnosedLog& item, const Style& style);
// One cause as `diagnose` and `build` print it, indented.
std::string cause_text(const diagnose::Cause& cause, const Style& style, std::size_t indent);

}  // namespace wheelsmith::report
