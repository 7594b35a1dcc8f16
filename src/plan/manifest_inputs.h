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
  explicit ManifestInputs(const Step& step);

  void add_recipe(const recipe::Recipe& recipe);
  void add_source(const std::vector<std::pair<std::string, std::string>>& files);
  void add_tools(const std::vector<std::pair<std::string, std::string>>& digests);
  void add_torch(const toolchain::Torch& torch);
  void add_need(const Step& other);

  [[nodiscard]] const store::Manifest& manifest() const { return m_manifest; }

 private:
  const Step& m_step;
  store::Manifest m_manifest;
};

// From the last build of the same identity, else from what the recipe knows.
Forecast forecast(const Step& step, const recipe::Rules& rules, const store::Store& store);

}  // namespace wheelsmith::plan
