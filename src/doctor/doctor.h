#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/arch.h"
#include "recipe/recipe.h"
#include "sys/files.h"
#include "toolchain/library/library.h"
#include "toolchain/toolchain.h"

// Checks whether this machine can build a package. A build of several hours must not fail at the end for a reason that
// was visible at the start: no Python.h, a GCC that nvcc rejects, 4 GB of memory for a compile that needs 6.5 GB. The
// machine is surveyed once (Facts), the recipe contains the requirements, and each check is a function from both to a
// value, so that it can be tested without a machine. Nothing here throws for a bad machine, and nothing runs code from
// recipes or sources.

namespace wheelsmith::doctor {

// unknown: only the build can tell, or only some packages need it; never a reason to stop.
enum class State : std::uint8_t { good, bad, unknown };
std::string_view to_string(State state);

struct Check {
  std::string id{};  // "python-headers", "host-compiler": the same in every report
  State state = State::good;
  std::string found{}, wanted{};
  std::string why{};  // why it is needed, or why it is unknown
  std::string fix{};  // the command or setting that fixes it, or ""
  // The package and step; empty in the machine report.
  std::string package{}, step{};
};

bool any_bad(const std::vector<Check>& checks);

// A folder that a build writes into.
struct BuildFolder {
  std::string name;  // "store", "temporary", "out"
  std::filesystem::path folder;
  std::uint64_t free = 0;
  std::string problem;  // why it is not writable, or ""
};

// Facts about the machine. After planning, also the choices of the plan.
struct Facts {
  std::optional<toolchain::Compiler> compiler;
  std::optional<toolchain::Cuda> cuda;  // the machine's, whether or not it is used
  std::optional<toolchain::Rocm> rocm;
  // Why there is none, if there is a specific reason (a path given by the user does not exist).
  std::string python_problem, compiler_problem, cuda_problem, rocm_problem, torch_problem;
  bool cuda_named = false;                 // the user gave the toolkit: used even if torch was built with another
  std::string registry_cuda;               // "13.2": the plan installs a toolkit from wheels of the package index
  std::string registry_rocm;               // "7.10.0": likewise ROCm
  std::string rocm_index;                  // the setting; a plan would use it
  std::string package_manager{"apt-get"};  // of the operating system: apt-get, dnf, zypper, …
  // The torch to build against, if known. One that is not installed yet has no folder; its variant is known from cuda
  // or hip, or from the version's label ("2.13.0+cpu").
  std::optional<toolchain::Torch> torch;
  std::map<std::string, toolchain::Program, std::less<>> programs;
  std::map<std::string, toolchain::Program, std::less<>> shadowed;  // programs shadowed by pip's in PATH
  // The libraries that the rules require, found or not.
  std::map<std::string, toolchain::Library, std::less<>> libraries;
  std::vector<toolchain::Gpu> gpus;
  sys::Memory memory;  // total 0: unknown
  std::vector<BuildFolder> places;
  std::string platform;  // --platform; "": the most compatible tag the wheel qualifies for
  unsigned jobs = 0;     // --jobs; 0: as many as memory and cores allow
  bool offline = false;
  bool allow_unsupported_compiler = false;  // the setting of that name
  bool isolates_network = false;
  std::string sandbox_problem{};                  // why no sandbox is possible; "": one is
  std::map<std::string, std::string> settings{};  // values of the recipe's settings
};

struct Paths {
  std::filesystem::path store, temporary, out;  // an empty path is skipped
};

// Surveys compilers, CUDA, ROCm, GPUs, programs (cmake, ninja, git, … and the given ones), memory and disks. The caller
// fills in the user's settings and torch.
Facts collect_facts(const toolchain::Host& where, const Paths& paths, const std::vector<std::string>& programs = {});
// The ROCm that a build for this interpreter would use: its environment may contain one.
void find_rocm_of(Facts& facts, const toolchain::Python& python, const toolchain::Host& where);
// The libraries that the rules require, searched for in the toolkit of the build, in these site-packages folders and on
// the machine. Needs the settings and torch.
void find_required_libraries(Facts& facts, const recipe::Rules& rules, recipe::Variant variant,
                             const std::vector<std::filesystem::path>& sites, const toolchain::Host& where);
// The torch of an environment, or why it is unknown.
void find_torch_of(Facts& facts, const std::filesystem::path& python, const toolchain::Host& where);

// All checks of a build, in display order. An interpreter without an executable was not found (facts.python_problem). A
// variant or target that the recipe does not have is a bad check, not an exception.
std::vector<Check> examine(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                           const gpu::ArchList& archs, const toolchain::Python& python, const Facts& facts);

// The facts as a description for planning on another machine. It includes the environment variables that affect builds.
toolchain::Description describe(const toolchain::Host& where, const Facts& facts);

// Checks the machine itself: only what every build needs can be bad.
std::vector<Check> survey(const std::vector<toolchain::Python>& pythons, const Facts& facts);

}  // namespace wheelsmith::doctor
