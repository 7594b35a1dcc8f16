#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "choose/request.h"
#include "plan/plan.h"
#include "run/local_executor.h"
#include "run/reproduction.h"
#include "run/run.h"
#include "source/source.h"

// `wheelsmith reproduce`: rebuilds a wheel from the data in it (recipe, specification, hashes of its sources and its
// build environment), in a fresh tree, without the compile cache and the stored result, and compares the two.

namespace wheelsmith::build {

struct ReproduceOptions {
  run::RunOptions run;  // `out`: folder of the rebuilt wheel
  run::LocalOptions local;
  std::vector<std::string> pythons;
  std::optional<source::Override> source;
  std::map<std::string, std::string> variables;
  choose::ContainerImage container;
  std::filesystem::path torch;
  std::vector<std::filesystem::path> wheel_folders;
};

// Throws Error for a wheel that cannot be rebuilt here: not built by wheelsmith, built by an older version, or inputs
// not found. A failed build is part of the result.
run::Reproduction reproduce(const std::filesystem::path& wheel, const plan::PlanInputs& inputs,
                            const ReproduceOptions& options);

}  // namespace wheelsmith::build
