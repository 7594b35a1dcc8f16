#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::diagnose {

// Words (lower case, at least `shortest` bytes) of which every text that the expression matches holds at least one;
// empty when none are found. Of several choices the one that costs least, by the sum of `cost` over its words.
std::vector<std::string> needed_words(std::string_view expression, std::size_t shortest,
                                      const std::function<double(const std::string&)>& cost);

}  // namespace wheelsmith::diagnose
