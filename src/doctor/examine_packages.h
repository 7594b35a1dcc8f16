#pragma once

#include <string>
#include <vector>

#include "choose/request.h"
#include "doctor/doctor.h"
#include "plan/plan.h"

// `wheelsmith doctor` as functions: what is here, and whether packages can be built with it.

namespace wheelsmith::doctor {

// The programs that recipes name, whatever the variant: finding one is cheap.
std::vector<std::string> recipe_programs(const recipe::Library& recipes);

struct MachineQuestion {
  Paths paths;
  std::string store_problem;          // why the store cannot be used; "" where it can
  std::vector<std::string> programs;  // besides those of every build
  std::string platform;
  unsigned jobs = 0;
  bool offline = false, allow_unsupported_compiler = false;
};
Facts look_at_machine(const toolchain::Host& host, const MachineQuestion& question);

// The machine by itself, with the torch of its first Python.
std::vector<Check> survey_machine(const toolchain::Host& host, Facts facts);

// Each package for each Python that is asked for. One that is not found is a bad check, not a throw.
std::vector<Check> examine_packages(const choose::Request& request, const plan::PlanInputs& inputs, Facts facts);

}  // namespace wheelsmith::doctor
