#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/outcome.h"
#include "wheel/compare/compare.h"

// The result of `wheelsmith reproduce`.

namespace wheelsmith::run {

// Differences from the recorded build.
struct EnvironmentDifference {
  std::string what, recorded, here;
};

struct Reproduction {
  std::filesystem::path path;
  std::string sha256;
  std::vector<EnvironmentDifference> environment;
  std::optional<StepOutcome> build;  // empty: the build could not be started
  std::filesystem::path rebuilt;     // empty when the build failed
  std::string rebuilt_sha256;
  std::optional<wheel::WheelComparison> comparison;

  [[nodiscard]] bool same() const { return comparison && comparison->same_bytes; }
};

}  // namespace wheelsmith::run
