#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/doctor.h"
#include "plan/plan.h"

namespace wheelsmith::doctor {

// What became of a package of the plan.
struct BuiltPackage {
  std::string project;
  std::filesystem::path wheel;  // empty: there is none
  std::string left_out;         // how an optional package that is not there was left out: "skipped", "failed"
};

struct ChecklistInputs {
  std::vector<BuiltPackage> packages;
  bool installed = false;      // where nothing was to be installed, what is not is unknown, not bad
  std::filesystem::path into;  // the interpreter they were installed for; empty: the one they were built for
  const toolchain::Host& host;
};
// What a build is closed with: the recipe's checklist of each step that was asked for, item by item.
std::vector<Check> closing_checklist(const plan::Plan& plan, const ChecklistInputs& inputs);

}  // namespace wheelsmith::doctor
