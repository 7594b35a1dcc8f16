#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "governor/shim/shim_child.h"

namespace wheelsmith::governor {

namespace {

// The kernel adds it to a process' size in thousandths of all memory when it looks for the one to end: compilers go
// before the build system, and before us.
constexpr int k_oom_score = 500;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// The exec hook is preloaded into us as well, where we are not linked statically, and would send us to ourselves.
void exec_past_hook(const char* program, char* const* argv, char* const* environment) {
  ::syscall(SYS_execve, program, argv, environment);
}

void raise_oom_score() {
  const int fd = ::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  std::array<char, 16> text{};
  const ssize_t size = ::read(fd, text.data(), text.size() - 1);
  if (size > 0 && std::atoi(text.data()) < k_oom_score) [[maybe_unused]]
    const auto written = ::pwrite(fd, "500", 3, 0);
  ::close(fd);
}

bool same_file(int a, int b) {
  struct stat first{};
  struct stat second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

int new_keeper() {
  const int fd = ::memfd_create("output", MFD_CLOEXEC);
  if (fd >= 0) ::fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

std::string content(int fd) {
  struct stat status{};
  if (fd < 0 || ::fstat(fd, &status) != 0) return {};
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::pread(fd, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd waiting{fd, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return;
    } else if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
}

}  // namespace

int become(const std::string& program, const std::vector<std::string>& argv,
           const std::vector<std::string>& environment) {
  const std::vector<char*> words = pointers(argv);
  const std::vector<char*> variables = pointers(environment);
  exec_past_hook(program.c_str(), words.data(), variables.data());
  return errno;
}

ShimChild::ShimChild(const std::string& program, const std::vector<std::string>& argv,
                     const std::vector<std::string>& environment) {
  if (::isatty(STDERR_FILENO) == 0) {
    m_kept_errors = new_keeper();
    // One keeper when both go to one place: lines stay in their order.
    m_kept_output = same_file(STDOUT_FILENO, STDERR_FILENO) ? ::dup(m_kept_errors) : new_keeper();
  }
  const std::vector<char*> words = pointers(argv);
  const std::vector<char*> variables = pointers(environment);
  const pid_t parent = ::getpid();
  const int output = m_kept_output;
  const int errors = m_kept_errors;
  // It shares our memory until it is the compiler: with vfork a call costs a tenth of a millisecond less.
  m_pid = ::vfork();
  if (m_pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    raise_oom_score();
    if (output >= 0) ::dup2(output, STDOUT_FILENO);
    if (errors >= 0) ::dup2(errors, STDERR_FILENO);
    exec_past_hook(program.c_str(), words.data(), variables.data());
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  if (m_pid < 0) throw Error("cannot start " + printable(program) + ": " + std::strerror(errno));
}

ShimChild::~ShimChild() {
  for (const int fd : {m_kept_output, m_kept_errors}) {
    if (fd >= 0) ::close(fd);
  }
}

ChildEnd ShimChild::wait(int fd, const std::function<int()>& on_readable, const std::function<int()>& on_tick,
                         int asker, const std::function<int()>& on_asked) {
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, m_pid, 0U));
  int status = 0;
  rusage usage{};
  for (;;) {
    const pid_t ended = ::wait4(m_pid, &status, WNOHANG, &usage);
    if (ended == m_pid || (ended < 0 && errno == ECHILD)) break;
    std::array<pollfd, 3> fds{{{pidfd, POLLIN, 0}, {fd, POLLIN, 0}, {asker, POLLIN, 0}}};
    const int timeout = pidfd < 0 ? 10 : (fd < 0 ? 100 : (asker < 0 ? -1 : 1000));
    const int ready = ::poll(fds.data(), fds.size(), timeout);
    if (ready > 0 && fds[1].revents != 0) fd = on_readable();
    if (ready > 0 && fds[2].revents != 0) asker = on_asked();
    if (ready == 0 && (fd < 0 || asker >= 0)) fd = on_tick();
  }
  if (pidfd >= 0) ::close(pidfd);
  ChildEnd end;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  end.largest_process = static_cast<std::uint64_t>(std::max(0L, usage.ru_maxrss)) * 1024;
  return end;
}

std::string ShimChild::output() const {
  return same_file(m_kept_output, m_kept_errors) ? content(m_kept_errors)
                                                 : content(m_kept_output) + content(m_kept_errors);
}

void ShimChild::show_output() const {
  if (m_kept_errors < 0) return;
  if (!same_file(m_kept_output, m_kept_errors)) write_all(STDOUT_FILENO, content(m_kept_output));
  write_all(STDERR_FILENO, content(m_kept_errors));
}

}  // namespace wheelsmith::governor
