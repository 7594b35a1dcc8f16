#include "run/sandbox.h"

#include <fmt/format.h>
#include <glob.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"

// Foreign code sees the system, the interpreter, the packages and tools its step was planned with, and its own folders;
// everything else is invisible. The list must therefore be complete. It comes from the plan, never from the step's
// tree, which the package could have changed.

namespace wheelsmith::run {

namespace fs = std::filesystem;

namespace {

// Service sockets, devices and machine configuration.
constexpr std::array k_never_opened = {"/dev", "/etc", "/proc", "/run", "/sys", "/var/run"};

// Siblings of bin/ in an installation prefix. cmake's wheel has only share/.
constexpr std::array k_prefix_folders = {"lib", "lib64", "libexec", "include", "share"};

std::vector<fs::path> homes() {
  std::vector<fs::path> result = {"/root", "/home"};
  const char* named = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): never modified
  if (named != nullptr && *named == '/') result.emplace_back(named);
  const passwd* user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe): from one thread
  if (user != nullptr && user->pw_dir != nullptr && *user->pw_dir == '/') result.emplace_back(user->pw_dir);
  // Container and service users may have "/" or a system folder as home.
  std::erase_if(result, [](const fs::path& path) {
    const fs::path normal = path.lexically_normal();
    return normal == "/" || normal == "/usr" || normal == "/opt" || normal == "/etc" || normal == "/var" ||
           normal == "/tmp" || normal == "/bin" || normal == "/dev" || normal == "/nonexistent";
  });
  return result;
}

fs::path real_place(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : real;
}

}  // namespace

sys::SandboxMode sandbox_mode(const SandboxOptions& options) {
  if (options.mode == "off") return sys::SandboxMode::off;
  const sys::SandboxSupport& support = sys::sandbox_support();
  if (options.mode == "namespaces") {
    if (!support.namespaces)
      throw Error(fmt::format("--sandbox namespaces: the kernel does not allow namespaces here: {}",
                              support.why_no_namespaces));
    return sys::SandboxMode::namespaces;
  }
  if (options.mode == "landlock" && support.landlock == 0)
    throw Error("--sandbox landlock: this kernel has no Landlock");
  // Running foreign code without any protection is the user's decision.
  if (!support.why_no_filter.empty())
    throw Error(
        fmt::format("{}. No sandbox is possible here (qemu's user mode is one such place); --sandbox off runs "
                    "build scripts and tests with all of your permissions",
                    support.why_no_filter));
  if (options.mode == "landlock") return sys::SandboxMode::landlock;
  if (support.namespaces) return sys::SandboxMode::namespaces;
  // Landlock version 1 rejects every rename between folders, which builds need.
  return support.landlock > 1 ? sys::SandboxMode::landlock : sys::SandboxMode::calls;
}

std::string sandbox_shortage(sys::SandboxMode mode, bool chosen) {
  switch (mode) {
    case sys::SandboxMode::namespaces: return "";
    case sys::SandboxMode::off: return "sandbox: off; build scripts and tests run with all of your permissions";
    case sys::SandboxMode::landlock:
      return chosen ? "sandbox: Landlock allows no connections, not even within this machine: a compile cache that the "
                      "package starts by itself (sccache) cannot be reached"
                    : "sandbox: the kernel does not allow namespaces here; using Landlock, which does not hide other "
                      "processes and allows no connections, not even within this machine: a compile cache that the "
                      "package starts by itself (sccache) cannot be reached";
    case sys::SandboxMode::calls: break;
  }
  return "sandbox: the kernel allows neither namespaces nor Landlock here; build scripts and tests can read and write "
         "all of your files";
}

PolicyMaker::PolicyMaker(const SandboxOptions& options, const std::vector<fs::path>& stores) : m_homes(homes()) {
  for (const fs::path& store : stores) m_stores.push_back(real_place(store));
  m_policy.mode = sandbox_mode(options);
  m_policy.hidden = m_homes;
  m_policy.hidden.insert(m_policy.hidden.end(), m_stores.begin(), m_stores.end());
  read(sys::own_executable());
  for (const fs::path& path : options.open) m_policy.readable.push_back(fs::absolute(path).lexically_normal());
}

bool PolicyMaker::is_in_store(const fs::path& real) const {
  return std::any_of(m_stores.begin(), m_stores.end(),
                     [&](const fs::path& store) { return sys::is_within(real, store); });
}

bool PolicyMaker::is_private(const fs::path& path) const {
  const fs::path real = real_place(path);
  if (is_in_store(real)) return true;
  return std::any_of(m_homes.begin(), m_homes.end(),
                     [&](const fs::path& home) { return sys::is_within(real, real_place(home)); });
}

// A folder that contains the store or a home, such as "/".
bool PolicyMaker::is_too_wide(const fs::path& path) const {
  const fs::path real = real_place(path);
  const bool has_store =
      std::any_of(m_stores.begin(), m_stores.end(), [&](const fs::path& store) { return sys::is_within(store, real); });
  if (has_store) return true;
  return std::any_of(m_homes.begin(), m_homes.end(),
                     [&](const fs::path& home) { return sys::is_within(real_place(home), real); });
}

void PolicyMaker::read(const fs::path& path) {
  if (!path.is_absolute() || real_place(path) == "/") return;
  // With namespaces, the store and homes inside it are hidden again; Landlock cannot revoke access to a subfolder.
  const bool is_hidden = std::any_of(m_policy.hidden.begin(), m_policy.hidden.end(),
                                     [&](const fs::path& hidden) { return real_place(hidden) == real_place(path); });
  if (m_policy.mode == sys::SandboxMode::namespaces ? is_hidden : is_too_wide(path)) return;
  m_policy.readable.push_back(path.lexically_normal());
}

void PolicyMaker::write(const fs::path& path) { m_policy.writable.push_back(path.lexically_normal()); }

void PolicyMaker::python(const toolchain::Python& python) {
  for (const fs::path& path : {python.base_prefix, python.prefix, python.stdlib, python.include}) read(path);
  program(python.executable);
}

void PolicyMaker::site(const fs::path& folder) {
  read(folder);
  // Packages wrote the store's content: their .pth files can name any path.
  if (is_in_store(real_place(folder))) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".pth") continue;
    const std::string text = sys::read_file_if_possible(entry.path(), 1 << 16).value_or("");
    for (const std::string_view line : lines(text)) {
      const fs::path named{std::string(trim(line))};
      if (named.is_absolute() && sys::is_folder(named)) read(named);
    }
  }
}

void PolicyMaker::program(const fs::path& path) {
  if (!path.is_absolute()) return;
  for (const fs::path& one : {path.lexically_normal(), real_place(path)}) {
    const fs::path folder = one.parent_path(), above = folder.parent_path();
    const bool is_prefix =
        folder.filename() == "bin" && std::any_of(k_prefix_folders.begin(), k_prefix_folders.end(),
                                                  [&](const char* name) { return sys::is_folder(above / name); });
    if (is_prefix && above.filename() == ".local") {
      // `pip install --user`: its share/ holds data of all of the user's programs, so it stays closed.
      for (const char* name : {"bin", "lib", "lib64", "libexec", "include"}) read(above / name);
    } else if (is_prefix && !is_too_wide(above))
      read(above);
    else if (!is_too_wide(folder))
      read(folder);
    else
      m_policy.readable.push_back(one);
  }
}

void PolicyMaker::gpu_devices() {
  for (const char* pattern : {"/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/kfd", "/dev/dri/*", "/dev/dxg"}) {
    glob_t found{};
    if (::glob(pattern, GLOB_NOSORT, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) {
        std::error_code error;
        if (fs::is_character_file(found.gl_pathv[i], error)) m_policy.devices.emplace_back(found.gl_pathv[i]);
      }
    }
    ::globfree(&found);
  }
}

void PolicyMaker::opened_by_recipe(const std::vector<recipe::OpenPath>& paths) {
  for (const recipe::OpenPath& open : paths) {
    const fs::path path = fs::path(open.path).lexically_normal();
    const fs::path real = real_place(path);
    std::error_code error;
    if (sys::is_within(real, "/dev") && fs::is_character_file(real, error)) {
      m_policy.devices.push_back(path);
      continue;
    }
    const bool of_the_system = std::any_of(k_never_opened.begin(), k_never_opened.end(), [&](const char* folder) {
      return sys::is_within(real, folder) || sys::is_within(folder, real);
    });
    if (of_the_system || fs::is_socket(real, error))
      throw Error(
          fmt::format("the recipe opens {}, a socket or a system folder; a recipe cannot open it, use --sandbox-open",
                      printable(open.path)));
    if (is_private(path) || is_too_wide(path)) {
      throw Error(fmt::format(
          "the recipe opens {}, which is in your home folder or the store; a recipe cannot open it, use --sandbox-open",
          printable(open.path)));
    }
    (open.write ? m_policy.writable : m_policy.readable).push_back(path);
  }
}

std::vector<fs::path> paths_in(std::string_view text) {
  std::vector<fs::path> result;
  constexpr std::string_view k_between = ":;,= \t\n'\"";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(k_between), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (const std::string_view option : {"-I", "-L", "-isystem", "-idirafter", "-B"}) {
      if (word.starts_with(option) && word.substr(option.size()).starts_with('/')) word.remove_prefix(option.size());
    }
    if (!word.starts_with('/') || word == "/") continue;
    const fs::path path = fs::path(word).lexically_normal();
    std::error_code error;
    if (fs::exists(path, error)) result.push_back(path);
  }
  return result;
}

}  // namespace wheelsmith::run
