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
  std::string patchset{};   // that belongs to the ref
  std::string subfolder{};  // where the package is below it
};

// The recipes and sources of a plan, each found once.
class Sources {
 public:
  Sources(const choose::Request& request, const PlanInputs& inputs, Locks& locks, Notes& notes);

  // The user's recipe, ours, or one inferred from the package's source. Throws RequestError for what is not a package.
  const recipe::Recipe& recipe(const std::string& package);

  const PinnedSource& source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                             const toolchain::Python& python);

  // A file of a source; nothing where it has none.
  [[nodiscard]] std::optional<std::string> text(const source::Pin& pin, const std::string& path) const;

  // Reads files of a source below the folder of its package; texts are kept for the next question.
  using Reader = std::function<std::optional<std::string>(const std::string& path)>;
  [[nodiscard]] Reader reader(const source::Pin& pin, const std::string& subfolder);
  [[nodiscard]] Reader reader(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                              const toolchain::Python& python);

  // The torch of a package: choose_torch(), asked with what the package's source says.
  choose::Chosen<choose::TorchChoice> torch(const recipe::Recipe& recipe, const recipe::Rules& rules,
                                            recipe::Variant variant, const std::string& target,
                                            const toolchain::Python& python);

  // The recipe of torch itself, where it is built in this plan: what uses torch is built against that one.
  [[nodiscard]] const recipe::Recipe* built_torch(const recipe::Recipe& besides) const;

  // What the package's own configuration would clone, at the commits that the source names.
  std::vector<FetchSource> fetches(const BuildSpec& spec, const recipe::Rules& rules);

 private:
  // Where the repository of a recipe is and which of its refs is meant.
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

// The recipe that is inferred for a package that has none, from the source that the request names or the index's newest
// sdist; what `recipe init` writes and what doctor examines. Runs nothing of the source.
recipe::Recipe infer_recipe(const std::string& package, const choose::Request& request, const PlanInputs& inputs,
                            const toolchain::Python& python);

// What can be seen in a source; an archive is read once, then its facts are remembered by its digest.
recipe::SourceFacts remembered_facts(const source::Pin& pin, const std::string& subfolder, const PlanInputs& inputs);

// The recipe's patches and those of the set, with their texts. Throws Error for one that is not there.
struct PatchTexts {
  std::vector<source::Patch> early;     // to the source as it comes
  std::vector<source::Patch> hipified;  // to what hipify made of it
};
PatchTexts read_patches(const recipe::Recipe& recipe, const std::string& patchset, const PlanInputs& inputs);

}  // namespace wheelsmith::plan
