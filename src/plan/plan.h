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

// Turns a request into a graph of steps. A step is one package for one Python, variant and arch list; its key is a
// digest of everything that determines its result. Planning finds the version of the source, the wheels of the build
// environment, the torch and the toolkit, without running any code from recipes or sources. The results are stored, so
// that planning the same again starts no process.

namespace wheelsmith::plan {

// The inputs of planning.
struct PlanInputs {
  store::Store& store;
  fetch::Fetcher& fetcher;
  const recipe::Library& recipes;
  toolchain::Host host;
  std::filesystem::path recipe_folder;                 // folder of the user's recipes, for their patches
  std::filesystem::path patch_folder{};                // folder of patch sets, by package
  std::vector<std::filesystem::path> example_folders;  // folders that may contain the shipped examples
  std::function<void(const std::string&)> on_progress = [](const std::string&) {};
  // Asks the remote stores for the result of a key: the store's URL and the wheel's name. Does not throw.
  struct RemoteResult {
    std::string url, wheel_name;
  };
  std::function<std::optional<RemoteResult>(const std::string& key)> find_remote{};
  // Problems of the remote stores, which become notes of the plan.
  std::function<std::vector<std::string>()> remote_notes{};
  // Called before applying a patch set that the user did not select; throws if the user does not trust its folder.
  std::function<void(const std::string& package, const std::string& patchset)> on_found_patchset =
      [](const std::string&, const std::string&) {};
};

struct Forecast {
  enum class From : std::uint8_t { nothing, recipe, history } from = From::nothing;
  double seconds = 0;
  std::uint64_t memory_per_job = 0, disk = 0, wheel_size = 0;
};

// The downloads of a step, without files that are in the store or on this machine.
struct DownloadForecast {
  std::size_t files = 0, unknown = 0;  // unknown: number of files without a known size
  std::uint64_t bytes = 0;
};

// A dependency of a step.
struct Edge {
  // environment: its wheel is installed into the build environment; alongside: it is built before the step and
  // delivered with it, but does not affect the step's wheel.
  enum class Kind : std::uint8_t { environment, alongside } kind = Kind::environment;
  std::string step;       // id
  bool optional = false;  // if it fails, the step is built without it
};

// The plan's decision about a step.
struct Decision {
  bool cached = false;
  // The early cut-off (src/plan/cutoff.h): the key of the earlier step whose wheel is used, and the packages that were
  // rebuilt since; "" for none.
  std::string kept_key{};
  std::vector<std::string> rebuilt{};
  std::string remote{};  // the URL of a remote store that has the result, if the local store does not
  std::string reason;    // why it is built, or which wheel is in the store
  std::string skipped;   // why it is skipped, or ""
  Forecast forecast;
  DownloadForecast download;
};

// Data for the end of a build.
struct Closing {
  bool asked_for = false;                          // requested by the user, not only as a dependency
  std::vector<recipe::RuntimeVariable> runtime;    // expanded
  std::vector<recipe::ChecklistItem> checklist;    // expanded
  std::vector<recipe::OtherPlatform> other_rules;  // for the requested platform, if it is not Linux
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
  std::vector<Step> steps;           // dependencies first
  std::vector<std::string> notes;    // choices and assumptions
  sys::Environment git_variables{};  // configure git's mirrors; variables with a password are omitted
  [[nodiscard]] const Step* find(std::string_view id) const;
};

// Reduces the plan to one step and its dependencies, which must be cached: `build --only`. `name` is a step's id, or a
// package with a single step in the plan. Throws Error.
void keep_only(Plan& plan, const std::string& name);

// Throws Error for a plan that is impossible; doctor reports details.
Plan make_plan(const choose::Request& request, const PlanInputs& inputs);

// For each step, in the plan's order: the length in seconds of the longest chain of dependents, including itself. Steps
// with longer chains start first.
std::vector<double> critical_seconds(const Plan& plan);

}  // namespace wheelsmith::plan

template <>
struct wheelsmith::EnumNames<wheelsmith::plan::Forecast::From> {
  static constexpr std::array list = {"", "recipe", "history"};
};
