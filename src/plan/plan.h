#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "env/env.h"
#include "fetch/fetch.h"
#include "gpu/arch.h"
#include "recipe/recipe.h"
#include "source/source.h"
#include "store/store.h"
#include "toolchain/toolchain.h"

// From what was asked for to a graph of steps. A step is one package for one Python, variant and arch list, with all
// that decides its result written down: that is its key. Whatever has to be found out for it (the version of a source,
// the wheels of a build environment, the torch, the toolkit) is found out here, without running anything that a recipe
// or a source brings, and remembered, so that the same plan made again starts no process.

namespace wheelsmith::plan {

struct Request {
  std::vector<std::string> packages;
  std::vector<recipe::Variant> variants;  // empty: as the GPUs that are here
  std::string target;
  std::vector<gpu::ArchList>
      archs;  // each list is a wheel of its own; empty: the GPUs that are here, else the recipe's
  std::vector<std::string> pythons;  // empty: the python3 of PATH
  std::string torch;                 // version, CHANNEL/VARIANT, path of a wheel, folder or interpreter; "": the newest
  std::string torch_index;           // of channels, with {channel} and {variant}
  // Of ROCm's wheels, with {channel} and {family}; "": none is asked. The version as specifiers.
  std::string rocm_index, rocm_channel, rocm_requirement;
  std::vector<source::Override> sources;
  std::vector<std::pair<std::string, std::string>> refs;  // --ref: recipe ("" for the only package), ref
  std::string platform;                                   // "manylinux_2_28"; "": the best that the wheel deserves
  std::string build_type = "release";
  std::map<std::string, std::string> set;          // recipe settings
  std::map<std::string, std::string> environment;  // --env, --env-file
  std::vector<std::filesystem::path> wheelhouses;  // find-links for needs and torch
  std::string network = "recipe";
  bool verbose = false, upgrade = false, offline = false;
};

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
};

struct TorchChoice {
  enum class Kind { none, requirement, environment } kind = Kind::none;
  std::string requirement;                         // "torch==2.13.0"
  std::vector<std::string> index_urls;             // of a channel
  std::vector<std::filesystem::path> wheelhouses;  // of a wheel on disk
  bool prereleases = false;
  std::filesystem::path python;  // environment: its interpreter
};

struct Forecast {
  double seconds = 0;
  std::uint64_t memory_per_job = 0, disk = 0, wheel_size = 0;
  std::string from;  // "history", "recipe", "" (nothing is known)
};

// What the package's own configuration would clone: brought beside the source before, at this commit.
struct FetchedSource {
  std::string name;
  source::Pin pin;
  std::string variable, subfolder;
};

// Everything a step process needs; also a document (to_value), since a step may run on another machine. Paths of ours
// stand as ${tree}, ${env}, ${toolkit}, ${store} in it, so that the key does not depend on where the store is.
struct Step {
  std::string id;        // "texture-cuda-cp311-8.0;9.0": unique in the plan
  std::string identity;  // what trees and history belong to
  std::string package;   // the recipe's name
  std::string project, version;
  recipe::Variant variant = recipe::Variant::cpu;
  std::string target;
  gpu::ArchList archs;
  std::string recipe_text, recipe_origin;
  std::vector<std::string> assumptions;

  toolchain::Python python;
  source::Pin source;
  std::vector<source::Patch> patches;
  std::vector<FetchedSource> fetches;
  std::vector<std::pair<std::string, std::string>> files;  // written into the source: path, text
  std::vector<std::vector<std::string>> prepare;           // commands before the backend is called
  std::vector<std::string> requirements;                   // of the build environment
  env::Lock lock;                                          // of those, unless the step needs the wheels of others
  TorchChoice torch;
  std::string torch_version, torch_cuda, torch_hip;  // as the lock says, "" when not known yet
  std::string cc, cxx;
  std::string compiler_family;
  std::string cuda_root;      // a toolkit of the machine …
  std::string registry_cuda;  // … or the version of one made from the registry, "13.2"
  std::string cuda_version;   // of either
  // ROCm: the machine's folder, or the version of one made from an index' wheels. The rest is relative to its root.
  std::string rocm_root, registry_rocm, rocm_version;
  std::string rocm_index;                         // where those wheels come from,
  env::Lock rocm_lock;                            // and which they are: an environment beside the step's own
  std::string rocm_clang, rocm_device_libraries;  // "lib/llvm/bin", "lib/llvm/amdgcn/bitcode"
  std::map<std::string, std::string> programs;    // linked into the step's PATH: "cmake" -> path

  std::vector<std::pair<std::string, std::string>> environment;           // decides the result
  std::vector<std::pair<std::string, std::string>> volatile_environment;  // does not: jobs, verbosity
  std::vector<std::pair<std::string, std::string>> config;
  std::vector<std::string> options;
  std::string platform, build_type;
  bool network = false, verbose = false;

  store::Manifest manifest;
  std::string key;
  std::vector<std::string> needs;                    // ids of steps
  std::vector<std::string> companions;               // of those: no part of the build environment
  std::vector<std::string> optional;                 // of those: it is built without them where they fail
  std::vector<std::string> published;                // recipes whose published wheel is taken instead of a step
  std::map<std::string, std::string> need_versions;  // of what it needs, by recipe, as far as known
  bool asked_for = false;                            // by name, not as a need of another
  std::string skipped;                               // why it is not built at all; "" for what is
  bool cached = false;
  bool uncacheable =
      false;           // it, or a step it needs, comes from a folder that is being worked on: never into the store
  std::string reason;  // why it is built, or since when it is there
  Forecast forecast;
  std::vector<recipe::RuntimeVariable> runtime;    // expanded
  std::vector<recipe::ChecklistItem> checklist;    // expanded
  std::vector<recipe::OtherPlatform> other_rules;  // of the platform asked for, where it is none of Linux

  [[nodiscard]] document::Value to_value() const;
  static Step from_value(const document::Value& value);
};

struct Plan {
  std::vector<Step> steps;           // each behind what it needs
  std::vector<std::string> notes;    // what was chosen or assumed, as sentences
  sys::Environment git_variables{};  // by which git finds the mirrors; those with a password are left out
  [[nodiscard]] const Step* find(std::string_view id) const;
};

// Throws Error for what can be seen to be impossible; doctor says more.
Plan make_plan(const Request& request, const PlanInputs& inputs);

// Seconds of the longest chain of steps behind each, itself included: what is started first.
std::map<std::string, double> critical_seconds(const Plan& plan);

// A plain bash script that does by hand what the plan does: the same environment, the same commands, the same wheel but
// for the tag and the provenance that only we put in.
std::string to_script(const Plan& plan, const store::Store& store);
std::string to_containerfile(const Plan& plan, const std::string& base_image);
std::string to_dot(const Plan& plan);

}  // namespace wheelsmith::plan
