#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/cutoff.h"
#include "plan/locks.h"
#include "plan/notes.h"
#include "plan/plan.h"
#include "plan/sources.h"
#include "plan/toolbox.h"

namespace wheelsmith::plan {

// A step during planning.
struct Draft {
  Step step;
  std::map<std::string, std::string> need_versions{};  // versions of its dependencies, by recipe, if known
  std::vector<std::string> published{};                // recipes whose published wheel is used instead of building them
};

// Expands the request into the graph of steps. Data shared by steps (recipes, sources, locks, tools) is cached in the
// members.
class Planner {
 public:
  Planner(const choose::Request& request, const PlanInputs& inputs);

  Plan make();

 private:
  void add_package(const recipe::Recipe& recipe, const toolchain::Python& python);
  std::vector<gpu::ArchList> archs_for(const choose::Request& request, const recipe::Recipe& recipe,
                                       recipe::Variant variant, const toolchain::Python& python);
  recipe::Conditions conditions_without_archs(const recipe::Recipe& recipe, recipe::Variant variant,
                                              const std::string& target, const toolchain::Python& python);

  // Adds a step and returns its id; each step is added once. `optional`: a refused step is skipped instead of an Error.
  std::string add_step(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                       const gpu::ArchList& archs, const toolchain::Python& python, bool optional = false);
  std::string add(Draft draft);
  bool refuse(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules, bool optional, bool settled);

  // The recipe resolved for this step: with its [[when]] tables and [[read]] applied, and dependencies, torch and
  // toolkits chosen. nullopt if the recipe has neither, so that it applies unchanged.
  std::optional<recipe::Recipe> settle(Draft& draft, const recipe::Recipe& recipe, const PinnedSource& source);
  // Throws Error if the source contradicts the rules; possible problems become notes.
  void compare_with_source(const Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                           const PinnedSource& source);
  [[nodiscard]] recipe::Conditions conditions(const Draft& draft, const recipe::Recipe& recipe);
  bool is_left_out(const recipe::Recipe& recipe, const recipe::Dependency& need);
  // The step of a dependency; "" if it is optional and cannot be planned.
  std::string add_need(const Draft& draft, const recipe::Dependency& need);
  void choose_dependencies(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                           const PinnedSource& source);
  void add_needs(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                 std::vector<std::string>& requirements);
  bool is_published(Draft& draft, const recipe::Dependency& need);
  void choose_environment(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                          const PinnedSource& source, std::vector<std::string> needed);
  const choose::TorchChoice& torch_for(const BuildSpec& spec, const recipe::Recipe& recipe, const recipe::Rules& rules);

  // Adds actions, variables and closing notes.
  void write_out(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules, const PinnedSource& source);
  void set_key(Draft& draft, const recipe::Recipe& recipe, const PinnedSource& source, bool own_recipe);
  void decide(Draft& draft, const recipe::Rules& rules);
  // The wheels of other steps in the step's environment; nothing if one of them is not in the store.
  std::optional<std::vector<EnvironmentWheel>> environment_wheels(const Step& of);
  // The early cut-off: whether an earlier wheel is kept, with the reason in the decision. Otherwise `why_not` may get
  // what changed, as an addition to the reason.
  bool keep_earlier(Draft& draft, std::string& why_not);

  [[nodiscard]] const Step& step(const std::string& id) const { return m_plan.steps[m_steps.at(id)]; }

  const choose::Request& m_request;
  const PlanInputs& m_inputs;
  Plan m_plan;
  Notes m_notes;
  Locks m_locks;
  Sources m_sources;
  Toolbox m_tools;
  std::vector<toolchain::Gpu> m_gpus;
  std::map<std::string, std::size_t> m_steps;  // id -> place in the plan
  std::set<std::string> m_in_progress;
  std::set<std::string> m_left_out;  // recipes in --without
  // Caches of slow results that many steps share.
  std::map<std::string, choose::TorchChoice> m_torches;
  std::map<std::string, std::string> m_recipe_texts;    // name -> as TOML
  std::map<std::string, std::string> m_recipe_digests;  // name, variant, target -> digest of the effective rules
};

}  // namespace wheelsmith::plan
