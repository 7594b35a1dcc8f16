#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "source/source.h"
#include "store/manifest.h"

// The specification that a wheel carries, bound to this machine: its interpreter, compilers, toolkits and libraries are
// looked for here, its sources and wheels are found again by their hashes. The wheel is hostile. What it says is
// executed in the step only, as that of any recipe; here nothing of it is, and no path of it is believed.

namespace wheelsmith::plan {

struct RebindInputs {
  BuildSpec recorded;  // read_carried()
  env::Lock lock;      // what its environment held in the end, by hashes alone
  std::string name;    // for messages and the tree: unique for the wheel
  std::vector<std::string>
      pythons{};  // --python: the first of the recorded ABI; else the recorded version is looked for
  std::optional<source::Override> source{};            // --source
  std::map<std::string, std::string> variables{};      // --env: values that the wheel does not carry
  choose::ContainerImage container{};                  // that we run in
  std::filesystem::path torch{};                       // --torch: an interpreter, for a torch of an environment
  std::vector<std::filesystem::path> wheel_folders{};  // where wheels of other builds may lie
};

struct Rebound {
  BuildSpec spec;
  env::Lock lock;                        // with addresses
  std::vector<store::Change> changes{};  // of what decides the result: recorded, here
};

// Throws Error for what cannot be found here.
Rebound rebind(const RebindInputs& inputs, const PlanInputs& here);

// Throws Error for a specification that could lead out of a step's tree.
void refuse_hostile_spec(const BuildSpec& spec);

}  // namespace wheelsmith::plan
