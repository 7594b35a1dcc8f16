#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "wheel/check/check.h"
#include "wheel/read/inspect.h"

namespace wheelsmith::report {

// One inspected item as people read it. Everything that came from the file is made safe for a terminal.
std::string to_text(const wheel::Inspection& item, const Style& style);

// One verdict with its findings.
std::string to_text(const wheel::Verdict& item, const Style& style);

}  // namespace wheelsmith::report
