#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fetch/fetch.h"
#include "recipe/recipe.h"
#include "run/job.h"
#include "run/outcome.h"
#include "store/store.h"
#include "toolchain/toolchain.h"

// Runs a recipe's tests of a wheel in an environment with its dependencies: at the end of a step, and again by
// `wheelsmith test`.

namespace wheelsmith::run {

struct TestBench {
  const recipe::Rules& rules;
  const toolchain::Python& python;
  recipe::Variant variant;
  gpu::ArchList archs{};  // that the wheel was built for
  std::filesystem::path wheel;
  std::filesystem::path source{};           // for tests that use its files; "" without one
  std::filesystem::path source_root{};      // canonical; contains `source`; links must not leave it
  std::vector<std::string> requirements{};  // beyond the wheel's own: the torch it was built with
  std::vector<std::string> constraints{};
  std::vector<std::filesystem::path> wheelhouses{};
  bool in_place = false;  // test the package where it is installed: in the interpreter's environment
  bool isolated = true;   // false: install only wheels of other steps; `torch_sites` has the rest
  std::vector<std::filesystem::path> torch_sites{};
  std::vector<std::string> index_urls{};
  bool prereleases = false, offline = false;
  store::Store& store;
  fetch::Fetcher& fetcher;
  const toolchain::Host& host;
  SandboxOptions sandbox{};
  std::function<void(const std::string&)> log = [](const std::string&) {};
};
// All tests as not run, for --no-test.
std::vector<TestOutcome> untested(const recipe::Rules& rules);
std::vector<TestOutcome> run_tests(const TestBench& bench);
// Requirements of the wheel that the interpreter's environment does not have.
std::vector<std::string> requirements_missing_in(const toolchain::Python& python, const std::filesystem::path& wheel);

// Reruns the tests that a wheel carries in its dist-info on this machine, in a fresh environment of `python`.
struct WheelTest {
  std::string path;
  std::string error;
  std::vector<TestOutcome> tests;
  std::vector<Finding> findings;  // compiled architectures compared with this machine's devices
  [[nodiscard]] bool good() const;
};
WheelTest test_wheel(const std::filesystem::path& wheel, const toolchain::Python& python, store::Store& store,
                     fetch::Fetcher& fetcher, const toolchain::Host& host, const SandboxOptions& sandbox, bool offline);

}  // namespace wheelsmith::run
