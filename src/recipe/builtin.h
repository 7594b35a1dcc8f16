#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace wheelsmith::recipe {

// The recipes inside the program: file name and text, one for each file of src/recipe/data.
std::vector<std::pair<std::string_view, std::string_view>> builtin_recipes();

}  // namespace wheelsmith::recipe
