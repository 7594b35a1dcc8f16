#pragma once

#include <string_view>

#include "recipe/recipe.h"

namespace wheelsmith::recipe {

// A file by itself: throws Error with all that is wrong in it. Keys that it may leave to the recipe it extends need not
// be there.
void check_document(const document::Table& document, std::string_view file_name);

// A complete recipe. `file_name` is shown in errors; `lines` says whether the lines of values are those of that file
// (they are not if the document was merged from several).
Recipe recipe_from(document::Table document, std::string_view file_name, bool lines);

}  // namespace wheelsmith::recipe
