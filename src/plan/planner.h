#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/locks.h"
#include "plan/notes.h"
#include "plan/plan.h"
#include "plan/sources.h"
#include "plan/toolbox.h"

namespace wheelsmith::plan {

// A step while it is being planned.
struct Draft {
  Step step;
  std::map<std::string, std::string> need_versions{};  // of its dependencies, by recipe, as far as known
  std::vector<std::string> published{};                // recipes whose published wheel is taken instead of a step
};

// Expands what was asked for into the graph of steps. What steps share (recipes, sources, locks, tools) is found once
// by the members.
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

  // Its id; made once, however many need it. `optional`: what is refused is skipped, not an Error.
  std::string add_step(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                       const gpu::ArchList& archs, const toolchain::Python& python, bool optional = false);
  std::string add(Draft draft);
  bool refuse(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules, bool optional, bool settled);

  // The recipe as its [[when]] tables hold for this step and as its source says, with dependencies, torch and toolkits
  // chosen. Nothing where the recipe has neither such tables nor [[read]]: then it holds as it is.
  std::optional<recipe::Recipe> settle(Draft& draft, const recipe::Recipe& recipe, const PinnedSource& source);
  // Throws Error where the source contradicts the rules; what may fail is a note.
  void compare_with_source(const Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                           const PinnedSource& source);
  [[nodiscard]] recipe::Conditions conditions(const Draft& draft, const recipe::Recipe& recipe);
  bool is_left_out(const recipe::Recipe& recipe, const recipe::Dependency& need);
  // The step of a dependency; "" for an optional one that cannot be planned.
  std::string add_need(const Draft& draft, const recipe::Dependency& need);
  void choose_dependencies(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                           const PinnedSource& source);
  void add_needs(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                 std::vector<std::string>& requirements);
  bool is_published(Draft& draft, const recipe::Dependency& need);
  void choose_environment(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                          const PinnedSource& source, std::vector<std::string> needed);
  const choose::TorchChoice& torch_for(const BuildSpec& spec, const recipe::Recipe& recipe, const recipe::Rules& rules);

  // Actions, variables and closing words.
  void write_out(Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules, const PinnedSource& source);
  void set_key(Draft& draft, const recipe::Recipe& recipe, const PinnedSource& source, bool own_recipe);
  void decide(Draft& draft, const recipe::Rules& rules);

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
  std::set<std::string> m_left_out;  // recipes that --without named
  // What takes a while and is the same for many steps.
  std::map<std::string, choose::TorchChoice> m_torches;
  std::map<std::string, std::string> m_recipe_texts;    // name -> as TOML
  std::map<std::string, std::string> m_recipe_digests;  // name, variant, target -> of what holds for them
};

}  // namespace wheelsmith::plan
