#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "wheel/check/check.h"
#include "wheel/read/inspect.h"

namespace wheelsmith::report {

// One inspected item as text. Everything that comes from the file is escaped for the terminal.
std::string to_text(const wheel::Inspection& item, const Style& style);

// One verdict with its findings.
std::string to_text(const wheel::Verdict& item, const Style& style);

}  // namespace wheelsmith::report
