#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "env/env.h"
#include "fetch/fetch.h"
#include "recipe/recipe.h"
#include "run/job.h"
#include "run/outcome.h"
#include "run/step/reporter.h"
#include "store/store.h"
#include "sys/sandbox/sandbox.h"
#include "toolchain/toolchain.h"

// The phases of a step, each a function from inputs to outputs. step.cc lists them in order.
//
//   source       the step's tree: the source unpacked, patched and cleaned, or updated
//   environment  a venv with the locked wheels, toolkits, and compilers under the names that builds look for
//   prepare      the recipe's files, commands and late patches; the backend's extra requirements            [foreign]
//   build        the backend's hook, inside the tree, with a clean set of variables                         [foreign]
//   finish       tags that the binaries qualify for, provenance, the archive rewritten in canonical form
//   check        Wheelsmith's own checks of those bytes, with the plan's architectures, policy and torch
//   test         the recipe's tests in a fresh environment outside the tree                                 [foreign]
//   publish      into the store
//
// An editable install uses the user's own folder as source, and neither finishes nor publishes a wheel: `finish`
// installs the backend's output into the environment, and `test` runs the tests there.

namespace wheelsmith::run {

class ToolRunner;

// State shared by all phases and changed by none.
struct StepServices {
  store::Store& store;
  fetch::Fetcher& fetcher;
  const toolchain::Host& host;
  Reporter& report;
};

// A check or a test rejected the wheel.
class WheelRefused : public Error {
 public:
  using Error::Error;
};

struct SourceTree {
  std::filesystem::path tree;     // the step's folder
  std::filesystem::path source;   // tree/source
  std::filesystem::path package;  // the package inside it
  bool prepared = false;          // an earlier run completed the prepare phase
};
// Throws Error where the package's folder is a link out of the source. Foreign code can create such a link at any time;
// reads, writes and deletions through it would happen outside the sandbox.
void refuse_linked_package(const SourceTree& tree);
SourceTree get_source(const Job& job, const StepServices& services);
// The tree's state on disk, from which a later run resumes. A run that ends between the two calls leaves a source in an
// unknown state, and the next run starts clean.
void mark_preparing(const plan::BuildSpec& spec, const SourceTree& tree);
void mark_prepared(const plan::BuildSpec& spec, SourceTree& tree);

struct BuildEnvironment {
  env::Lock lock;
  env::Environment environment;
  std::vector<std::filesystem::path> sites;  // of further environments, searched after its own: torch's, ROCm's
  std::filesystem::path toolkit;             // CUDA
  std::filesystem::path rocm;                // its real path; the step sees it as ${tree}/rocm
  std::optional<toolchain::Torch> torch;     // set by prepare
};
BuildEnvironment make_environment(const Job& job, const SourceTree& tree, const StepServices& services);
// Recreates the environment with more requirements.
void extend_environment(BuildEnvironment& environment, const std::vector<std::string>& more, const Job& job,
                        const SourceTree& tree, const StepServices& services);

void prepare(const Job& job, const recipe::Rules& rules, SourceTree& tree, BuildEnvironment& environment,
             ToolRunner& tools, const StepServices& services);

// The wheel that the backend built.
std::filesystem::path build(const Job& job, const recipe::Recipe& recipe, const SourceTree& tree, ToolRunner& tools,
                            const StepServices& services);

// For an editable install: builds in the source folder itself. Empty if the backend has no build_editable hook and
// `setup.py develop` has already linked the folder into the environment.
std::filesystem::path build_in_place(const Job& job, const SourceTree& tree, const BuildEnvironment& environment,
                                     ToolRunner& tools, const StepServices& services);
// Installs the hook's wheel into the interpreter's environment, after the wheels of the steps it depends on.
void install_in_place(const Job& job, const SourceTree& tree, const std::filesystem::path& built,
                      const StepServices& services);

struct FinishedWheel {
  std::filesystem::path path;
  std::string sha256;  // of the written file: exactly these bytes are checked and published
  document::Value provenance;
};
// How a step's foreign code was confined.
struct Confinement {
  sys::SandboxMode sandbox = sys::SandboxMode::off;
  bool network_isolated = false;
};
struct FinishInputs {
  const plan::BuildSpec& spec;
  const recipe::Rules& rules;
  const std::filesystem::path& built;
  const BuildEnvironment& environment;
  Confinement confinement;
};
FinishedWheel finish(const FinishInputs& inputs, const StepServices& services);

// Throws WheelRefused; `findings` are reported in either case.
void check(const plan::BuildSpec& spec, const recipe::Rules& rules, const FinishedWheel& wheel,
           const std::optional<toolchain::Torch>& torch, std::vector<Finding>& findings, const StepServices& services);

// Throws WheelRefused; tests and diagnosis of `step` are set in either case. For an editable install the wheel is the
// backend's, or none.
void test(const Job& job, const recipe::Rules& rules, const SourceTree& tree, const FinishedWheel& wheel,
          const BuildEnvironment& environment, StepOutcome& step, const StepServices& services);

// What the build has used of the wheels of other steps, besides what it was given.
struct BuildView {
  // SHA-256 of the files that its compiles have read; none: not known.
  std::optional<std::set<std::string>> headers_read{};
  bool may_copy_libraries = false;  // the repair copies libraries into the wheel
};
Artifact publish(const Job& job, const FinishedWheel& wheel, const std::vector<TestOutcome>& tests, double seconds,
                 const BuildView& view, const StepServices& services);

}  // namespace wheelsmith::run
