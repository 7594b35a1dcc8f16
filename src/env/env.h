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

// Environments of a step: a venv for one interpreter with exactly the wheels of a lock, created once and stored by key;
// and CUDA toolkits assembled from the package index's wheels. pip resolves requirements (uv where present), only to
// wheels, and the result is stored as file hashes until --upgrade.

namespace wheelsmith::env {

struct PinnedWheel {
  std::string name, version, file_name, url, sha256;
};
struct Lock {
  std::vector<PinnedWheel> wheels;  // sorted by name
  std::vector<std::string> requirements;
  [[nodiscard]] document::Value to_value() const;
  static Lock from_value(const document::Value& value);
  [[nodiscard]] const PinnedWheel* find(std::string_view name) const;  // compared as in PEP 503
};

struct ResolveOptions {
  bool upgrade = false, offline = false;
  std::vector<std::filesystem::path> wheelhouses{};  // additional find-links folders
  std::vector<std::string> index_urls{};             // instead of the configured index (torch channels)
  std::vector<std::string> constraints{};
  bool prereleases = false;
  std::function<bool()> stop{};
};
// Throws Error with the resolver's own reason (no such version, conflict, no network, only an sdist available).
Lock resolve(std::vector<std::string> requirements, const toolchain::Python& python, fetch::Fetcher& fetcher,
             store::Store& store, const ResolveOptions& options);

struct Environment {
  std::string key;
  std::filesystem::path root;    // in the store
  std::filesystem::path python;  // root/bin/python
  std::filesystem::path site_packages;
};

// The venv with the lock's wheels and, appended to its path, the site-packages of another environment (the machine's
// own torch). Created in parallel; stored; several processes may call this at once.
Environment make_environment(const toolchain::Python& python, const Lock& lock,
                             const std::vector<std::filesystem::path>& appended_sites, fetch::Fetcher& fetcher,
                             store::Store& store);
std::string environment_key(const toolchain::Python& python, const Lock& lock,
                            const std::vector<std::filesystem::path>& appended_sites);

// A new, empty venv at `root`, with other environments' site-packages appended to its path: for tests of a wheel,
// deleted afterwards.
Environment make_scratch_environment(const toolchain::Python& python,
                                     const std::vector<std::filesystem::path>& appended_sites,
                                     const std::filesystem::path& root);

// Installs a wheel as the standard says: purelib and platlib, .data, scripts with the right #!, entry points,
// INSTALLER, RECORD. Rejects files that would leave the environment. With `replace`, replaces an installed version of
// the same project. Used for our own environments, for tests, and for build --install --into ENV.
struct InstallTarget {
  std::filesystem::path python, purelib, platlib, scripts, data, headers;
};
// Throws Error for an externally managed interpreter (EXTERNALLY-MANAGED).
InstallTarget install_target(const toolchain::Python& python);
InstallTarget install_target(const Environment& environment);
// Any problem with the wheel is an Error before the first file is written.
void install_wheel(const std::filesystem::path& wheel, const InstallTarget& target, bool replace, unsigned threads);
// Installs the wheel that a backend's build_editable hook made from `folder` (PEP 660), with the direct_url.json by
// which pip recognizes an editable install (PEP 610). Replaces an installed version, and the remains of `setup.py
// develop`.
void install_editable(const std::filesystem::path& wheel, const std::filesystem::path& folder,
                      const InstallTarget& target, unsigned threads);

// Requirements for a CUDA toolkit of one minor version: "nvidia-cuda-nvcc==13.2.*", …. Throws Error for versions whose
// wheels contain no nvcc (12 and older).
std::vector<std::string> toolkit_requirements(std::string_view cuda_version);
// A folder of links to the files of the environment's wheels: bin (nvcc and its tools as separate files, since nvcc
// searches beside itself), nvvm, include (with CCCL), lib64 with unversioned names and stubs. The environment is not
// changed. `other_sites` are searched after it for missing libraries and headers (those of a torch elsewhere).
std::filesystem::path make_toolkit(const Environment& environment, store::Store& store,
                                   const std::vector<std::filesystem::path>& other_sites = {});

}  // namespace wheelsmith::env
