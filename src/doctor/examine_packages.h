#pragma once

#include <string>
#include <vector>

#include "choose/request.h"
#include "doctor/doctor.h"
#include "plan/plan.h"

// `wheelsmith doctor` as functions: surveys the machine, and checks whether it can build packages.

namespace wheelsmith::doctor {

// The programs in all variants of the recipes; finding a program is cheap.
std::vector<std::string> recipe_programs(const recipe::Library& recipes);

struct MachineQuery {
  Paths paths;
  std::string store_problem;          // why the store cannot be used, or ""
  std::vector<std::string> programs;  // in addition to those that every build needs
  std::string platform;
  unsigned jobs = 0;
  bool offline = false, allow_unsupported_compiler = false;
};
Facts machine_facts(const toolchain::Host& host, const MachineQuery& query);

// The machine itself, with the torch of its first Python.
std::vector<Check> survey_machine(const toolchain::Host& host, Facts facts);

// Checks each package for each requested Python. A package that is not found is a bad check, not an exception.
std::vector<Check> examine_packages(const choose::Request& request, const plan::PlanInputs& inputs, Facts facts);

}  // namespace wheelsmith::doctor
