#pragma once

#include <string>
#include <vector>

#include "surgery/item.h"

namespace wheelsmith::report {

// What an operation on finished wheels (retag, repair) did with each input.
std::string surgery_text(const surgery::Item& item);
std::string surgery_json(const std::vector<surgery::Item>& items);

}  // namespace wheelsmith::report
