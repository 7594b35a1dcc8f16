#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/doctor.h"
#include "plan/plan.h"

namespace wheelsmith::doctor {

// The result of a package of the plan.
struct BuiltPackage {
  std::string project;
  std::filesystem::path wheel;  // empty if there is none
  std::string left_out;         // why an optional package is missing: "skipped", "failed"
};

struct ChecklistInputs {
  std::vector<BuiltPackage> packages;
  bool installed = false;      // if false, a package that is not installed is unknown, not bad
  std::filesystem::path into;  // the interpreter they were installed for; empty: the one they were built for
  const toolchain::Host& host;
};
// The end of a build: checks the items of the recipe's checklist for each requested step.
std::vector<Check> closing_checklist(const plan::Plan& plan, const ChecklistInputs& inputs);

}  // namespace wheelsmith::doctor
