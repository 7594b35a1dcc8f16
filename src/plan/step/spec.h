#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.h"
#include "choose/torch.h"
#include "document/value.h"
#include "env/env.h"
#include "env/installed.h"
#include "gpu/arch.h"
#include "recipe/recipe.h"
#include "source/source.h"
#include "store/manifest.h"
#include "toolchain/library/library.h"
#include "toolchain/toolchain.h"

// A step as a specification: everything that its process needs to know, on this machine or on another. It is a document
// (to_value, from_value; spec_fields.h lists every member), and it holds what will be done as an ordered list of
// actions: `run` executes that list, `plan --script` prints it, the key hashes it.
//
// Our own paths stand in it as ${tree}, ${env}, ${toolkit}, ${rocm}, ${torch} and ${store}, so that a key does not
// depend on where the store is.

namespace wheelsmith::plan {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The phases of a step, in order.
enum class Phase : std::uint8_t { source, environment, prepare, build, finish, check, test, publish };
std::string_view to_string(Phase phase);
// Whether code of the package, of its recipe or of its dependencies runs in it. In the others only ours does.
bool runs_foreign_code(Phase phase);

// Checks out, at ${tree}/fetched/NAME, what the package's own configuration would clone.
struct FetchSource {
  static constexpr std::string_view kind = "fetch-source";
  std::string name;
  source::Pin pin;
};

struct ApplyPatch {
  static constexpr std::string_view kind = "apply-patch";
  source::Patch patch;
};

// Removes files and folders below the package's folder that match a shell pattern.
struct RemoveFiles {
  static constexpr std::string_view kind = "remove-files";
  std::vector<std::string> patterns;
};

// Below the package's folder.
struct WriteFile {
  static constexpr std::string_view kind = "write-file";
  std::string path, text;
};

// In the package's folder.
struct RunCommand {
  static constexpr std::string_view kind = "run-command";
  std::vector<std::string> argv;
  bool network = false;  // it downloads what the build uses; the build itself may still have no network
};

// Calls a PEP 517 hook of the package's backend, in the package's folder.
struct CallHook {
  static constexpr std::string_view kind = "call-hook";
  enum class Hook : std::uint8_t {
    get_requires_for_build_wheel,
    build_wheel,
    get_requires_for_build_editable,
    build_editable,  // a backend without it (setuptools before 64) gets `setup.py develop` instead
  } hook = Hook::build_wheel;
  Pairs config;                      // a key may repeat
  std::vector<std::string> dropped;  // normalized names that the backend may ask for and does not get
};

// Packs our own program as a wheel.
struct PackProgram {
  static constexpr std::string_view kind = "pack-program";
};

struct Action {
  Phase phase = Phase::build;
  std::variant<FetchSource, ApplyPatch, RemoveFiles, WriteFile, RunCommand, CallHook, PackProgram> what;
};
// Where FetchSource puts a source.
std::string fetched_folder(std::string_view name);

// What the build environment consists of.
struct EnvironmentSpec {
  std::vector<std::string> requirements;
  env::Lock lock;             // of the requirements …
  bool resolve_late = false;  // … unless wheels of other steps are among them: then it is resolved in the step
  choose::TorchChoice torch;
  choose::TorchBuild torch_build;  // as far as it is known
  // --no-build-isolation: the interpreter's own packages instead of a lock's wheels; they decide the result, too.
  bool isolated = true;
  std::vector<env::InstalledPackage> installed;
};

// A toolkit of the machine (root), or the version of one made from an index's wheels.
struct CudaSpec {
  std::string root, index_version, version;
};

struct RocmSpec {
  std::string root, index_version, version;
  std::string index;                    // where its wheels come from
  env::Lock lock;                       // which they are: an environment beside the step's own
  std::string clang, device_libraries;  // below the root: "lib/llvm/bin", "lib/llvm/amdgcn/bitcode"
};

struct ToolSpec {
  std::string cc, cxx, compiler_family, compiler_version;
  std::map<std::string, std::string> programs;  // linked into the step's PATH: "cmake" -> path
  CudaSpec cuda;
  RocmSpec rocm;
  std::vector<toolchain::Library> libraries;  // that the rules require; linked to ${tree}/libraries/NAME
};

struct VariableSpec {
  Pairs fixed;  // decide the result
  Pairs loose;  // do not: jobs, verbosity
};

struct BuildSpec {
  std::string id;        // "texture-cuda-cp311-8.0;9.0": unique in the plan
  std::string identity;  // what trees and history belong to
  std::string package;   // the recipe's name
  std::string project, version;
  std::string wheel_version;  // with its local part; "" where only the build can tell
  recipe::Variant variant = recipe::Variant::cpu;
  std::string target;
  gpu::ArchList archs;
  std::string platform, build_type;
  choose::ContainerImage container;
  std::string recipe_text, recipe_origin;
  toolchain::Python python;
  source::Pin source;
  std::string subfolder;  // where the package is below its source
  EnvironmentSpec environment;
  ToolSpec tools;
  VariableSpec variables;
  std::vector<Action> actions;
  bool network = false, verbose = false;
  bool uncacheable = false;  // it, or a step it needs, comes from a folder that is being worked on
  // --editable: it is built in that folder itself, and linked into the interpreter's environment instead of becoming a
  // wheel.
  bool editable = false;
  store::Manifest manifest;
  std::string key;

  [[nodiscard]] document::Value to_value() const;
  static BuildSpec from_value(const document::Value& value);               // throws Error
  [[nodiscard]] const std::string* variable(std::string_view name) const;  // fixed; null when it is not set
  // The actions of one kind, in order; with their phases where they matter.
  template <class What>
  [[nodiscard]] std::vector<const What*> all(Phase phase) const {
    std::vector<const What*> found;
    for (const Action& action : actions) {
      if (action.phase != phase) continue;
      if (const What* what = std::get_if<What>(&action.what)) found.push_back(what);
    }
    return found;
  }
};

}  // namespace wheelsmith::plan

template <>
struct wheelsmith::EnumNames<wheelsmith::plan::Phase> {
  static constexpr std::array list = {"source", "environment", "prepare", "build",
                                      "finish", "check",       "test",    "publish"};
};

template <>
struct wheelsmith::EnumNames<wheelsmith::plan::CallHook::Hook> {
  static constexpr std::array list = {"get_requires_for_build_wheel", "build_wheel", "get_requires_for_build_editable",
                                      "build_editable"};
};
