#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "source/source.h"
#include "store/manifest.h"

// Binds the specification in a wheel to this machine: finds its interpreter, compilers, toolkits and libraries here,
// and its sources and wheels by their hashes. The wheel is untrusted. Its commands run only inside the step's sandbox,
// like those of any recipe; nothing is executed here, and none of its paths is trusted.

namespace wheelsmith::plan {

struct RebindInputs {
  BuildSpec recorded;  // read_carried()
  env::Lock lock;      // final contents of its environment, by hashes only
  std::string name;    // for messages and the tree: unique for the wheel
  std::vector<std::string>
      pythons{};  // --python: the first with the recorded ABI is used; else the recorded version is searched for
  std::optional<source::Override> source{};            // --source
  std::map<std::string, std::string> variables{};      // --env: values that are not in the wheel
  choose::ContainerImage container{};                  // the container of this process
  std::filesystem::path torch{};                       // --torch: an interpreter, for a torch of an environment
  std::vector<std::filesystem::path> wheel_folders{};  // folders with wheels of other builds
};

struct Rebound {
  BuildSpec spec;
  env::Lock lock;                        // with URLs
  std::vector<store::Change> changes{};  // differences in the key's inputs: recorded value, value here
};

// Throws Error for inputs that cannot be found here.
Rebound rebind(const RebindInputs& inputs, const PlanInputs& here);

// Throws Error for a specification with paths outside the step's tree.
void refuse_hostile_spec(const BuildSpec& spec);

}  // namespace wheelsmith::plan
