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

// `wheelsmith reproduce`: a wheel built again from what it carries (recipe, specification, hashes of its sources and of
// its build environment), in a fresh tree, without the compile cache and without the store's result, and compared.

namespace wheelsmith::build {

struct ReproduceOptions {
  run::RunOptions run;  // `out` is where the rebuilt wheel goes
  run::LocalOptions local;
  std::vector<std::string> pythons;
  std::optional<source::Override> source;
  std::map<std::string, std::string> variables;
  choose::ContainerImage container;
  std::filesystem::path torch;
  std::vector<std::filesystem::path> wheel_folders;
};

// Throws Error for a wheel that cannot be rebuilt here: not built by wheelsmith, an older version of it, inputs that
// cannot be found. A build that fails is part of the answer.
run::Reproduction reproduce(const std::filesystem::path& wheel, const plan::PlanInputs& inputs,
                            const ReproduceOptions& options);

}  // namespace wheelsmith::build
