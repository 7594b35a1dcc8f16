// module: recipe
// Any text is a recipe or an Error; a recipe must round-trip, and can be queried.
#include "recipe/recipe.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 16384) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  recipe::Recipe recipe;
  try {
    recipe = recipe::parse_recipe(text, "fuzz.toml");
  } catch (const Error&) {
    return 0;
  }
  if (recipe::parse_recipe(recipe.to_toml(), "again.toml").document != recipe.document) std::abort();
  for (const auto& [key, rules] : recipe.all_rules) (void)recipe.expanded(key.first, key.second);
  (void)recipe::Library({{"fuzz.toml", text}, {"above.toml", "name = \"above\"\nextends = \"" + recipe.name + "\"\n"}});
  return 0;
}
