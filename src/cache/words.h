#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::cache {

// The arguments in a response file, or in a variable that contains options: separated by blanks, with quotes and
// backslashes as compilers read them. At most 100,000.
std::vector<std::string> split_words(std::string_view text);

}  // namespace wheelsmith::cache
