#pragma once

#include <string>

#include "report/style.h"
#include "wheel/compare/diff.h"

namespace wheelsmith::report {

// `style.details`: all of it instead of the first of each kind.
std::string diff_text(const wheel::Diff& diff, const Style& style);
std::string diff_json(const std::string& left, const std::string& right, const wheel::Diff& diff);

}  // namespace wheelsmith::report
