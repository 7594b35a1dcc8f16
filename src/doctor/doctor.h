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

// Can this machine build it? A build of hours must not fail at its end for what could be seen before it began: no
// Python.h, a GCC that nvcc refuses, 4 GB of memory for a compile of 6.5. What is here is looked at once (Facts), what
// is wanted stands in the recipe, and each check is a function from both to a value, so that a check needs no machine
// to be tested. Nothing here throws for a bad machine, and nothing runs what a recipe or a source brings.

namespace wheelsmith::doctor {

// unknown: it cannot be told before the build, or it matters only to some; never a reason to stop.
enum class State : std::uint8_t { good, bad, unknown };
std::string_view to_string(State state);

struct Check {
  std::string id{};  // "python-headers", "host-compiler": the same word in every report
  State state = State::good;
  std::string found{}, wanted{};
  std::string why{};  // why it is wanted, or why it is not known
  std::string fix{};  // the command or the setting that mends it; "" where nothing has to be mended
  // What it was asked for; empty in the report of the machine.
  std::string package{}, step{};
};

bool any_bad(const std::vector<Check>& checks);

// A folder that a build writes into.
struct BuildFolder {
  std::string name;  // "store", "temporary", "out"
  std::filesystem::path folder;
  std::uint64_t free = 0;
  std::string problem;  // why nothing can be written there; "" when it can
};

// What was found out. A plan that has chosen already puts its choices here.
struct Facts {
  std::optional<toolchain::Compiler> compiler;
  std::optional<toolchain::Cuda> cuda;  // of the machine, whether it will be used or not
  std::optional<toolchain::Rocm> rocm;
  // Why there is none, where there is more to say than that (one that the user named is not there).
  std::string python_problem, compiler_problem, cuda_problem, rocm_problem, torch_problem;
  bool cuda_named = false;    // the user named the toolkit: it is taken even where torch was built with another
  std::string registry_cuda;  // "13.2": a plan has chosen a toolkit out of the registry's wheels
  std::string registry_rocm;  // "7.10.0": likewise a ROCm out of an index' wheels
  std::string rocm_index;     // the setting: a plan would look there
  std::string package_manager{"apt-get"};  // of the operating system: apt-get, dnf, zypper, …
  // The torch to build against, as far as it is known. One that is not installed yet has no folder; its variant is
  // known when cuda or hip say it, or the version's label does ("2.13.0+cpu").
  std::optional<toolchain::Torch> torch;
  std::map<std::string, toolchain::Program, std::less<>> programs;
  std::map<std::string, toolchain::Program, std::less<>> shadowed;  // those behind one of pip's in PATH
  // The libraries that the rules at hand require, found or not.
  std::map<std::string, toolchain::Library, std::less<>> libraries;
  std::vector<toolchain::Gpu> gpus;
  sys::Memory memory;  // total 0: not known
  std::vector<BuildFolder> places;
  std::string platform;  // --platform; "" for the best that the wheel deserves
  unsigned jobs = 0;     // --jobs; 0 for what memory and cores allow
  bool offline = false;
  bool allow_unsupported_compiler = false;  // the setting of that name
  bool isolates_network = false;
  std::map<std::string, std::string> settings{};  // of the recipe, as chosen
};

struct Paths {
  std::filesystem::path store, temporary, out;  // an empty one is not looked at
};

// Compilers, CUDA, ROCm, GPUs, programs (cmake, ninja, git, … and those named), memory and disks. What the user's
// settings say, and torch, are the caller's to fill in.
Facts look_around(const toolchain::Host& where, const Paths& paths, const std::vector<std::string>& programs = {});
// The ROCm that a build for this interpreter would take: its environment may bring one.
void look_at_rocm(Facts& facts, const toolchain::Python& python, const toolchain::Host& where);
// The libraries that the rules require, in the toolkit that they would be built with, in these folders of site-packages
// and on the machine. Wants the settings and torch.
void look_at_libraries(Facts& facts, const recipe::Rules& rules, recipe::Variant variant,
                       const std::vector<std::filesystem::path>& sites, const toolchain::Host& where);
// The torch of an environment, or why it cannot be told.
void look_at_torch(Facts& facts, const std::filesystem::path& python, const toolchain::Host& where);

// Everything that building this needs, in the order of reading. An interpreter without an executable is one that was
// not found (facts.python_problem). A variant or target that the recipe does not have is a bad check, not a throw.
std::vector<Check> examine(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                           const gpu::ArchList& archs, const toolchain::Python& python, const Facts& facts);

// What was found, as a description that another machine can plan for. Of the environment it holds what steers builds.
toolchain::Description describe(const toolchain::Host& where, const Facts& facts);

// The machine by itself: bad is only what every build needs.
std::vector<Check> survey(const std::vector<toolchain::Python>& pythons, const Facts& facts);

}  // namespace wheelsmith::doctor
