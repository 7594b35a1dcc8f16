// module: recipe
// A source whose every file is hostile: the input is PKG-INFO, pyproject.toml, setup.py and top_level.txt, separated by
// NUL. The result is facts and a recipe that can be parsed again, or an Error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "recipe/recipe.h"

namespace {

class FuzzTree final : public wheelsmith::FileTree {
 public:
  explicit FuzzTree(std::string_view input) {
    for (const char* name : {"PKG-INFO", "k.cu", "pyproject.toml", "setup.py", "x.egg-info/top_level.txt"}) {
      const std::size_t end = std::min(input.find('\0'), input.size());
      m_files.emplace_back(name, input.substr(0, end));
      input.remove_prefix(std::min(end + 1, input.size()));
    }
  }
  [[nodiscard]] std::vector<File> files() const override {
    std::vector<File> result;
    for (const auto& [name, text] : m_files) result.push_back({name, text.size()});
    return result;
  }
  [[nodiscard]] std::optional<wheelsmith::Blob> open(const std::string& wanted) const override {
    for (const auto& [name, text] : m_files) {
      if (name == wanted && !text.empty()) return wheelsmith::Blob{nullptr, wheelsmith::Bytes(text)};
    }
    return std::nullopt;
  }

 private:
  std::vector<std::pair<std::string, std::string>> m_files;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 16384) return 0;
  recipe::SourceFacts facts;
  try {
    facts = recipe::read_source(FuzzTree({reinterpret_cast<const char*>(data), size}));
    if (!pep::is_valid_name(facts.name)) return 0;
  } catch (const Error&) {
    return 0;
  }
  // Whatever the files contain, the inferred recipe is valid. Only a name and a build may be missing.
  if (!facts.has_pyproject && !facts.has_setup_py) return 0;
  const recipe::Recipe recipe = recipe::infer(facts);
  if (recipe::parse_recipe(recipe.to_toml(), "again.toml").document != recipe.document) std::abort();
  return 0;
}
