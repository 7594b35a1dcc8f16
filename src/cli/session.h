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
#include "settings/settings.h"
#include "source/git/repositories.h"
#include "source/patches/patch_work.h"
#include "store/store.h"
#include "toolchain/toolchain.h"

// What the commands that plan and build share: settings from all places, the store, the recipes, the machine.

namespace wheelsmith::cli {

// Options that are settings too: the same names, kinds and help texts as in files and in the environment.
class SettingOptions {
 public:
  // Adds the named options, or all but `packages` when none is named.
  void add_to(CLI::App& command, const std::vector<std::string>& names = {});
  // All settings, the command line's on top.
  [[nodiscard]] settings::Settings read(const std::vector<std::string>& packages = {}) const;

 private:
  std::map<std::string, std::vector<std::string>> m_values;
  std::map<std::string, bool> m_flags;
};

// --sandbox and --sandbox-open. Throws where the kernel does not have what was asked for.
run::SandboxOptions sandbox_options(const settings::Settings& settings);

class Session {
 public:
  explicit Session(const settings::Settings& settings, bool upgrade = false);

  [[nodiscard]] choose::Request request() const;
  // The same for what plans: with packages, and with no word that only the doctor could make something of.
  [[nodiscard]] choose::Request build_request() const;
  // Lives no longer than the session.
  [[nodiscard]] plan::PlanInputs inputs();
  // The remote stores of the settings; none with --offline.
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

// The store of the settings, else the user's default one.
std::unique_ptr<store::Store> open_store(const settings::Settings& settings);
store::StoreOptions store_options(const settings::Settings& settings);

// The user's recipes: --recipes, else recipes/ beside their config.toml; "" where there is none.
std::filesystem::path recipe_folder(const settings::Settings& settings);
// The second of these, whether it is there or not; "" without a home.
std::filesystem::path own_recipe_folder();

// The folder of patch sets: `given` (--patch-dir), else where source::find_patch_folder() finds one.
source::PatchFolder patch_folder(const std::string& given, const settings::Settings& settings);

// Repositories that report their progress on standard error.
std::unique_ptr<source::Repositories> make_repositories(Session& session);
plan::BundleInputs bundle_inputs(Session& session, source::Repositories& repositories);

// Where an image is set (--container) and we are not inside it yet: runs this same command in there, and gives its exit
// status. Throws Error.
std::optional<int> run_in_container(const settings::Settings& settings);

// The compile cache of the settings. Throws UsageError.
cache::CacheOptions cache_options(const settings::Settings& settings, const store::Store& store);

inline constexpr const char* k_editable_help =
    "Build the folder of --source NAME=FOLDER in place and link it into --into ENV, like pip install -e";

// A whole number of a setting; throws UsageError.
unsigned number_setting(const settings::Settings& settings, const std::string& name, unsigned fallback);

}  // namespace wheelsmith::cli
