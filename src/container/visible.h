#pragma once

#include <string>
#include <vector>

#include "container/container.h"
#include "fetch/fetch.h"
#include "settings/settings.h"

namespace wheelsmith::container {

struct MountInputs {
  std::filesystem::path program;  // ours
  std::filesystem::path folder;   // the working directory
  std::filesystem::path store;
  std::filesystem::path root = "/";             // where the GPUs' devices are looked for; another in tests
  sys::Environment environment;                 // ours
  fetch::IndexSettings index;                   // pip's, of this machine
  std::vector<std::string> exported_variables;  // names that the plan reads from the shell
};

// What a build with these settings must see: mounts, variables, devices. Makes the folders that are written to. Throws
// Error where one of those would show the home folder.
Container visible(const settings::Settings& settings, const MountInputs& around, const Image& image);

}  // namespace wheelsmith::container
