// An environment is identified by a key: interpreter, wheels by SHA-256, appended folders. It is built in place, since
// its scripts contain its path, with its lock held, and sealed last. So a folder without a seal is left over from a
// process that was killed or ran out of disk space, and one that differs from its seal is damaged: both are recreated.
// Byte code is never written into it, neither here nor by its users: a Python process that runs out of space leaves a
// truncated file, and every later import fails.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "env/env.h"
#include "env/installer.h"
#include "env/venv.h"
#include "sys/files.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

constexpr unsigned k_downloads_at_once = 4;
constexpr const char* k_environment_layout = "environment 1";  // bump when the content changes

std::vector<fs::path> download_all(const Lock& lock, fetch::Fetcher& fetcher) {
  std::vector<fs::path> files(lock.wheels.size());
  parallel_for(files.size(), k_downloads_at_once, [&](std::size_t i) {
    const PinnedWheel& wheel = lock.wheels[i];
    files[i] = fetcher.download(wheel.url, wheel.file_name, wheel.sha256);
  });
  return files;
}

}  // namespace

std::string environment_key(const toolchain::Python& python, const Lock& lock,
                            const std::vector<fs::path>& appended_sites) {
  document::Array wheels;
  std::vector<std::string> hashes;
  for (const PinnedWheel& wheel : lock.wheels) hashes.push_back(wheel.sha256);
  std::ranges::sort(hashes);
  for (const std::string& hash : hashes) wheels.emplace_back(hash);
  document::Array sites;
  for (const fs::path& site : appended_sites) sites.emplace_back(site.string());
  document::Table table;
  table["layout"] = k_environment_layout;
  table["python"] = python.digest;
  table["version"] = python.version;
  table["executable"] = python.executable.string();
  table["wheels"] = std::move(wheels);
  table["sites"] = std::move(sites);
  return to_hex(sha256(Bytes(document::canonical_json(table))));
}

Environment make_environment(const toolchain::Python& python, const Lock& lock,
                             const std::vector<fs::path>& appended_sites, fetch::Fetcher& fetcher,
                             store::Store& store) {
  const std::string key = environment_key(python, lock, appended_sites);
  Environment environment = venv_at(python, store.env(key));
  environment.key = key;
  store.use_folder(environment.root, store::env_lock(key), [&] {
    // Download before anything is written: without a network nothing is left behind.
    const std::vector<fs::path> wheels = download_all(lock, fetcher);
    sys::remove_tree(environment.root);
    write_venv(python, environment.root, appended_sites);
    Installer installer(install_target(environment));
    for (const fs::path& wheel : wheels) installer.add(wheel);
    installer.write(usable_threads());
  });
  return environment;
}

}  // namespace wheelsmith::env
