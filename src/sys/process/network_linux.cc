#include "sys/process/network_linux.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sys/process/process.h"

// A build that uses the network depends on inputs that its key does not hash. The kernel can take the network away from
// a process: a new network namespace starts with only a loopback device, which is down. Root (CAP_SYS_ADMIN) may create
// one directly; other users only inside their own user namespace, which many machines allow and some forbid (Docker's
// default seccomp filter, Ubuntu 24.04's AppArmor rule, user.max_user_namespaces=0).
//
// Root uses the first way although the second works too: in a user namespace that maps only root's own ID, every chown
// to another user fails, and tar as root does that with each file it unpacks.

namespace wheelsmith::sys {

namespace {

// 0 or errno.
int write_text(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const std::size_t size = std::strlen(text);
  const ssize_t written = ::write(fd, text, size);
  const int error = written < 0 ? errno : 0;
  ::close(fd);
  return error != 0 ? error : (static_cast<std::size_t>(written) == size ? 0 : EIO);
}

}  // namespace

int bring_loopback_up() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  int error = 0;
  if (::ioctl(fd, SIOCGIFFLAGS, &request) != 0) {
    error = errno;
  } else {
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    if (::ioctl(fd, SIOCSIFFLAGS, &request) != 0) error = errno;
  }
  ::close(fd);
  return error;
}

int map_identity(const IdentityMaps& maps) {
  if (const int error = write_text("/proc/self/uid_map", maps.users.data()); error != 0) return error;
  // Without this the kernel lets only root map a group: dropping a group could grant access that the group denied.
  if (const int error = write_text("/proc/self/setgroups", "deny"); error != 0 && error != ENOENT) return error;
  return write_text("/proc/self/gid_map", maps.groups.data());
}

IdentityMaps identity_maps() {
  IdentityMaps maps;
  const auto write = [](std::array<char, 64>& text, unsigned id) {
    *fmt::format_to_n(text.data(), text.size() - 1, "{} {} 1\n", id, id).out = '\0';
  };
  write(maps.users, ::geteuid());
  write(maps.groups, ::getegid());
  return maps;
}

int leave_network(const IdentityMaps& maps) {
  if (::unshare(CLONE_NEWNET) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return errno;
    if (const int error = map_identity(maps); error != 0) return error;
  }
  return bring_loopback_up();
}

bool can_isolate_network() {
  // The answer cannot change while we run, and each test costs a process.
  static const bool answer = [] {
    const IdentityMaps maps = identity_maps();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(leave_network(maps) == 0 ? 0 : 1);
    if (child < 0) return false;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
      if (errno != EINTR) return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }();
  return answer;
}

}  // namespace wheelsmith::sys
