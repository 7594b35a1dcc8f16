#pragma once

#include <string_view>

#include "recipe/recipe.h"

namespace wheelsmith::recipe {

// A file by itself: throws Error with all that is wrong in it. Keys that it may leave to the recipe it extends need not
// be there.
void check_document(const document::Table& document, std::string_view file_name);

// A recipe that is whole. `file_name` stands in errors; `lines` says whether the lines of values are that file's (they
// are not when the document was merged from several).
Recipe recipe_from(document::Table document, std::string_view file_name, bool lines);

}  // namespace wheelsmith::recipe
