#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "choose/request.h"
#include "cli/command.h"
#include "fetch/fetch.h"
#include "plan/plan.h"
#include "plan/source_bundle.h"
#include "recipe/recipe.h"
#include "remote/remote_store.h"
#include "run/job.h"
#include "run/slurm/slurm_executor.h"
#include "settings/settings.h"
#include "source/git/repositories.h"
#include "source/patches/patch_work.h"
#include "store/store.h"
#include "toolchain/toolchain.h"

// State shared by the commands that plan and build: the settings, the store, the recipes, the machine.

namespace wheelsmith::cli {

// Command-line options that are also settings, with the same names, kinds and help texts.
class SettingOptions {
 public:
  // Adds the given options, or all except `packages` if none is given.
  void add_to(CLI::App& command, const std::vector<std::string>& names = {});
  // All settings; the command line has the highest precedence.
  [[nodiscard]] settings::Settings read(const std::vector<std::string>& packages = {}) const;

 private:
  std::map<std::string, std::vector<std::string>> m_values;
  std::map<std::string, bool> m_flags;
};

// --sandbox and --sandbox-open. Throws if the kernel does not support the requested mode.
run::SandboxOptions sandbox_options(const settings::Settings& settings);

class Session {
 public:
  explicit Session(const settings::Settings& settings, bool upgrade = false);

  [[nodiscard]] choose::Request request() const;
  // The same for commands that plan: requires packages, and rejects values that only `doctor` can report on.
  [[nodiscard]] choose::Request build_request() const;
  // Must not outlive the session.
  [[nodiscard]] plan::PlanInputs inputs();
  // The remote stores in the settings; none with --offline.
  [[nodiscard]] remote::RemoteStores& remotes() { return *m_remotes; }
  // The interpreter that pip's own settings and default index are taken from.
  [[nodiscard]] const toolchain::Host& host() const { return m_host; }
  [[nodiscard]] store::Store& store() { return *m_store; }
  [[nodiscard]] const store::Store& store() const { return *m_store; }
  [[nodiscard]] const std::filesystem::path& store_root() const { return m_store->root(); }
  [[nodiscard]] fetch::Fetcher& fetcher() { return *m_fetcher; }
  [[nodiscard]] const recipe::Library& recipes() const { return *m_recipes; }
  [[nodiscard]] const settings::Settings& settings() const { return m_settings; }
  [[nodiscard]] fetch::FetchOptions fetch_options() const;

 private:
  settings::Settings m_settings;
  bool m_upgrade;
  std::unique_ptr<store::Store> m_store;
  std::unique_ptr<recipe::Library> m_recipes;
  toolchain::Host m_host;
  std::unique_ptr<fetch::Fetcher> m_fetcher;
  std::unique_ptr<remote::RemoteStores> m_remotes;
  std::vector<std::string> m_remote_notes;
};

// The store given by the settings, else the user's default store.
std::unique_ptr<store::Store> open_store(const settings::Settings& settings);
store::StoreOptions store_options(const settings::Settings& settings);

// The folder of the user's recipes: --recipes, else recipes/ beside config.toml; "" if there is none.
std::filesystem::path recipe_folder(const settings::Settings& settings);
// recipes/ beside config.toml, whether or not it exists; "" without a home folder.
std::filesystem::path own_recipe_folder();

// The folder of patch sets: `given` (--patch-dir), else the one that source::find_patch_folder() finds.
source::PatchFolder patch_folder(const std::string& given, const settings::Settings& settings);

// Repositories that report their progress on standard error.
std::unique_ptr<source::Repositories> make_repositories(Session& session);
plan::BundleInputs bundle_inputs(Session& session, source::Repositories& repositories);

// If an image is set (--container) and this process is not inside it: runs the same command in the image and returns
// its exit status. Throws Error.
std::optional<int> run_in_container(const settings::Settings& settings);

// The compile cache options from the settings. Throws UsageError.
cache::CacheOptions cache_options(const settings::Settings& settings, const store::Store& store);

// [slurm] of the settings. Throws UsageError.
run::SlurmOptions slurm_options(const settings::Settings& settings);

inline constexpr const char* k_exact_help =
    "Rebuild a package whenever a dependency was rebuilt, even if its headers, symbols and files are unchanged";
inline constexpr const char* k_editable_help =
    "Build the source folder in place and link it into --into ENV, like pip install -e";

// A setting that is a whole number. Throws UsageError.
unsigned number_setting(const settings::Settings& settings, const std::string& name, unsigned fallback);

}  // namespace wheelsmith::cli
