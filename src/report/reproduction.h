#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "run/reproduction.h"

namespace wheelsmith::report {

std::string reproduction_text(const run::Reproduction& item, const Style& style);
// `errors` are those of wheels that could not be rebuilt: path, sentence.
std::string reproductions_json(const std::vector<run::Reproduction>& items,
                               const std::vector<std::pair<std::string, std::string>>& errors);

}  // namespace wheelsmith::report
