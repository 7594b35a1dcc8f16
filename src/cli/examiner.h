#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/session.h"
#include "doctor/doctor.h"
#include "plan/plan.h"

namespace wheelsmith::cli {

// What a plan would choose for a package, handed to doctor::examine without planning: so that a machine on which a plan
// cannot be made gets its report, too.
class Examiner {
 public:
  Examiner(Session& session, const plan::Request& request, doctor::Facts facts);

  // A package and all the recipes it needs, for each of its variants and arch lists. Throws UsageError for a name that
  // is none, or whose recipe is broken.
  void examine(const std::string& package, const toolchain::Python& python);

  std::vector<doctor::Check> checks;

 private:
  struct Need {
    std::string recipe;
    recipe::Variant variant;
    bool optional = false;  // or needed by what is: nothing about it is bad for the whole
  };
  using Needed = std::vector<Need>;

  void examine_one(const std::string& package, const toolchain::Python& python, std::optional<recipe::Variant> forced,
                   bool optional, Needed& needed);
  // With the [[when]] tables that hold, as far as that can be known without a plan.
  recipe::Recipe settled(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                         const gpu::ArchList& archs, const toolchain::Python& python) const;
  void examine_source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& step, bool optional);
  std::optional<recipe::Recipe> recipe_for(const std::string& package, const toolchain::Python& python);
  recipe::Recipe inferred(const std::string& package, const toolchain::Python& python);
  std::vector<recipe::Variant> variants_of(const recipe::Recipe& recipe, std::optional<recipe::Variant> forced);
  std::vector<gpu::ArchList> archs_of(const recipe::Recipe& recipe, recipe::Variant variant);
  void find_torch(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                  const toolchain::Python& python);

  Session& m_session;
  const plan::Request& m_request;
  plan::PlanInputs m_inputs;
  doctor::Facts m_facts;
  std::set<std::string> m_seen;
};

}  // namespace wheelsmith::cli
