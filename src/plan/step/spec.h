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

// The specification of a step: everything that its process needs, on this machine or another. It can be converted to a
// document (to_value, from_value; spec_fields.h lists every member), and contains the work as an ordered list of
// actions: `run` executes that list, `plan --script` prints it, the key hashes it. Build paths are written as ${tree},
// ${env}, ${toolkit}, ${rocm}, ${torch} and ${store}, so that a key does not depend on the location of the store.

namespace wheelsmith::plan {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The phases of a step, in order.
enum class Phase : std::uint8_t { source, environment, prepare, build, finish, check, test, publish };
std::string_view to_string(Phase phase);
// Whether code of the package, its recipe or its dependencies runs in the phase. In the others, only wheelsmith's code
// runs.
bool runs_foreign_code(Phase phase);

// Checks out a repository that the package's configure step would clone, at ${tree}/fetched/NAME.
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
  bool network = false;  // it downloads inputs of the build; the build itself may still have no network
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
  Pairs config;                      // a key may occur several times
  std::vector<std::string> dropped;  // normalized names of backend requirements that are not installed
};

// Packages wheelsmith itself as a wheel.
struct PackProgram {
  static constexpr std::string_view kind = "pack-program";
};

struct Action {
  Phase phase = Phase::build;
  std::variant<FetchSource, ApplyPatch, RemoveFiles, WriteFile, RunCommand, CallHook, PackProgram> what;
};
// The folder of a source of FetchSource.
std::string fetched_folder(std::string_view name);

// The contents of the build environment.
struct EnvironmentSpec {
  std::vector<std::string> requirements;
  env::Lock lock;             // of the requirements …
  bool resolve_late = false;  // … unless wheels of other steps are among them: then it is resolved in the step
  choose::TorchChoice torch;
  choose::TorchBuild torch_build;  // if known
  // --no-build-isolation: the interpreter's packages instead of the wheels of a lock; they are part of the key, too.
  bool isolated = true;
  std::vector<env::InstalledPackage> installed;
};

// A toolkit of the machine (root), or the version of one installed from wheels of an index.
struct CudaSpec {
  std::string root, index_version, version;
};

struct RocmSpec {
  std::string root, index_version, version;
  std::string index;                    // package index of its wheels
  env::Lock lock;                       // its wheels, installed in a separate environment
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
  Pairs fixed;  // part of the key
  Pairs loose;  // not part of the key: jobs, verbosity
};

struct BuildSpec {
  std::string id;        // "texture-cuda-cp311-8.0;9.0": unique in the plan
  std::string identity;  // the owner of trees and history
  std::string package;   // the recipe's name
  std::string project, version;
  std::string wheel_version;  // with its local label; "" if only the build can tell
  recipe::Variant variant = recipe::Variant::cpu;
  std::string target;
  gpu::ArchList archs;
  std::string platform, build_type;
  choose::ContainerImage container;
  std::string recipe_text, recipe_origin;
  toolchain::Python python;
  source::Pin source;
  std::string subfolder;  // folder of the package in its source
  EnvironmentSpec environment;
  ToolSpec tools;
  VariableSpec variables;
  std::vector<Action> actions;
  bool network = false, verbose = false;
  bool uncacheable = false;  // the source of it or of a dependency is a local folder
  // --editable: built in that folder itself and linked into the interpreter's environment, without a wheel.
  bool editable = false;
  store::Manifest manifest;
  std::string key;

  [[nodiscard]] document::Value to_value() const;
  static BuildSpec from_value(const document::Value& value);               // throws Error
  [[nodiscard]] const std::string* variable(std::string_view name) const;  // a fixed variable; null if it is not set
  // The actions of one kind, in order; with their phases if needed.
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
