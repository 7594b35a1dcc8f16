#include "sys/sandbox/landlock_linux.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <system_error>

#include "base/error.h"
#include "sys/io/fd.h"
#include "sys/sandbox/system_places.h"

// Landlock needs no namespaces, so it works in containers that forbid them. It denies opening files and, from version 4
// on, TCP; it hides nothing: names of processes and files stay visible, and /tmp is shared (a step has TMPDIR in its
// own tree).

namespace wheelsmith::sys {

namespace {

// Rights and flags newer than Debian's headers.
constexpr std::uint64_t k_read =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t k_first_rights = (1ull << 13) - 1;
constexpr std::uint64_t k_refer = 1ull << 13;       // 2
constexpr std::uint64_t k_truncate = 1ull << 14;    // 3
constexpr std::uint64_t k_ioctl_dev = 1ull << 15;   // 5
constexpr std::uint64_t k_tcp = 0b11;               // 4: bind, connect
constexpr std::uint64_t k_abstract_sockets = 0b01;  // 6
constexpr std::uint64_t k_scopes = 0b11;            // 6: abstract sockets, signals
constexpr std::uint64_t k_file_rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                        LANDLOCK_ACCESS_FS_READ_FILE | k_truncate | k_ioctl_dev;

struct Ruleset {
  std::uint64_t files = 0, network = 0, scopes = 0;
};

[[noreturn]] void landlock_failed(const std::string& what) {
  throw Error("cannot create the sandbox: Landlock: " + what + ": " + std::generic_category().message(errno));
}

std::uint64_t rights_of(int version) {
  std::uint64_t rights = k_first_rights;
  if (version >= 2) rights |= k_refer;
  if (version >= 3) rights |= k_truncate;
  if (version >= 5) rights |= k_ioctl_dev;
  return rights;
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

void leave_abstract_sockets() {
  if (landlock_version() < 6) return;
  const Ruleset ruleset{.scopes = k_abstract_sockets};
  const Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0)));
  if (!rules.is_open()) landlock_failed("rules");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) landlock_failed("no_new_privs");
  if (::syscall(SYS_landlock_restrict_self, rules.raw(), 0) != 0) landlock_failed("entering");
}

void enter_landlock(const SandboxPolicy& policy) {
  const int version = landlock_version();
  if (version == 0) landlock_failed("not available in this kernel");
  const std::uint64_t all = rights_of(version);
  Ruleset ruleset{.files = all};
  if (version >= 4 && !policy.network) ruleset.network = k_tcp;
  if (version >= 6) ruleset.scopes = k_scopes;
  const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &ruleset, size, 0)));
  if (!rules.is_open()) landlock_failed("rules");
  const auto allow = [&](const std::filesystem::path& path, std::uint64_t rights) {
    const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status{};
    if (!place.is_open() || ::fstat(place.raw(), &status) != 0) return;  // a missing path needs no rule
    if (!S_ISDIR(status.st_mode)) rights &= k_file_rights;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights & all;
    rule.parent_fd = place.raw();
    if (::syscall(SYS_landlock_add_rule, rules.raw(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
      landlock_failed(path.string());
  };
  for (const std::filesystem::path& path : system_places()) {
    if (path != "/etc") allow(path, k_read);
  }
  // Rules only add: files readable only by root are left out one by one.
  allow("/etc", LANDLOCK_ACCESS_FS_READ_DIR);
  const std::function<bool(const std::filesystem::path&, int)> allow_public = [&](const std::filesystem::path& folder,
                                                                                  int depth) {
    std::vector<std::filesystem::path> whole;
    bool all_public = true;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (entry.is_symlink(error)) continue;  // its target counts
      const bool is_folder = entry.is_directory(error);
      if (!is_for_everybody(entry.path()) || (is_folder && (depth > 8 || !allow_public(entry.path(), depth + 1))))
        all_public = false;
      else
        whole.push_back(entry.path());
    }
    if (all_public && depth > 0) return true;  // the caller allows it as a whole
    for (const std::filesystem::path& path : whole) allow(path, k_read);
    return false;
  };
  (void)allow_public("/etc", 0);
  for (const char* path : {"/proc", "/sys"}) allow(path, k_read);
  allow("/proc/self", all);
  for (const std::string_view name : k_plain_devices) allow("/dev/" + std::string(name), all);
  // Not /dev/pts: its terminals belong to the user.
  allow("/dev/shm", all);
  for (const std::filesystem::path& path : policy.devices) allow(path, all);
  for (const std::filesystem::path& path : policy.readable) allow(path, k_read);
  for (const std::filesystem::path& path : policy.writable) allow(path, all);
  allow(policy.temporary, all);
  if (policy.network) {
    for (const char* path : {"/etc/resolv.conf", "/run/systemd/resolve", "/run/nscd"}) allow(path, k_read);
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) landlock_failed("no_new_privs");
  if (::syscall(SYS_landlock_restrict_self, rules.raw(), 0) != 0) landlock_failed("entering");
}

}  // namespace wheelsmith::sys
