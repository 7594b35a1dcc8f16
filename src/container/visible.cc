// What a container sees of this machine: as little as the build needs. Foreign code runs in there, so the home folder
// is never shown as a whole, and only the store, the wheelhouse and the compile cache can be written to.

#include "container/visible.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/terminal.h"

namespace wheelsmith::container {

namespace {

namespace fs = std::filesystem;

std::string variable(const sys::Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

// Folders that an image has its own of.
constexpr std::array k_system_folders = {"/bin", "/boot", "/dev",       "/etc",     "/lib",  "/lib64",
                                         "/opt", "/proc", "/root",      "/run",     "/sbin", "/sys",
                                         "/tmp", "/usr",  "/usr/local", "/usr/lib", "/var",  "/var/tmp"};

// "file:///folder", or a path; "" for what is elsewhere.
std::string local_path(const std::string& place) {
  if (place.starts_with("file://")) {
    const std::size_t slash = place.find('/', 7);
    return slash == std::string::npos ? "" : place.substr(slash, place.find('#') - slash);
  }
  return place.find("://") == std::string::npos ? place : "";
}

class Gatherer {
 public:
  explicit Gatherer(const Surroundings& around) : m_around(around), m_home(variable(around.environment, "HOME")) {}

  // Shown where it exists. A folder that holds the home folder would show everything of the user's; one that holds
  // the system's would hide the image's.
  void show(const fs::path& given) {
    std::error_code error;
    if (given.empty() || !fs::exists(given, error)) return;
    const fs::path path = absolute(given);
    if (fs::is_directory(path, error) && (holds_home(path) || holds_system(path))) return;
    m_mounts.try_emplace(path, false);
  }
  // A source of a repository belongs to it: its version is in there.
  void show_source(const fs::path& given) {
    std::error_code error;
    if (given.empty() || !fs::exists(given, error)) return;
    show(given);
    for (fs::path folder = absolute(given); folder.has_relative_path(); folder = folder.parent_path()) {
      const fs::path git = folder / ".git";
      if (!fs::exists(git, error)) continue;
      show(folder);
      // A worktree says where the rest of its repository is.
      if (fs::is_regular_file(git, error)) {
        const std::string text = sys::read_file_if_possible(git, 4096).value_or("");
        if (text.starts_with("gitdir: "))
          show((folder / fs::path(std::string(trim(text.substr(8))))).parent_path().parent_path());
      }
      break;
    }
  }
  void write(const fs::path& folder) {
    fs::create_directories(folder);
    m_mounts[absolute(folder)] = true;
  }
  [[nodiscard]] static bool holds_system(const fs::path& path) {
    return std::ranges::any_of(k_system_folders, [&](const char* folder) { return is_within(folder, path); });
  }
  [[nodiscard]] bool holds_home(const fs::path& path) const { return !m_home.empty() && is_within(m_home, path); }

  // What lies within something that is shown the same way needs no mount of its own.
  [[nodiscard]] std::vector<Mount> mounts() const {
    std::vector<Mount> result;
    for (const auto& [path, writable] : m_mounts) {
      const bool seen = std::ranges::any_of(
          result, [&](const Mount& mount) { return is_within(path, mount.path) && mount.writable == writable; });
      if (!seen) result.push_back({path, writable});
    }
    return result;
  }

 private:
  [[nodiscard]] fs::path absolute(const fs::path& path) const {
    fs::path result = (m_around.folder / path).lexically_normal();
    if (!result.has_filename()) result = result.parent_path();  // "folder/"
    return result;
  }

  const Surroundings& m_around;
  fs::path m_home;
  std::map<fs::path, bool> m_mounts;
};

void show_settings(Gatherer& gatherer, const settings::Settings& settings) {
  for (const char* name : {"env-file", "patch-dir", "recipes", "sysroot", "torch"}) gatherer.show(settings.text(name));
  for (const std::string& source : settings.list("source")) {
    const std::size_t equals = source.find('=');
    gatherer.show_source(local_path(source));
    if (equals != std::string::npos) gatherer.show_source(local_path(source.substr(equals + 1)));
  }
  for (const auto& [from, to] : settings.table("mirrors")) gatherer.show(local_path(to));
  for (const char* name : {"torch-index", "rocm-index"}) {
    const std::string place = local_path(settings.text(name));
    gatherer.show(place.substr(0, place.find('{')));  // up to the part that is filled in
  }
}

// The pages of an index lead to files beside its folder, as ../../packages.
void show_index(Gatherer& gatherer, const std::string& url) {
  fs::path folder = fs::path(local_path(url)).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  gatherer.show(folder);
  gatherer.show(folder.parent_path());
}

// pip inside asks the same indexes with the same certificates.
void add_index(Gatherer& gatherer, sys::Environment& variables, const fetch::IndexSettings& index) {
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) variables[name] = value;
  };
  set("PIP_INDEX_URL", index.index_url);
  set("PIP_EXTRA_INDEX_URL", join(index.extra_index_urls, " "));
  set("PIP_FIND_LINKS", join(index.find_links, " "));
  set("PIP_TRUSTED_HOST", join(index.trusted_hosts, " "));
  set("PIP_CERT", index.cert);
  set("PIP_CLIENT_CERT", index.client_cert);
  set("PIP_PROXY", index.proxy);
  if (index.no_index) variables["PIP_NO_INDEX"] = "1";
  for (const std::string& place : index.find_links) gatherer.show(local_path(place));
  for (const std::string& place : index.extra_index_urls) show_index(gatherer, place);
  show_index(gatherer, index.index_url);
  gatherer.show(index.cert);
  gatherer.show(index.client_cert);
}

void add_variables(Gatherer& gatherer, sys::Environment& variables, const Surroundings& around) {
  for (const auto& [name, value] : around.environment) {
    if (name.starts_with("WHEELSMITH_")) variables[name] = value;
  }
  std::vector<std::string> names = around.exported_variables;
  for (const char* name : {"http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy", "HTTP_PROXY",
                           "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SOURCE_DATE_EPOCH", "TERM", "COLORTERM", "NO_COLOR",
                           "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LANG", "LC_ALL", "LC_CTYPE"})
    names.emplace_back(name);
  for (const char* name : {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"}) {
    names.emplace_back(name);
    gatherer.show(variable(around.environment, name));
  }
  for (const std::string& name : names) {
    if (const std::string value = variable(around.environment, name); !value.empty()) variables[name] = value;
  }
}

// The user's own settings, and git's: mirrors are said there as often as in ours.
void show_user_files(Gatherer& gatherer, sys::Environment& variables, const Surroundings& around) {
  const fs::path config = settings::user_folder(around.environment);
  std::error_code error;
  if (!config.empty() && fs::is_directory(config, error)) {
    gatherer.show(config);
    variables["XDG_CONFIG_HOME"] = config.parent_path().string();
  }
  std::string git = variable(around.environment, "GIT_CONFIG_GLOBAL");
  if (git.empty()) git = (fs::path(variable(around.environment, "HOME")) / ".gitconfig").string();
  if (fs::is_regular_file(git, error)) {
    gatherer.show(git);
    variables["GIT_CONFIG_GLOBAL"] = git;
  }
}

bool has_nvidia_support(const fs::path& root, Engine engine) {
  std::error_code error;
  if (!fs::exists(root / "dev/nvidiactl", error)) return false;
  if (engine == Engine::apptainer) return true;
  if (engine == Engine::docker) return !sys::find_program("nvidia-container-cli").empty();
  return std::ranges::any_of(std::initializer_list<const char*>{"etc/cdi/nvidia.yaml", "etc/cdi/nvidia.json",
                                                                "var/run/cdi/nvidia.yaml", "run/cdi/nvidia.yaml"},
                             [&](const char* file) { return fs::exists(root / file, error); });
}

}  // namespace

Container visible(const settings::Settings& settings, const Surroundings& around, Engine engine) {
  Container container;
  Gatherer gatherer(around);
  gatherer.show(around.program);
  gatherer.write(around.store);
  gatherer.write(settings.text("out"));
  if (const std::string cache = settings.text("cache-dir"); !cache.empty()) gatherer.write(cache);
  show_settings(gatherer, settings);
  gatherer.show(around.folder);
  gatherer.show(settings::project_file(around.folder));
  if (gatherer.holds_home(around.folder) && !Gatherer::holds_system(around.folder))
    container.empty_folders.push_back(around.folder);
  add_index(gatherer, container.variables, around.index);
  add_variables(gatherer, container.variables, around);
  show_user_files(gatherer, container.variables, around);
  container.variables["WHEELSMITH_STORE"] = around.store.string();
  container.mounts = gatherer.mounts();
  container.folder = around.folder;
  container.options = settings.list("container-options");
  container.terminal = sys::all_streams_are_terminals();
  container.nvidia = has_nvidia_support(around.root, engine);
  std::error_code error;
  container.amd = fs::exists(around.root / "dev/kfd", error);
  // Docker's service runs as root, whoever asks it; podman maps us to root inside, unless we are root.
  container.rootless = engine != Engine::docker;
  container.user = ::geteuid();
  container.group = ::getegid();
  if (!container.rootless) container.variables["HOME"] = "/tmp";
  return container;
}

}  // namespace wheelsmith::container
