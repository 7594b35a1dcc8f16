#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "env/env.h"
#include "fetch/fetch.h"
#include "recipe/recipe.h"
#include "run/job.h"
#include "run/outcome.h"
#include "run/step/reporter.h"
#include "store/store.h"
#include "sys/sandbox/sandbox.h"
#include "toolchain/toolchain.h"

// The phases of a step, each a function from what it needs to what it leaves. step.cc lists them in order.
//
//   source       the step's tree: the source unpacked, patched and cleaned, or brought up to date
//   environment  a venv with the locked wheels, toolkits, compilers under the names that builds look for
//   prepare      the recipe's files, commands and late patches; the backend is asked for its requirements   [foreign]
//   build        the backend's hook, inside the tree, in an environment made from nothing                   [foreign]
//   finish       tags that the binaries qualify for, provenance, the archive written anew in canonical form
//   check        our own checks on those bytes, with the plan's architectures, policy and torch
//   test         the recipe's tests in a fresh environment outside the tree                                 [foreign]
//   publish      into the store
//
// An editable install has the user's own folder for a source, and neither a finished wheel nor anything to publish:
// `finish` installs what the backend made into the environment, `test` runs the tests there.

namespace wheelsmith::run {

class ToolRunner;

// What the phases of a step share, and none of them changes.
struct StepServices {
  store::Store& store;
  fetch::Fetcher& fetcher;
  const toolchain::Host& host;
  Reporter& report;
};

// A check or a test says that the wheel is not good.
class WheelRefused : public Error {
 public:
  using Error::Error;
};

struct SourceTree {
  std::filesystem::path tree;     // the step's own folder
  std::filesystem::path source;   // tree/source
  std::filesystem::path package;  // where the package is in it
  bool prepared = false;          // the prepare phase of an earlier run went through
};
// Throws Error where the package's folder is a link out of the source. Foreign code can make it one at any time, and
// what is read, written or removed there is read, written or removed outside of the sandbox.
void refuse_linked_package(const SourceTree& tree);
SourceTree get_source(const Job& job, const StepServices& services);
// The tree's state on disk, from which a later run resumes. A run that ends between the two calls leaves a source that
// nobody knows the state of, and the next one starts clean.
void mark_preparing(const plan::BuildSpec& spec, const SourceTree& tree);
void mark_prepared(const plan::BuildSpec& spec, SourceTree& tree);

struct BuildEnvironment {
  env::Lock lock;
  env::Environment environment;
  std::vector<std::filesystem::path> sites;  // of other environments, behind its own: torch's, ROCm's
  std::filesystem::path toolkit;             // CUDA
  std::filesystem::path rocm;                // its real place; the step sees it as ${tree}/rocm
  std::optional<toolchain::Torch> torch;     // set by prepare
};
BuildEnvironment make_environment(const Job& job, const SourceTree& tree, const StepServices& services);
// The environment again, with more requirements.
void extend_environment(BuildEnvironment& environment, const std::vector<std::string>& more, const Job& job,
                        const SourceTree& tree, const StepServices& services);

void prepare(const Job& job, const recipe::Rules& rules, SourceTree& tree, BuildEnvironment& environment,
             ToolRunner& tools, const StepServices& services);

// The wheel that the backend made.
std::filesystem::path build(const Job& job, const recipe::Recipe& recipe, const SourceTree& tree, ToolRunner& tools,
                            const StepServices& services);

// For an editable install: builds in the source folder itself. Empty where the backend has no build_editable hook and
// `setup.py develop` has linked the folder into the environment already.
std::filesystem::path build_in_place(const Job& job, const SourceTree& tree, const BuildEnvironment& environment,
                                     ToolRunner& tools, const StepServices& services);
// The wheel of the hook into the interpreter's environment, with the wheels of the steps it needs before it.
void install_in_place(const Job& job, const SourceTree& tree, const std::filesystem::path& built,
                      const StepServices& services);

struct FinishedWheel {
  std::filesystem::path path;
  std::string sha256;  // of what was written: checked and published are these bytes or none
  document::Value provenance;
};
// How the foreign code of a step was kept from the machine.
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

// Throws WheelRefused; `findings` are told in either case.
void check(const plan::BuildSpec& spec, const recipe::Rules& rules, const FinishedWheel& wheel,
           const std::optional<toolchain::Torch>& torch, std::vector<Finding>& findings, const StepServices& services);

// Throws WheelRefused; tests and diagnosis of `step` are set in either case. Of an editable install the wheel is the
// backend's, or none.
void test(const Job& job, const recipe::Rules& rules, const SourceTree& tree, const FinishedWheel& wheel,
          const BuildEnvironment& environment, StepOutcome& step, const StepServices& services);

Artifact publish(const Job& job, const FinishedWheel& wheel, const std::vector<TestOutcome>& tests, double seconds,
                 const StepServices& services);

}  // namespace wheelsmith::run
