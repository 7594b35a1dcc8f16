#include "cli/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/read_request.h"
#include "choose/recipe.h"
#include "choose/targets.h"
#include "cli/project_settings.h"
#include "cli/source/patch_trust.h"
#include "container/container.h"
#include "run/sandbox.h"
#include "settings/trust.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/ownership.h"
#include "toolchain/description.h"

namespace wheelsmith::cli {

namespace {

using settings::Kind;

// An invalid setting is a usage error (exit status 2), wherever it was set.
template <class Read>
auto as_usage(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError(printable(error.what()));
  }
}

// Folders that may contain the shipped examples: the working folder (a checkout), and folders beside the program
// (build/ of a checkout, share/wheelsmith of an installation). Folders above the working folder are excluded, because
// other users may own them. The owner of the program is trusted already.
std::vector<std::filesystem::path> example_folders() {
  std::error_code ignored;
  const std::filesystem::path program = sys::own_executable();
  const auto of_program = sys::ownership_of(program);
  std::vector<std::filesystem::path> folders = {std::filesystem::current_path(ignored),
                                                program.parent_path().parent_path(),
                                                program.parent_path().parent_path() / "share" / "wheelsmith"};
  const auto is_safe = [&](const std::filesystem::path& folder) {
    const auto ownership = sys::ownership_of(folder);
    const bool as_program = ownership && of_program && ownership->user == of_program->user && !ownership->sticky() &&
                            !ownership->world_writable();
    return as_program || settings::is_own_folder(folder);
  };
  std::erase_if(folders, [&](const auto& folder) { return !is_safe(folder) || !is_safe(folder / "examples"); });
  return folders;
}

// With a sysroot that does not exist, the compiler would fail later with misleading messages about headers.
std::filesystem::path read_sysroot(const settings::Settings& settings) {
  const std::string folder = settings.text("sysroot");
  if (!folder.empty() && !sys::is_folder(folder))
    throw UsageError(fmt::format("--sysroot {}: no such folder", printable(folder)));
  return folder;
}

// Paths given by the user must exist. `doctor` checks the same and reports more details.
void refuse_missing_places(const settings::Settings& settings) {
  std::error_code ignored;
  if (!settings.text("machine").empty()) return;
  for (const char* name : {"cuda", "rocm"}) {
    const std::string folder = settings.text(name);
    if (!folder.empty() && !sys::is_folder(folder))
      throw UsageError(fmt::format("--{} {}: no such folder", name, printable(folder)));
  }
  for (const char* name : {"out", "store"}) {
    const std::string folder = settings.folder(name);
    if (!folder.empty() && std::filesystem::exists(folder, ignored) && !sys::is_folder(folder))
      throw UsageError(fmt::format("--{} {}: must be a folder, but is a file", name, printable(folder)));
  }
  const sys::Environment environment = sys::current_environment();
  const auto path = environment.find("PATH");
  for (const char* name : {"cc", "cxx"}) {
    const std::string program = settings.text(name);
    if (program.empty() || settings.flag("conda") || path == environment.end()) continue;
    const bool there = program.find('/') == std::string::npos ? !sys::find_program(program, path->second).empty()
                                                              : std::filesystem::exists(program, ignored);
    if (!there) throw UsageError(fmt::format("--{} {}: no such program", name, printable(program)));
  }
}

std::shared_ptr<const toolchain::Description> read_machine(const std::string& file) {
  return as_usage([&] {
    return std::make_shared<const toolchain::Description>(
        toolchain::read_description(sys::read_file(file, document::k_max_toml_size), file));
  });
}

// A file in an image differs from the host's file of the same name.
toolchain::Memo make_memo(store::Store& store) {
  const auto image = container::inside(sys::current_environment());
  const std::string place = image ? image->id + "\n" : "";
  return {
      .find =
          [&store, place](std::string_view kind, std::string_view subject, std::string_view fingerprint) {
            return store.remembered(kind, place + std::string(subject), fingerprint);
          },
      .keep = [&store, place](
                  std::string_view kind, std::string_view subject, std::string_view fingerprint,
                  std::string_view facts) { store.remember(kind, place + std::string(subject), fingerprint, facts); }};
}

choose::ContainerImage own_image() {
  const auto image = container::inside(sys::current_environment());
  return image ? choose::ContainerImage{image->image, image->id} : choose::ContainerImage{};
}

std::string variable(const sys::Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

}  // namespace

void SettingOptions::add_to(CLI::App& command, const std::vector<std::string>& names) {
  for (const settings::Option& option : settings::all_options()) {
    // Every command that reads settings has the options that select the settings file.
    const bool wanted =
        option.allowed == settings::Allowed::not_in_files ||
        (names.empty() ? option.name != "packages" : std::ranges::find(names, option.name) != names.end());
    if (!wanted) continue;
    const std::string shorter = option.short_name == '\0' ? "" : fmt::format("-{},", option.short_name);
    const std::string group(settings::to_string(option.group));
    if (option.kind == Kind::flag) {
      command.add_flag(shorter + "--" + option.name, m_flags[option.name], option.help)->group(group);
      continue;
    }
    const bool several = option.kind == Kind::list || option.kind == Kind::texts || option.kind == Kind::table ||
                         option.kind == Kind::programs || option.kind == Kind::places;
    CLI::Option* added = command.add_option(shorter + "--" + option.name, m_values[option.name], option.help);
    added->allow_extra_args(false)->type_name(option.argument)->group(group);
    if (!option.fallback.empty()) added->default_str(option.fallback);
    if (!several) added->expected(1)->take_last();
  }
}

run::SandboxOptions sandbox_options(const settings::Settings& settings) {
  run::SandboxOptions options;
  options.mode = settings.text("sandbox");
  for (const std::string& path : settings.list("sandbox-open")) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
      throw UsageError(fmt::format("--sandbox-open {}: no such file or folder", printable(path)));
    options.open.push_back(std::filesystem::absolute(path));
  }
  // Probing the kernel starts a process, so `auto` does it only when a step is really built.
  if (options.mode != "auto") (void)run::sandbox_mode(options);
  return options;
}

settings::Settings SettingOptions::read(const std::vector<std::string>& packages) const {
  return as_usage([&] {
    settings::Settings result;
    const sys::Environment environment = sys::current_environment();
    result.read_environment(environment);
    for (const auto& [name, values] : m_values) {
      if (values.empty()) continue;
      if (settings::is_table(name)) {  // a value may hold commas
        result.set_from_command_line(name, document::Array(values.begin(), values.end()));
        continue;
      }
      // Values of a repeated option are joined as in the environment variable.
      const auto& options = settings::all_options();
      const auto option = std::ranges::find(options, name, &settings::Option::name);
      const bool one_to_a_line =
          option != options.end() && (option->kind == Kind::texts || option->kind == Kind::places);
      result.set_from_command_line(name, join(values, one_to_a_line ? "\n" : ","));
    }
    for (const auto& [name, value] : m_flags) {
      if (value) result.set_from_command_line(name, true);
    }
    if (!packages.empty()) result.set_from_command_line("packages", document::Array(packages.begin(), packages.end()));
    read_project_settings(result, environment);
    result.read_user_file(environment);
    return result;
  });
}

unsigned number_setting(const settings::Settings& settings, const std::string& name, unsigned fallback) {
  const std::string text = settings.text(name);
  if (text.empty()) return fallback;
  const auto number = to_number(text);
  return static_cast<unsigned>(number.value_or(fallback));  // validated when it was set
}

std::filesystem::path own_recipe_folder() {
  const std::filesystem::path folder = settings::user_folder(sys::current_environment());
  return folder.empty() ? folder : folder / "recipes";
}

std::filesystem::path recipe_folder(const settings::Settings& settings) {
  if (const std::string named = settings.text("recipes"); !named.empty()) return named;
  const std::filesystem::path own = own_recipe_folder();
  return sys::is_folder(own) ? own : std::filesystem::path();
}

store::StoreOptions store_options(const settings::Settings& settings) {
  store::StoreOptions options;
  options.claim_timeout = std::chrono::seconds(number_setting(settings, "claim-timeout", 120));
  const std::string scratch = settings.text("scratch");
  if (!scratch.empty()) options.scratch = std::filesystem::absolute(scratch);
  return options;
}

std::unique_ptr<store::Store> open_store(const settings::Settings& settings) {
  const std::string root = settings.folder("store");
  return std::make_unique<store::Store>(root.empty() ? store::Store::default_root() : std::filesystem::absolute(root),
                                        store_options(settings));
}

Session::Session(const settings::Settings& settings, bool upgrade) : m_settings(settings), m_upgrade(upgrade) {
  m_recipes = std::make_unique<recipe::Library>(choose::read_recipe_folder(recipe_folder(m_settings)));
  m_store = open_store(m_settings);
  m_host.environment = sys::current_environment();
  m_host.cc = m_settings.text("cc");
  m_host.cxx = m_settings.text("cxx");
  m_host.cuda = m_settings.text("cuda");
  m_host.rocm = m_settings.text("rocm");
  m_host.sysroot = read_sysroot(m_settings);
  m_host.use_conda = m_settings.flag("conda");
  if (const std::string file = m_settings.text("machine"); !file.empty()) {
    m_host.described = read_machine(file);
    m_host.environment = m_host.described->environment;
  }
  m_host.memo = make_memo(*m_store);
  m_fetcher = std::make_unique<fetch::Fetcher>(*m_store, fetch_options());
  const bool offline = m_settings.flag("offline");
  m_remotes = std::make_unique<remote::RemoteStores>(
      offline ? std::vector<std::string>() : m_settings.urls("store"), fetch_options(),
      [this](const std::string& note) { m_remote_notes.push_back(note); });
}

fetch::FetchOptions Session::fetch_options() const {
  fetch::FetchOptions options;
  // Downloads run on this machine, even if the plan is for another one.
  const sys::Environment environment = sys::current_environment();
  const std::filesystem::path python = sys::find_program("python3", variable(environment, "PATH"));
  options.index = fetch::read_pip_settings(environment, variable(environment, "VIRTUAL_ENV"));
  options.offline = m_settings.flag("offline");
  options.python = python;
  options.mirrors = m_settings.table("mirrors");
  options.stop = [] { return sys::interrupted(); };
  return options;
}

choose::Request Session::request() const {
  choose::Request request = choose::read_request(m_settings);
  choose::take_versions_as_tags(request, *m_recipes);
  request.upgrade = m_upgrade;
  request.container = own_image();
  return request;
}

choose::Request Session::build_request() const {
  refuse_missing_places(m_settings);
  choose::Request request = choose::read_build_request(m_settings);
  choose::take_versions_as_tags(request, *m_recipes);
  request.upgrade = m_upgrade;
  request.container = own_image();
  return request;
}

plan::PlanInputs Session::inputs() {
  const source::PatchFolder patches = patch_folder("", m_settings);
  plan::PlanInputs inputs{.store = *m_store,
                          .fetcher = *m_fetcher,
                          .recipes = *m_recipes,
                          .host = m_host,
                          .recipe_folder = recipe_folder(m_settings),
                          .patch_folder = patches.path,
                          .example_folders = example_folders()};
  inputs.on_found_patchset = patch_trust(patches);
  if (!m_remotes->empty()) {
    inputs.find_remote = [this](const std::string& key) -> std::optional<plan::PlanInputs::RemoteResult> {
      auto found = m_remotes->find(key);
      if (!found) return std::nullopt;
      return plan::PlanInputs::RemoteResult{found->url, found->record.wheel_name};
    };
    inputs.remote_notes = [this] { return std::exchange(m_remote_notes, {}); };
  }
  return inputs;
}

source::PatchFolder patch_folder(const std::string& given, const settings::Settings& settings) {
  if (!given.empty()) return {given};
  if (const std::string folder = settings.text("patch-dir"); !folder.empty()) return {folder};
  std::error_code ignored;
  source::PatchFolderSearch search{.project_folder = {},
                                   .current_folder = std::filesystem::current_path(ignored),
                                   .recipe_folder = recipe_folder(settings)};
  if (settings.project_is_trusted()) search.project_folder = settings.project_file().parent_path();
  return source::find_patch_folder(search);
}

std::unique_ptr<source::Repositories> make_repositories(Session& session) {
  const fetch::FetchOptions options = session.fetch_options();
  auto repositories =
      std::make_unique<source::Repositories>(session.store(), options.mirrors, options.offline, options.stop);
  repositories->on_progress([](const std::string& sentence) { print_status("  " + printable(sentence) + "\n"); });
  return repositories;
}

plan::BundleInputs bundle_inputs(Session& session, source::Repositories& repositories) {
  const std::vector<std::string> pythons = session.settings().list("python");
  return {.store = session.store(),
          .fetcher = session.fetcher(),
          .recipes = session.recipes(),
          .repositories = repositories,
          .torch = session.settings().text("torch"),
          .python_version = pythons.empty() ? "" : pythons.front(),
          .offline = session.settings().flag("offline")};
}

}  // namespace wheelsmith::cli
