#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "choose/request.h"
#include "choose/source.h"
#include "doctor/doctor.h"
#include "plan/plan.h"

namespace wheelsmith::doctor {

// Checks what a plan would choose, without planning, so that a machine on which planning fails gets a report, too.
class Examiner {
 public:
  Examiner(const choose::Request& request, const plan::PlanInputs& inputs, Facts facts);

  // Checks a package and all recipes that it depends on, for each of its variants and arch lists. Throws RequestError
  // for an invalid package name or a broken recipe.
  void examine(const std::string& package, const toolchain::Python& python);

  [[nodiscard]] std::vector<Check> take_checks() { return std::move(m_checks); }

 private:
  // A recipe that another one depends on.
  struct Wanted {
    std::string recipe;
    recipe::Variant variant;
    bool optional = false;  // or a dependency of an optional one: its problems are not fatal
  };

  void examine_one(const std::string& package, const toolchain::Python& python, std::optional<recipe::Variant> forced,
                   bool optional, std::vector<Wanted>& wanted);
  // With the [[when]] tables applied, as far as possible without a plan.
  recipe::Recipe resolved(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                          const gpu::ArchList& archs, const toolchain::Python& python) const;
  choose::SourceChoice choose_source(const recipe::Recipe& recipe, recipe::Variant variant) const;
  std::string ref_of(const recipe::Recipe& recipe, recipe::Variant variant) const;
  void read_folder(const recipe::Recipe& recipe, recipe::Conditions& now) const;
  void find_required_libraries(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                               const toolchain::Python& python);
  [[nodiscard]] bool is_left_out(const recipe::Dependency& need) const;
  void examine_source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& step, bool optional);
  std::optional<recipe::Recipe> recipe_for(const std::string& package, const toolchain::Python& python);
  std::vector<recipe::Variant> variants_of(const recipe::Recipe& recipe, std::optional<recipe::Variant> forced);
  std::vector<gpu::ArchList> archs_of(const recipe::Recipe& recipe, recipe::Variant variant);
  void find_torch(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                  const toolchain::Python& python);

  const choose::Request& m_request;
  const plan::PlanInputs& m_inputs;
  Facts m_facts;
  std::vector<Check> m_checks;
  std::set<std::string> m_seen;
};

// The bad checks of the steps that a plan builds, with the plan's choices.
struct PlanExamination {
  Paths paths;
  std::string platform;
  unsigned jobs = 0;
  bool offline = false, cuda_named = false, allow_unsupported_compiler = false;
  std::map<std::string, std::string> settings{};  // --set
};
std::vector<Check> examine_plan(const plan::Plan& plan, const PlanExamination& examination,
                                const toolchain::Host& host);

}  // namespace wheelsmith::doctor
