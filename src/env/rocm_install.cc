// Installs ROCm's SDK into an environment.
//
// `pip install "rocm[libraries,devel]"` does nearly the same, with three traps that are avoided here. `rocm` is a
// source distribution whose setup.py selects the GPU's libraries from what it detects when pip requests metadata; pip
// caches the wheel with that choice, and the next environment gets it for another GPU. An index of ROCm wheels has no
// setuptools to build that source with. And only that source keeps the versions of the parts consistent. So the wheels
// are selected by name, all of one version, and the source, which contains rocm-sdk itself, is built for the given
// family and without a cache.

#include "env/rocm_install.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "base/request_error.h"
#include "base/text.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::env {

namespace {

namespace fs = std::filesystem;

std::string listed_sha256(const pep::ProjectFile& file) {
  const auto hash = file.hashes.find("sha256");
  return hash == file.hashes.end() ? "" : hash->second;
}

// A wheel of the project `rocm` where the index has one, otherwise its sdist.
struct SelectorFile {
  fs::path path;
  bool wheel = false;
};

SelectorFile fetch_selector(const std::string& version, fetch::Fetcher& index) {
  const auto same = [&](std::string_view text) {
    const auto other = pep::Version::try_parse(text);
    return other && *other == pep::Version::parse(version);
  };
  const pep::ProjectFile* source = nullptr;
  for (const pep::ProjectFile& file : index.project("rocm").files) {
    if (file.is_wheel() && same(pep::WheelName::parse(file.name).version))
      return {index.download(file.url, file.name, listed_sha256(file)), true};
    const auto of_source = pep::sdist_version(file.name, "rocm");
    if (file.is_sdist() && of_source && same(*of_source)) source = &file;
  }
  if (source == nullptr) throw Error(fmt::format("the index has no rocm {}, which contains rocm-sdk", version));
  return {index.download(source->url, source->name, listed_sha256(*source)), false};
}

// Built by pip into `folder`, in a stored environment whose setuptools comes from the user's own index.
fs::path build_selector(const fs::path& archive, const RocmInstall& install, const RocmWheels& wheels,
                        fetch::Fetcher& fetcher, store::Store& store, const fs::path& folder) {
  ResolveOptions options;
  options.offline = install.offline;
  const Lock lock = resolve({"pip", "setuptools>=70.2", "wheel"}, install.python, fetcher, store, options);
  const Environment builder = make_environment(install.python, lock, {}, fetcher, store);
  sys::Command command;
  command.argv = {builder.python.string(),
                  "-m",
                  "pip",
                  "wheel",
                  "--quiet",
                  "--no-deps",
                  "--no-index",
                  "--no-build-isolation",
                  "--no-cache-dir",
                  "--disable-pip-version-check",
                  "--wheel-dir",
                  folder.string(),
                  archive.string()};
  sys::Environment environment = sys::current_environment();
  for (const char* name : {"PYTHONPATH", "PYTHONHOME"}) environment.erase(name);
  const std::string family = !wheels.family.empty() ? wheels.family : install.wanted.targets.front();
  if (!family.empty()) environment["ROCM_SDK_TARGET_FAMILY"] = family;
  command.environment = environment;
  command.folder = folder;
  command.timeout = std::chrono::minutes(10);
  const sys::Captured done = sys::capture(command, 1 << 20);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".whl") return entry.path();
  }
  throw Error(fmt::format("building rocm {} from source failed: {}\n{}", wheels.version, sys::to_string(done.exit),
                          to_valid_utf8(done.output + done.errors)));
}

// All wheels to install: those of the lock, then the one with rocm-sdk.
std::vector<fs::path> fetch_wheels(const RocmInstall& install, const RocmWheels& wheels, const Lock& lock,
                                   fetch::Fetcher& index, fetch::Fetcher& fetcher, store::Store& store,
                                   const fs::path& folder) {
  std::vector<fs::path> files;
  for (const PinnedWheel& wheel : lock.wheels) {
    install.on_fetch(wheel.file_name);
    files.push_back(index.download(wheel.url, wheel.file_name, wheel.sha256));
  }
  const SelectorFile selector = fetch_selector(wheels.version, index);
  files.push_back(selector.wheel ? selector.path
                                 : build_selector(selector.path, install, wheels, fetcher, store, folder));
  return files;
}

}  // namespace

toolchain::Python find_environment_python(const std::string& place, const toolchain::Host& host) {
  const auto active = host.environment.find("VIRTUAL_ENV");
  std::string found = place;
  if (found.empty() && active != host.environment.end()) found = active->second;
  if (found.empty())
    throw RequestError(
        "no environment to install into: activate one, or pass its folder with --into DIR (create one: python3 -m venv "
        "DIR)");
  std::error_code ignored;
  if (fs::is_directory(found, ignored)) found = (fs::absolute(found) / "bin" / "python").string();
  toolchain::Python python = toolchain::find_python(found, host);
  if (python.prefix == python.base_prefix)
    throw Error(
        fmt::format("{} is the system's interpreter, not an environment's; create an environment first: {} -m venv DIR",
                    python.executable.string(), python.executable.string()));
  return python;
}

InstalledRocm install_rocm(const RocmInstall& install, const toolchain::Host& host, fetch::Fetcher& fetcher,
                           store::Store& store) {
  fetch::FetchOptions options = fetcher.options();
  options.index = {};
  options.index.index_url = install.index_url;
  fetch::Fetcher index(store, options);
  const RocmWheels wheels = choose_rocm_wheels(install.wanted, index);
  InstalledRocm done;
  done.version = wheels.version;
  done.family = wheels.family;
  done.index = fetch::without_credentials(install.index_url);
  done.python = install.python;
  done.dry_run = install.dry_run;
  ResolveOptions resolution;
  resolution.index_urls = {install.index_url};
  resolution.prereleases = true;
  resolution.offline = install.offline;
  done.lock = resolve(wheels.requirements, install.python, fetcher, store, resolution);
  if (install.dry_run) return done;
  const sys::TempDir folder;
  const std::vector<fs::path> files = fetch_wheels(install, wheels, done.lock, index, fetcher, store, folder.path());
  const InstallTarget target = install_target(install.python);
  for (const fs::path& file : files) install_wheel(file, target, true, usable_threads());
  const std::vector<std::string>& extras = install.wanted.extras;
  const bool devel = std::find(extras.begin(), extras.end(), "devel") != extras.end();
  std::string problem;
  done.rocm = toolchain::read_rocm_sdk(install.python, host, &problem);
  if (devel && !done.rocm)
    throw Error(fmt::format("installed, but rocm-sdk does not run: {}",
                            problem.empty() ? "the module rocm_sdk is missing" : problem));
  return done;
}

std::vector<std::pair<std::string, std::string>> rocm_variables(const toolchain::Rocm& rocm) {
  std::vector<std::pair<std::string, std::string>> variables = {
      {"ROCM_PATH", rocm.root.string()}, {"ROCM_HOME", rocm.root.string()}, {"HIP_PATH", rocm.root.string()}};
  if (!rocm.device_libraries.empty()) variables.emplace_back("HIP_DEVICE_LIB_PATH", rocm.device_libraries.string());
  if (!rocm.clang.empty()) variables.emplace_back("HIP_CLANG_PATH", rocm.clang.string());
  if (!rocm.cmake.empty()) variables.emplace_back("CMAKE_PREFIX_PATH", rocm.cmake.string());
  return variables;
}

}  // namespace wheelsmith::env
