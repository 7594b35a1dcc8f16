#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/locks.h"
#include "plan/notes.h"
#include "plan/plan.h"
#include "source/git/repositories.h"
#include "source/torch_pins.h"

namespace wheelsmith::plan {

// A source that has been pinned and read.
struct PinnedSource {
  source::Pin pin;
  recipe::SourceFacts facts;
  Pairs files{};            // of a folder: name, digest
  std::string patchset{};   // the patch set for the ref
  std::string subfolder{};  // folder of the package inside the source
};

// The recipes and sources of a plan; each is located once.
class Sources {
 public:
  Sources(const choose::Request& request, const PlanInputs& inputs, Locks& locks, Notes& notes);

  // The user's recipe, the built-in one, or one inferred from the package's source. Throws RequestError for an invalid
  // package.
  const recipe::Recipe& recipe(const std::string& package);

  const PinnedSource& source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                             const toolchain::Python& python);

  // A file of a source; nullopt if it does not exist.
  [[nodiscard]] std::optional<std::string> text(const source::Pin& pin, const std::string& path) const;

  // Reads files of a source relative to the folder of its package; caches their texts.
  using Reader = std::function<std::optional<std::string>(const std::string& path)>;
  [[nodiscard]] Reader reader(const source::Pin& pin, const std::string& subfolder);
  [[nodiscard]] Reader reader(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                              const toolchain::Python& python);

  // The torch of a package: choose_torch() with the information from the package's source.
  choose::Chosen<choose::TorchChoice> torch(const recipe::Recipe& recipe, const recipe::Rules& rules,
                                            recipe::Variant variant, const std::string& target,
                                            const toolchain::Python& python);

  // The recipe of torch if this plan builds it; packages that use torch are then built against it.
  [[nodiscard]] const recipe::Recipe* built_torch(const recipe::Recipe& besides) const;

  // The repositories that the package's configure step would clone, at the commits given by the source.
  std::vector<FetchSource> fetches(const BuildSpec& spec, const recipe::Rules& rules);

 private:
  // The repository and the ref of a recipe.
  recipe::Recipe located(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                         const toolchain::Python& python, std::string& patchset);
  std::optional<source::PinnedRef> record(const recipe::Recipe& recipe, recipe::Variant variant,
                                          const toolchain::Python& python);
  std::string torch_series(const recipe::Recipe& recipe, const recipe::Rules& rules, recipe::Variant variant,
                           const std::string& target, const toolchain::Python& python);
  std::string series_of_source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                               const toolchain::Python& python);

  const choose::Request& m_request;
  const PlanInputs& m_inputs;
  Locks& m_locks;
  Notes& m_notes;
  std::map<std::string, recipe::Recipe> m_inferred;
  std::map<std::string, PinnedSource> m_sources;
  std::map<std::string, std::optional<std::string>> m_texts;  // digest and path -> text
  std::optional<source::Repositories> m_repositories;
};

// The options of every pin of a plan.
source::PinOptions pin_options(const choose::Request& request, const PlanInputs& inputs,
                               const toolchain::Python& python);

// Infers a recipe for a package without one, from the requested source or the newest sdist in the index. Used by
// `recipe init` and doctor. Runs no code from the source.
recipe::Recipe infer_recipe(const std::string& package, const choose::Request& request, const PlanInputs& inputs,
                            const toolchain::Python& python);

// Facts about a source. An archive is read once; its facts are then stored under its digest.
recipe::SourceFacts remembered_facts(const source::Pin& pin, const std::string& subfolder, const PlanInputs& inputs);

// The patches of the recipe and of the patch set, with their texts. Throws Error if one is missing.
struct PatchTexts {
  std::vector<source::Patch> early;     // applied to the original source
  std::vector<source::Patch> hipified;  // applied after hipify
};
PatchTexts read_patches(const recipe::Recipe& recipe, const std::string& patchset, const PlanInputs& inputs);

}  // namespace wheelsmith::plan
