#include "sys/sandbox/root_linux.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/sandbox/system_places.h"

// The new root is an empty file system in memory. The policy's paths are mounted into it under their original names:
// parent folders are created and links on the way recreated, so that every path either works as before or does not
// exist. The old root is mounted at /.outside meanwhile and detached at the end; anything not mounted by then is
// unreachable, not merely forbidden.

namespace wheelsmith::sys {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_outside = "/.outside";
constexpr int k_most_links = 40;

[[noreturn]] void root_failed(const std::string& what) {
  throw Error(fmt::format("cannot create the sandbox: {}: {}", what, std::generic_category().message(errno)));
}

void mount_or_fail(const char* source, const fs::path& target, const char* type, unsigned long flags,
                   const char* options = nullptr) {
  if (::mount(source, target.c_str(), type, flags, options) != 0) root_failed("mounting " + printable(target.string()));
}

enum class Below : std::uint8_t { too, untouched };

// With all mounts below it. Kernels before 5.12 cannot do that atomically; there the mounts below stay as they are.
void restrict_mount(const fs::path& path, std::uint64_t attributes, Below below = Below::too) {
  mount_attr attr{};
  attr.attr_set = attributes;
  if (::syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), below == Below::too ? AT_RECURSIVE : 0, &attr,
                sizeof attr) == 0)
    return;
  if (errno != ENOSYS) root_failed("making " + printable(path.string()) + " read-only");
  struct statvfs status{};
  if (::statvfs(path.c_str(), &status) != 0) root_failed("examining " + printable(path.string()));
  // Flags that the mount already has are locked: omitting one fails.
  unsigned long flags = MS_REMOUNT | MS_BIND;
  flags |= status.f_flag & (ST_NOSUID | ST_NODEV | ST_NOEXEC | ST_RDONLY | ST_NOATIME | ST_NODIRATIME | ST_RELATIME);
  if ((attributes & MOUNT_ATTR_RDONLY) != 0) flags |= MS_RDONLY;
  if ((attributes & MOUNT_ATTR_NOSUID) != 0) flags |= MS_NOSUID;
  if ((attributes & MOUNT_ATTR_NODEV) != 0) flags |= MS_NODEV;
  if (::mount(nullptr, path.c_str(), nullptr, flags, nullptr) != 0)
    root_failed("making " + printable(path.string()) + " read-only");
}

bool is_there(const fs::path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

class Root {
 public:
  // Makes an outside path visible: its target is mounted, with `attributes`.
  void show(const fs::path& path, std::uint64_t attributes) {
    int links = 0;
    const std::optional<fs::path> place = make_way(path, links);
    if (!place) return;
    // A parent folder is already visible in the same way.
    if ((attributes & MOUNT_ATTR_RDONLY) != 0 && is_below_shown(*place)) return;
    const fs::path source = outside(*place);
    if (::mount(source.c_str(), place->c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      root_failed("mounting " + printable(path.string()));
    restrict_mount(*place, attributes);
    m_shown.insert(*place);
  }

  // Covers a visible path with an empty folder or an empty, read-only file.
  void hide(const fs::path& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return;
    if (S_ISDIR(status.st_mode)) {
      mount_or_fail("none", path, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755");
      m_hidden.push_back(path);
    } else {
      mount_or_fail("/dev/null", path, nullptr, MS_BIND);
      restrict_mount(path, MOUNT_ATTR_RDONLY);
    }
    m_shown.insert(path);
  }

  // Folders that cover hidden paths hold the mount points of visible paths inside them; then they are made read-only.
  void close() {
    for (const fs::path& path : m_hidden) restrict_mount(path, MOUNT_ATTR_RDONLY, Below::untouched);
  }

 private:
  static fs::path outside(const fs::path& path) { return std::string(k_outside) + path.string(); }

  // Inside a visible folder, and not inside a cover.
  [[nodiscard]] bool is_below_shown(const fs::path& path) const {
    for (fs::path folder = path; folder != folder.root_path(); folder = folder.parent_path()) {
      if (m_shown.contains(folder)) return std::find(m_hidden.begin(), m_hidden.end(), folder) == m_hidden.end();
    }
    return false;
  }

  // The path with all links resolved; nothing when it does not exist outside.
  std::optional<fs::path> make_way(const fs::path& path, int& links) {
    fs::path here = "/";
    const fs::path normal = path.lexically_normal();
    for (auto part = normal.begin(); part != normal.end(); ++part) {
      if (*part == "/" || part->empty() || *part == ".") continue;
      const fs::path next = here / *part;
      struct stat status{};
      if (::lstat(outside(next).c_str(), &status) != 0) return std::nullopt;
      if (S_ISLNK(status.st_mode)) {
        if (++links > k_most_links) return std::nullopt;
        std::error_code error;
        const fs::path target = fs::read_symlink(outside(next), error);
        if (error) return std::nullopt;
        if (!is_there(next)) fs::create_symlink(target, next, error);
        fs::path rest = target.is_absolute() ? target : here / target;
        for (++part; part != normal.end(); ++part) rest /= *part;
        return make_way(rest, links);
      }
      if (!is_there(next)) make_place(next, S_ISDIR(status.st_mode));
      here = next;
    }
    return here;
  }

  static void make_place(const fs::path& path, bool folder) {
    const int made = folder ? ::mkdir(path.c_str(), 0755) : ::mknod(path.c_str(), S_IFREG | 0644, 0);
    if (made != 0 && errno != EEXIST) root_failed("creating " + printable(path.string()));
  }

  std::set<fs::path> m_shown;
  std::vector<fs::path> m_hidden;
};

void make_devices(Root& root, const SandboxPolicy& policy) {
  ::mkdir("/dev", 0755);
  for (const std::string_view name : k_plain_devices)
    root.show("/dev/" + std::string(name), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  for (const fs::path& path : policy.devices) root.show(path, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  for (const char* name : {"/dev/shm", "/dev/pts"}) ::mkdir(name, 0755);
  mount_or_fail("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  // Private terminals, for programs that start others in one. A kernel without them can still build.
  if (::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620") == 0)
    (void)!::symlink("pts/ptmx", "/dev/ptmx");
  (void)!::symlink("/proc/self/fd", "/dev/fd");
  (void)!::symlink("/proc/self/fd/0", "/dev/stdin");
  (void)!::symlink("/proc/self/fd/1", "/dev/stdout");
  (void)!::symlink("/proc/self/fd/2", "/dev/stderr");
}

// From Linux 6.14 on kernel.pid_max applies per PID namespace, and so also bounds a fork bomb of root, for whom
// RLIMIT_NPROC does not count. Before that it applies to the whole machine and is left alone.
bool has_own_pid_limit() {
  utsname kernel{};
  unsigned major = 0, minor = 0;
  if (::uname(&kernel) != 0 || std::sscanf(kernel.release, "%u.%u", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 14);
}

// It shows only the sandbox's processes. Outside root may write to much of it without any capability.
void make_proc() {
  ::mkdir("/proc", 0755);
  mount_or_fail("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC);
  if (has_own_pid_limit()) {
    const std::string processes = std::to_string(std::max(2048u, 64 * usable_threads()));
    if (const int fd = ::open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC); fd >= 0) {
      (void)!::write(fd, processes.data(), processes.size());
      ::close(fd);
    }
  }
  for (const char* name : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi",
                           "/proc/scsi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/timer_list"}) {
    if (::mount(name, name, nullptr, MS_BIND | MS_REC, nullptr) == 0) restrict_mount(name, MOUNT_ATTR_RDONLY);
  }
  for (const char* name : {"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sysrq-trigger"}) {
    if (is_there(name)) (void)!::mount("/dev/null", name, nullptr, MS_BIND, nullptr);
  }
}

// /etc contains keys and passwords that only root reads, and we may be root.
void hide_what_is_not_for_everybody(Root& root, const fs::path& folder, int depth) {
  std::error_code error;
  std::vector<fs::path> secret;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_symlink(error)) continue;
    if (!is_for_everybody(entry.path()))
      secret.push_back(entry.path());
    else if (entry.is_directory(error) && depth < 8)
      hide_what_is_not_for_everybody(root, entry.path(), depth + 1);
  }
  for (const fs::path& path : secret) root.hide(path);
}

struct Place {
  fs::path path, real;
  std::optional<std::uint64_t> attributes;  // nothing: hidden
};

// Short paths first: a writable folder inside a readable one is mounted over it. Lengths are those of real paths, links
// resolved: an alias does not show which folder contains which.
std::vector<Place> ordered_places(const SandboxPolicy& policy, std::uint64_t read_only, std::uint64_t own) {
  std::vector<Place> places;
  const auto add = [&](const fs::path& path, std::optional<std::uint64_t> attributes) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    places.push_back({path, error ? path : real, attributes});
  };
  for (const fs::path& path : policy.hidden) add(path, std::nullopt);
  for (const fs::path& path : policy.readable) add(path, read_only);
  for (const fs::path& path : policy.writable) add(path, own);
  if (policy.network) add("/etc/resolv.conf", read_only);
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.real.native().size() < b.real.native().size(); });
  return places;
}

void change_root() {
  mount_or_fail("none", "/", nullptr, MS_REC | MS_PRIVATE);
  // Any folder works as the mount point of the new root; it is not changed.
  const char* base = "/tmp";
  struct stat status{};
  if (::stat(base, &status) != 0 || !S_ISDIR(status.st_mode)) base = "/usr";
  mount_or_fail("none", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=0755");
  const fs::path hook = fs::path(base) / (k_outside + 1);
  if (::mkdir(hook.c_str(), 0755) != 0) root_failed("creating the new root");
  if (::syscall(SYS_pivot_root, base, hook.c_str()) != 0) root_failed("changing the root");
  if (::chdir("/") != 0) root_failed("entering the new root");
}

}  // namespace

void enter_own_root(const SandboxPolicy& policy) {
  constexpr std::uint64_t k_read_only = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  constexpr std::uint64_t k_own = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  std::error_code error;
  const fs::path folder = fs::current_path(error);
  const std::vector<fs::path> system = system_places();
  const std::vector<Place> places = ordered_places(policy, k_read_only, k_own);
  change_root();
  Root root;
  for (const fs::path& path : system) root.show(path, k_read_only);
  root.show("/sys", k_read_only);
  make_devices(root, policy);
  hide_what_is_not_for_everybody(root, "/etc", 0);
  make_proc();
  for (const char* name : {"/run", "/tmp", "/var", "/var/tmp", "/home", "/root", "/mnt", "/srv"}) ::mkdir(name, 0755);
  if (policy.temporary.empty()) {
    for (const char* name : {"/tmp", "/var/tmp"})
      mount_or_fail("none", name, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  } else {
    const std::string source = k_outside + policy.temporary.string();
    for (const char* name : {"/tmp", "/var/tmp"}) {
      mount_or_fail(source.c_str(), name, nullptr, MS_BIND);
      restrict_mount(name, k_own);
    }
  }
  for (const Place& place : places) {
    if (place.attributes)
      root.show(place.path, *place.attributes);
    else
      root.hide(place.real);
  }
  root.close();
  if (::umount2(k_outside, MNT_DETACH) != 0) root_failed("leaving the old root");
  ::rmdir(k_outside);
  restrict_mount("/", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, Below::untouched);
  // Interpreter queries start from the user's current folder, which is not visible.
  if (folder.empty() || ::chdir(folder.c_str()) != 0) (void)!::chdir("/");
}

}  // namespace wheelsmith::sys
