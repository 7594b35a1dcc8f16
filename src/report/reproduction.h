#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "run/reproduction.h"

namespace wheelsmith::report {

std::string reproduction_text(const run::Reproduction& item, const Style& style);
// `errors` lists the wheels that could not be rebuilt: path and message.
std::string reproductions_json(const std::vector<run::Reproduction>& items,
                               const std::vector<std::pair<std::string, std::string>>& errors);

}  // namespace wheelsmith::report
