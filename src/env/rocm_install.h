#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/env.h"
#include "env/rocm_wheels.h"

// ROCm's SDK in a user's environment (see the essay in rocm_install.cc).

namespace wheelsmith::env {

// The interpreter of an environment: of `place` (its folder or its interpreter), otherwise of the active environment.
// Throws RequestError where there is neither, and Error for the system's own interpreter: its packages belong to the
// package manager.
toolchain::Python find_environment_python(const std::string& place, const toolchain::Host& host);

struct RocmInstall {
  RocmWanted wanted;
  std::string index_url;
  toolchain::Python python;  // of the environment
  bool dry_run = false, offline = false;
  std::function<void(const std::string& file_name)> on_fetch = [](const std::string&) {};
};

struct InstalledRocm {
  std::string version, family, index;  // index: without credentials
  Lock lock;
  toolchain::Python python;
  bool dry_run = false;
  std::optional<toolchain::Rocm> rocm;  // nothing in a dry run, and where rocm-sdk needs the missing devel package
};
// `fetcher` uses the user's own index, for the build requirements of rocm-sdk. Downloads and builds everything before
// the first file of the environment changes.
InstalledRocm install_rocm(const RocmInstall& install, const toolchain::Host& host, fetch::Fetcher& fetcher,
                           store::Store& store);

// The variables for builds with this ROCm, in order.
std::vector<std::pair<std::string, std::string>> rocm_variables(const toolchain::Rocm& rocm);

}  // namespace wheelsmith::env
