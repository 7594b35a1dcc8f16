#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::cache {

// The -ffile-prefix-map options of a compile. An object contains only the new name of a mapped folder, so a cache that
// uses these names finds objects of one folder again in another.
class PathMap {
 public:
  // Adds the options in an argument: "-ffile-prefix-map=/tree=.", also inside "-Xcompiler=-a,-ffile-…".
  void add_from(std::string_view word);

  // "/tree/a.h" with /tree=. becomes "\x01.\x02/a.h"; other paths stay as they are. The last matching option wins, as
  // in compilers.
  [[nodiscard]] std::string known(std::string_view path) const;
  // The path in this compile's folders for such a name; "" when no option has that new name.
  [[nodiscard]] std::string local(std::string_view name) const;
  // The same for every path in a text (a warning).
  [[nodiscard]] std::string known_text(std::string_view text) const;
  [[nodiscard]] std::string local_text(std::string_view text) const;
  [[nodiscard]] bool empty() const { return m_pairs.empty(); }

 private:
  struct Pair {
    std::string from, to;
  };
  std::vector<Pair> m_pairs;  // the last option first
};

// Resolves relative paths from `folder`. A ".." stays: its meaning depends on links.
std::string absolute_path(std::string_view folder, std::string_view path);

}  // namespace wheelsmith::cache
