#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::cache {

// The words of a response file, or of a variable that holds options: separated by blanks, quotes and backslashes as
// compilers read them. At most 100,000.
std::vector<std::string> split_words(std::string_view text);

}  // namespace wheelsmith::cache
