#pragma once

#include <string>
#include <vector>

#include "surgery/item.h"

namespace wheelsmith::report {

// The results of an operation on finished wheels (retag, repair), one per input.
std::string surgery_text(const surgery::Item& item);
std::string surgery_json(const std::vector<surgery::Item>& items);

}  // namespace wheelsmith::report
