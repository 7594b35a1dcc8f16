#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/outcome.h"
#include "wheel/compare/compare.h"

// The answer of `wheelsmith reproduce`.

namespace wheelsmith::run {

// What is not as it was recorded.
struct EnvironmentDifference {
  std::string what, recorded, here;
};

struct Reproduction {
  std::filesystem::path path;
  std::string sha256;
  std::vector<EnvironmentDifference> environment;
  std::optional<StepOutcome> build;  // nothing: it could not be started
  std::filesystem::path rebuilt;     // empty where the build failed
  std::string rebuilt_sha256;
  std::optional<wheel::WheelComparison> comparison;

  [[nodiscard]] bool same() const { return comparison && comparison->same_bytes; }
};

}  // namespace wheelsmith::run
