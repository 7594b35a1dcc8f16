#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recipe/recipe.h"
#include "recipe/table_reader.h"

// [[when]]: rules that hold only under conditions (this ref, that torch, these architectures). A package's history has
// many: an option renamed in 1.3, a compiler warning that became an error, an architecture that a library does not
// support. As data they can be read, shown and tested; as code they would be `if name == "torch"`.

namespace wheelsmith::recipe {

// All of its parts must hold.
class Condition {
 public:
  void add(std::function<bool(const Conditions&)> part) { m_parts.push_back(std::move(part)); }
  [[nodiscard]] bool holds(const Conditions& conditions) const;

 private:
  std::vector<std::function<bool(const Conditions&)>> m_parts;
};

// The keys `if` and `why` of one [[when]].
Condition read_condition(TableReader& when);

}  // namespace wheelsmith::recipe
