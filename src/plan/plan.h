#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "choose/request.h"
#include "fetch/fetch.h"
#include "plan/step/spec.h"
#include "recipe/recipe.h"
#include "store/store.h"
#include "toolchain/toolchain.h"

// From what was asked for to a graph of steps. A step is one package for one Python, variant and arch list, with all
// that decides its result written down: that is its key. Whatever has to be found out for it (the version of a source,
// the wheels of a build environment, the torch, the toolkit) is found out here, without running anything that a recipe
// or a source brings, and remembered, so that the same plan made again starts no process.

namespace wheelsmith::plan {

// What planning works with.
struct PlanInputs {
  store::Store& store;
  fetch::Fetcher& fetcher;
  const recipe::Library& recipes;
  toolchain::Host host;
  std::filesystem::path recipe_folder;                 // of the user's recipes, for their patches
  std::filesystem::path patch_folder{};                // of patch sets, by package
  std::vector<std::filesystem::path> example_folders;  // where the folders of shipped recipes may be
  std::function<void(const std::string&)> on_progress = [](const std::string&) {};
  // Where a remote store has the result of a key: its URL and the wheel's name. Throws nothing.
  struct RemoteResult {
    std::string url, wheel_name;
  };
  std::function<std::optional<RemoteResult>(const std::string& key)> find_remote{};
  // What is to be told about remote stores afterwards: notes of the plan.
  std::function<std::vector<std::string>()> remote_notes{};
  // Before a patch set is applied that nobody named; throws where the user does not trust its folder.
  std::function<void(const std::string& package, const std::string& patchset)> on_found_patchset =
      [](const std::string&, const std::string&) {};
};

struct Forecast {
  enum class From : std::uint8_t { nothing, recipe, history } from = From::nothing;
  double seconds = 0;
  std::uint64_t memory_per_job = 0, disk = 0, wheel_size = 0;
};

// What a step has to download first; what the store or this machine has does not count.
struct DownloadForecast {
  std::size_t files = 0, unknown = 0;  // unknown: of these, files whose size no index tells
  std::uint64_t bytes = 0;
};

// What a step waits for.
struct Edge {
  // environment: its wheel is installed into the build environment; alongside: it is built before and delivered with
  // the step, but another one of it would not change the step's wheel.
  enum class Kind : std::uint8_t { environment, alongside } kind = Kind::environment;
  std::string step;       // id
  bool optional = false;  // the step is built without it where it fails
};

// What the plan decided about a step.
struct Decision {
  bool cached = false;
  std::string remote{};  // the URL of the remote store that has it, where this one does not yet
  std::string reason;    // why it is built, or which wheel is in the store
  std::string skipped;   // why it is not built at all; "" for a step that is
  Forecast forecast;
  DownloadForecast download;
};

// For the end of a build.
struct Closing {
  bool asked_for = false;                          // by name, not as a dependency of another
  std::vector<recipe::RuntimeVariable> runtime;    // expanded
  std::vector<recipe::ChecklistItem> checklist;    // expanded
  std::vector<recipe::OtherPlatform> other_rules;  // of the platform asked for, where it is not Linux
  std::vector<std::string> assumptions;            // of an inferred recipe
};

struct Step {
  BuildSpec spec;
  std::vector<Edge> needs;
  Decision decision;
  Closing closing;

  [[nodiscard]] const std::string& id() const { return spec.id; }
  [[nodiscard]] bool is_skipped() const { return !decision.skipped.empty(); }
};

struct Plan {
  std::vector<Step> steps;           // each behind what it needs
  std::vector<std::string> notes;    // what was chosen or assumed, as sentences
  sys::Environment git_variables{};  // by which git finds the mirrors; those with a password are left out
  [[nodiscard]] const Step* find(std::string_view id) const;
};

// Leaves one step and what it needs, which must be cached: `build --only`. `name` is a step's id, or a package of which
// the plan has one step. Throws Error.
void keep_only(Plan& plan, const std::string& name);

// Throws Error for what can be seen to be impossible; doctor says more.
Plan make_plan(const choose::Request& request, const PlanInputs& inputs);

// Seconds of the longest chain of steps behind each, itself included, in the plan's order: what is started first.
std::vector<double> critical_seconds(const Plan& plan);

}  // namespace wheelsmith::plan

template <>
struct wheelsmith::EnumNames<wheelsmith::plan::Forecast::From> {
  static constexpr std::array list = {"", "recipe", "history"};
};
