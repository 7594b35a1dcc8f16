#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/choose.h"
#include "plan/plan.h"
#include "source/git/repositories.h"

namespace wheelsmith::plan {

// A list without repetitions, in the order in which its words came.
void add_once(std::vector<std::string>& list, const std::string& word);

// What --set says, or the recipe.
std::map<std::string, std::string> chosen_settings(const recipe::Recipe& recipe, const Request& request);

// Makes one plan. What steps share (interpreters, locks, sources, compilers) is found out once and kept here.
class Planner {
 public:
  Planner(const Request& request, const PlanInputs& inputs);

  Plan make();

 private:
  struct Known {  // a source that has been looked at
    source::Pin pin;
    recipe::SourceFacts facts;
    std::vector<std::pair<std::string, std::string>> files;  // of a folder: name, digest
    std::string patchset{};                                  // that belongs to the ref
  };

  const recipe::Recipe& recipe_for(const std::string& package);
  // Where a repository is and which of its refs is meant.
  struct Place {
    std::string url, ref, patchset;
    std::optional<std::vector<std::string>> submodules;
    std::string why;
  };
  Place place_of(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                 const toolchain::Python& python);
  std::optional<Place> pinned_place(const recipe::Recipe& recipe, recipe::Variant variant,
                                    const toolchain::Python& python);
  // The torch that a step will be built with, as far as that is known before all is resolved.
  LockedTorch torch_before(const recipe::Recipe& recipe, const recipe::Rules& rules, recipe::Variant variant,
                           const toolchain::Python& python);
  std::string torch_series(const recipe::Recipe& recipe, const recipe::Rules& rules, recipe::Variant variant,
                           const toolchain::Python& python);
  std::vector<gpu::ArchList> archs_for(const recipe::Recipe& recipe, recipe::Variant variant,
                                       const toolchain::Python& python);
  const Known& source_for(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                          const toolchain::Python& python);
  void reject_typos();
  void add_package(const recipe::Recipe& recipe, const toolchain::Python& python);
  // Its id; made once, however many need it.
  std::string add_step(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                       const gpu::ArchList& archs, const toolchain::Python& python, bool optional = false);
  [[nodiscard]] recipe::Conditions conditions(const Step& step, const recipe::Recipe& recipe) const;
  // Whether the step is refused; where it is only an optional part of another it is skipped, else that is an Error.
  bool refuse(Step& step, const recipe::Recipe& recipe, const recipe::Rules& rules, bool optional);
  void choose_what_it_needs(Step& step, const recipe::Rules& rules, const Known& known);
  std::string add(Step step);
  std::string add_skipped(Step step, const recipe::Recipe& recipe);
  void add_fetches(Step& step, const recipe::Rules& rules);
  // A file of a source, nothing where it has none.
  [[nodiscard]] std::optional<std::string> text_of(const source::Pin& pin, const std::string& path) const;
  bool is_published(Step& step, const recipe::Dependency& need);
  const recipe::Recipe* torch_recipe(const recipe::Recipe& besides) const;
  void add_needs(Step& step, const recipe::Rules& rules);
  void choose_requirements(Step& step, const recipe::Rules& rules, const Known& known);
  void choose_toolkit(Step& step, const recipe::Rules& rules);
  void choose_tools(Step& step, const recipe::Rules& rules);
  const env::Lock& lock_for(const Step& step, const std::vector<std::string>& requirements);
  void fill_manifest(Step& step, const recipe::Recipe& recipe, const Known& known, bool depends);
  void look_up(Step& step, const recipe::Rules& rules);
  void note(const std::string& sentence);

  const Request& m_request;
  const PlanInputs& m_inputs;
  Plan m_plan;
  std::vector<toolchain::Gpu> m_gpus;
  std::optional<toolchain::Compiler> m_compiler;
  std::optional<toolchain::Cuda> m_cuda;
  bool m_cuda_looked_for = false;
  std::map<std::string, recipe::Recipe> m_inferred;
  std::map<std::string, Known> m_sources;
  std::map<std::string, env::Lock> m_locks;
  std::map<std::string, TorchChoice> m_torches;
  std::map<std::string, std::size_t> m_steps;  // id -> place in the plan
  std::set<std::string> m_in_progress;
  std::optional<source::Repositories> m_repositories;
  std::map<std::string, std::string> m_recipe_texts;    // name -> as TOML
  std::map<std::string, std::string> m_recipe_digests;  // name, variant, target -> of what holds for them
  std::vector<std::pair<std::string, std::string>> m_tool_inputs;
  std::map<std::string, toolchain::Program> m_programs;  // by path
};

}  // namespace wheelsmith::plan
