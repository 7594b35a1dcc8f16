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

// The recipe's tests of a wheel, in an environment with what it requires: at the end of a step, and again by
// `wheelsmith test`.

namespace wheelsmith::run {

struct TestBench {
  const recipe::Rules& rules;
  const toolchain::Python& python;
  recipe::Variant variant;
  gpu::ArchList archs{};  // that it was built for
  std::filesystem::path wheel;
  std::filesystem::path source{};           // for tests that take files of it; "" where there is none
  std::filesystem::path source_root{};      // canonical; what `source` is in, and its links must not leave
  std::vector<std::string> requirements{};  // more than the wheel's own: the torch it was built with
  std::vector<std::string> constraints{};
  std::vector<std::filesystem::path> wheelhouses{};
  bool in_place = false;  // it is installed in the interpreter's own environment, and tested there
  bool isolated = true;   // false: nothing is installed but the wheels of other steps, and `torch_sites` have the rest
  std::vector<std::filesystem::path> torch_sites{};
  std::vector<std::string> index_urls{};
  bool prereleases = false, offline = false;
  store::Store& store;
  fetch::Fetcher& fetcher;
  const toolchain::Host& host;
  SandboxOptions sandbox{};
  std::function<void(const std::string&)> log = [](const std::string&) {};
};
// All of them as not run, for --no-test.
std::vector<TestOutcome> untested(const recipe::Rules& rules);
std::vector<TestOutcome> run_tests(const TestBench& bench);
// What the wheel requires and the interpreter's environment does not have.
std::vector<std::string> requirements_missing_in(const toolchain::Python& python, const std::filesystem::path& wheel);

// The tests that a wheel carries in its dist-info, again, on this machine, in a fresh environment of `python`.
struct WheelTest {
  std::string path;
  std::string error;
  std::vector<TestOutcome> tests;
  std::vector<Finding> findings;  // compiled architectures against the devices that are here
  [[nodiscard]] bool good() const;
};
WheelTest test_wheel(const std::filesystem::path& wheel, const toolchain::Python& python, store::Store& store,
                     fetch::Fetcher& fetcher, const toolchain::Host& host, const SandboxOptions& sandbox, bool offline);

}  // namespace wheelsmith::run
