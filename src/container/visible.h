#pragma once

#include <string>
#include <vector>

#include "container/container.h"
#include "fetch/fetch.h"
#include "settings/settings.h"

namespace wheelsmith::container {

struct MountInputs {
  std::filesystem::path program;  // wheelsmith
  std::filesystem::path folder;   // the working directory
  std::filesystem::path store;
  std::filesystem::path root = "/";             // where to search for GPU devices; differs in tests
  sys::Environment environment;                 // of this process
  fetch::IndexSettings index;                   // pip's settings on this machine
  std::vector<std::string> exported_variables;  // variables that the plan reads from the environment
};

// The mounts, variables and devices of a build with these settings. Creates the writable folders. Throws Error if one
// of them would expose the home folder.
Container visible(const settings::Settings& settings, const MountInputs& around, const Image& image);

}  // namespace wheelsmith::container
