#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "fetch/fetch.h"
#include "store/store.h"
#include "toolchain/toolchain.h"

// Environments of a step: a venv for one interpreter with exactly the wheels of a lock, made once and kept by key; and
// CUDA toolkits made out of the registry's wheels. Requirements are resolved by pip (the resolver people trust; uv
// where it is present), only ever to wheels, and the answer is kept as file hashes until --upgrade.

namespace wheelsmith::env {

struct PinnedWheel {
  std::string name, version, file_name, url, sha256;
};
struct Lock {
  std::vector<PinnedWheel> wheels;  // sorted by name
  std::vector<std::string> requirements;
  [[nodiscard]] document::Value to_value() const;
  static Lock from_value(const document::Value& value);
  [[nodiscard]] const PinnedWheel* find(std::string_view name) const;  // as PEP 503 compares
};

struct ResolveOptions {
  bool upgrade = false, offline = false;
  std::vector<std::filesystem::path> wheelhouses{};  // more find-links folders
  std::vector<std::string> index_urls{};             // instead of the configured index (torch channels)
  std::vector<std::string> constraints{};
  bool prereleases = false;
  std::function<bool()> stop{};
};
// Throws Error with the resolver's own reason (no such version, conflict, no network, only an sdist there).
Lock resolve(std::vector<std::string> requirements, const toolchain::Python& python, fetch::Fetcher& fetcher,
             store::Store& store, const ResolveOptions& options);

struct Environment {
  std::string key;
  std::filesystem::path root;    // in the store
  std::filesystem::path python;  // root/bin/python
  std::filesystem::path site_packages;
};

// The venv with the lock's wheels and, appended to its path, the site-packages of another environment (the machine's
// own torch). Made in parallel; kept in the store; several processes may ask at once.
Environment make_environment(const toolchain::Python& python, const Lock& lock,
                             const std::vector<std::filesystem::path>& appended_sites, fetch::Fetcher& fetcher,
                             store::Store& store);
std::string environment_key(const toolchain::Python& python, const Lock& lock,
                            const std::vector<std::filesystem::path>& appended_sites);

// A venv of its own at `root` with nothing in it, and other environments' site-packages appended to its path: for tests
// of a wheel, thrown away afterwards.
Environment make_scratch_environment(const toolchain::Python& python,
                                     const std::vector<std::filesystem::path>& appended_sites,
                                     const std::filesystem::path& root);

// Puts a wheel into an environment as the standard says: purelib and platlib, .data, scripts with the right #!, entry
// points, INSTALLER, RECORD. Refuses what would leave the environment. Replaces an installed version of the same
// project where `replace`. Used for environments of ours, for tests, and for build --install --into ENV.
struct InstallTarget {
  std::filesystem::path python, purelib, platlib, scripts, data, headers;
};
// Throws Error for an interpreter that its distributor keeps for itself (EXTERNALLY-MANAGED).
InstallTarget install_target(const toolchain::Python& python);
InstallTarget install_target(const Environment& environment);
// Anything wrong with the wheel is an Error before the first file is written.
void install_wheel(const std::filesystem::path& wheel, const InstallTarget& target, bool replace, unsigned threads);
// The wheel that a backend's build_editable hook made of `folder` (PEP 660), with the direct_url.json by which pip
// knows an editable install (PEP 610). Replaces an installed version, and what `setup.py develop` left of one.
void install_editable(const std::filesystem::path& wheel, const std::filesystem::path& folder,
                      const InstallTarget& target, unsigned threads);

// Which of the lock's wheels make a CUDA toolkit of one minor version, as requirements: "nvidia-cuda-nvcc==13.2.*", ….
// Throws Error for versions whose wheels hold no nvcc (12 and older).
std::vector<std::string> toolkit_requirements(std::string_view cuda_version);
// A folder of links to what the environment's wheels hold: bin (nvcc and friends as files of their own, since nvcc
// looks beside itself), nvvm, include (CCCL's too), lib64 with unversioned names and stubs. The environment is not
// touched.
// `other_sites` are searched behind it for libraries and headers that it lacks (those of a torch elsewhere).
std::filesystem::path make_toolkit(const Environment& environment, store::Store& store,
                                   const std::vector<std::filesystem::path>& other_sites = {});

}  // namespace wheelsmith::env
