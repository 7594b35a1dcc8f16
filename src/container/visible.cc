// The parts of this machine that a container can access: only what the build needs. Foreign code runs inside, so the
// home folder is never mounted as a whole, and only the store, the wheelhouse and the compile cache are writable.

#include "container/visible.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "pep/project/project_page.h"
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

// Folders that the image has itself.
constexpr std::array k_system_folders = {"/bin", "/boot", "/dev",       "/etc",     "/lib",  "/lib64",
                                         "/opt", "/proc", "/root",      "/run",     "/sbin", "/sys",
                                         "/tmp", "/usr",  "/usr/local", "/usr/lib", "/var",  "/var/tmp"};

// The path of "file:///folder" or of a plain path; "" for other URLs.
std::string local_path(const std::string& place) {
  if (place.find("://") == std::string::npos) return place;
  return pep::path_of_file_url(place).value_or("");
}

std::vector<fs::path> home_folders(const sys::Environment& environment) {
  std::vector<fs::path> homes;
  const passwd* entry = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
  for (const fs::path& home :
       {fs::path(variable(environment, "HOME")), fs::path(entry == nullptr ? "" : entry->pw_dir)}) {
    if (!home.is_absolute() || home == home.root_path()) continue;
    std::error_code error;
    homes.push_back(home.lexically_normal());
    homes.push_back(fs::weakly_canonical(home, error));
  }
  return homes;
}

class Gatherer {
 public:
  explicit Gatherer(const MountInputs& around) : m_around(around), m_homes(home_folders(around.environment)) {}

  // Mounts a path if it exists. A parent of the home folder would expose all files of the user; a parent of system
  // folders would hide those of the image.
  void show(const fs::path& given) {
    std::error_code error;
    if (given.empty() || !fs::exists(given, error)) return;
    const fs::path path = absolute(given);
    if (fs::is_directory(path, error) && (holds_home(path) || holds_system(path))) return;
    m_mounts.try_emplace(path, false);
  }
  // A source in a repository needs the repository, which contains its version.
  void show_source(const fs::path& given) {
    std::error_code error;
    if (given.empty() || !fs::exists(given, error)) return;
    show(given);
    for (fs::path folder = absolute(given); folder.has_relative_path(); folder = folder.parent_path()) {
      const fs::path git = folder / ".git";
      if (!fs::exists(git, error)) continue;
      show(folder);
      // The .git file of a worktree refers to the main repository.
      if (fs::is_regular_file(git, error)) {
        const std::string text = sys::read_file_if_possible(git, 4096).value_or("");
        if (text.starts_with("gitdir: ")) show_repository(folder / fs::path(std::string(trim(text.substr(8)))), git);
      }
      break;
    }
  }
  // Throws Error for a folder that must not be mounted.
  void write(const fs::path& given) {
    const fs::path folder = absolute(given);
    if (holds_home(folder) || holds_system(folder))
      throw Error(fmt::format(
          "--container: {} cannot be mounted writable: it contains your home folder or system files; use a subfolder",
          printable(folder.string())));
    fs::create_directories(folder);
    m_mounts[folder] = true;
  }
  // `worktree` is the path in a .git file. The file came with the source and may be forged, so the repository must
  // refer back to it.
  void show_repository(const fs::path& worktree, const fs::path& git_file) {
    const fs::path repository = worktree.parent_path().parent_path();
    std::error_code error;
    if (!fs::is_regular_file(repository / "HEAD", error) || !fs::is_directory(repository / "objects", error)) return;
    const std::string back = sys::read_file_if_possible(worktree / "gitdir", 4096).value_or("");
    if (fs::equivalent(fs::path(std::string(trim(back))), git_file, error)) show(repository);
  }
  [[nodiscard]] static bool holds_system(const fs::path& path) {
    return std::ranges::any_of(k_system_folders, [&](const char* folder) { return sys::is_within(folder, path); });
  }
  // Compares the path and its link target, because a home folder is often a link.
  [[nodiscard]] bool holds_home(const fs::path& path) const {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    return std::ranges::any_of(m_homes, [&](const fs::path& home) {
      return sys::is_within(home, path) || sys::is_within(home, error ? path : real);
    });
  }

  // A path inside another mount with the same access needs no separate mount.
  [[nodiscard]] std::vector<Mount> mounts() const {
    std::vector<Mount> result;
    for (const auto& [path, writable] : m_mounts) {
      // In path order, the last enclosing mount is the innermost.
      const auto around = std::find_if(result.rbegin(), result.rend(),
                                       [&](const Mount& mount) { return sys::is_within(path, mount.path); });
      if (around == result.rend() || around->writable != writable) result.push_back({path, writable});
    }
    return result;
  }

 private:
  [[nodiscard]] fs::path absolute(const fs::path& path) const {
    fs::path result = (m_around.folder / path).lexically_normal();
    if (!result.has_filename()) result = result.parent_path();  // "folder/"
    return result;
  }

  const MountInputs& m_around;
  std::vector<fs::path> m_homes;
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
  // The compile cache may be a socket.
  const std::string remote = settings.text("cache-remote");
  if (const std::size_t path = remote.find("+unix://"); path != std::string::npos)
    gatherer.show(remote.substr(path + 8));
  for (const char* name : {"torch-index", "rocm-index"}) {
    const std::string place = local_path(settings.text(name));
    gatherer.show(place.substr(0, place.find('{')));  // up to the placeholder
  }
}

// Index pages may link to files outside their folder, such as ../../packages.
void show_index(Gatherer& gatherer, const std::string& url) {
  fs::path folder = fs::path(local_path(url)).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  gatherer.show(folder);
  gatherer.show(folder.parent_path());
}

// pip inside uses the same indexes and certificates.
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

void add_variables(Gatherer& gatherer, sys::Environment& variables, const MountInputs& around) {
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

// The settings of the user and of git, which may both define mirrors.
void show_user_files(Gatherer& gatherer, sys::Environment& variables, const MountInputs& around) {
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

Container visible(const settings::Settings& settings, const MountInputs& around, const Image& image) {
  Container container;
  Gatherer gatherer(around);
  gatherer.show(around.program);
  gatherer.write(around.store);
  gatherer.write(settings.text("out"));
  if (const std::string cache = settings.text("cache-dir"); !cache.empty()) gatherer.write(cache);
  show_settings(gatherer, settings);
  gatherer.show(around.folder);
  const fs::path& project = settings.project_file();
  gatherer.show(project.parent_path());
  gatherer.show(project);
  if (gatherer.holds_home(around.folder) && !Gatherer::holds_system(around.folder))
    container.empty_folders.push_back(around.folder);
  add_index(gatherer, container.variables, around.index);
  add_variables(gatherer, container.variables, around);
  show_user_files(gatherer, container.variables, around);
  // A trusted project file is also trusted inside, where the trust list is not visible.
  if (settings.project_is_trusted()) container.variables["WHEELSMITH_CONFIG"] = project.string();
  container.variables["WHEELSMITH_STORE"] = around.store.string();
  container.mounts = gatherer.mounts();
  container.folder = around.folder;
  container.options = settings.list("container-options");
  container.terminal = sys::all_streams_are_terminals();
  container.nvidia = has_nvidia_support(around.root, image.engine);
  std::error_code error;
  container.amd = fs::exists(around.root / "dev/kfd", error);
  container.rootless = image.rootless;
  container.user = ::geteuid();
  container.group = ::getegid();
  if (!container.rootless) container.variables["HOME"] = "/tmp";
  return container;
}

}  // namespace wheelsmith::container
