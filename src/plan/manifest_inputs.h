#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// Collects all that decides a step's result under names that a reason can tell: "source:src/kernel.cu", "env:CXXFLAGS",
// "tool:nvcc/cicc", "requires:setuptools".
class ManifestInputs {
 public:
  // `own`: variables that the user sets. They may be secrets, so the manifest, which is kept, has only their digests.
  explicit ManifestInputs(const Step& step, const std::map<std::string, std::string>& own = {});

  void add_recipe(std::string_view digest);
  void add_source(const std::vector<std::pair<std::string, std::string>>& files);
  void add_tools(const std::vector<std::pair<std::string, std::string>>& digests);
  void add_torch(const toolchain::Torch& torch);
  void add_need(const Step& other);

  [[nodiscard]] store::Manifest take() { return std::move(m_manifest); }

 private:
  const Step& m_step;
  store::Manifest m_manifest;
};

// Of what the recipe says for that variant and target. The same for many steps, and it takes a while.
std::string recipe_digest(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target);

// From what the recipe knows, for a machine with so many cores.
Forecast known_forecast(const Step& step, const recipe::Rules& rules, unsigned cores);
// From the last build of the same identity, else from what the recipe knows.
Forecast forecast(const Step& step, const recipe::Rules& rules, const store::Store& store);

}  // namespace wheelsmith::plan
