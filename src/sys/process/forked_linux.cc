#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/forked.h"

namespace wheelsmith::sys {

namespace {

constexpr useconds_t k_farewell_us = 50'000;  // for processes that are just being killed
constexpr int k_most_farewells = 20;

// The process that outlives the owner of a folder: it waits until no process holds the other end of the pipe.
[[noreturn]] void outlive(const std::filesystem::path& folder, int alive) {
  ::setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  (void)!::chdir("/");
  // Readers of the owner's output must not wait for us.
  for (int fd = 0; fd < 1024; ++fd) {
    if (fd != alive) ::close(fd);
  }
  std::array<char, 1> piece{};
  ssize_t got = 0;
  do {
    got = ::read(alive, piece.data(), piece.size());
  } while (got > 0 || (got < 0 && errno == EINTR));
  std::error_code error;
  for (int i = 0; i < k_most_farewells && std::filesystem::exists(folder, error); ++i) {
    if (i > 0) ::usleep(k_farewell_us);
    std::filesystem::remove_all(folder, error);
  }
  ::_exit(0);
}

}  // namespace

ForkedTask::ForkedTask(const std::function<std::string()>& task, int death_signal)
    : m_result(MemoryFile::make("result")) {
  const pid_t parent = ::getpid();
  m_pid = ::fork();
  if (m_pid < 0) throw Error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (m_pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, death_signal);
    if (::getppid() != parent) ::_exit(1);
    try {
      m_result.append(task());
    } catch (const std::exception&) {  // seen by the parent as a missing result
      ::_exit(1);
    }
    ::_exit(0);
  }
  m_end = Fd(static_cast<int>(::syscall(SYS_pidfd_open, m_pid, 0U)));
}

ForkedTask::~ForkedTask() {
  if (m_ended) return;
  signal(SIGTERM);
  reap(0);
}

bool ForkedTask::reap(int options) {
  if (m_ended) return true;
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(m_pid, &status, options);
  } while (ended < 0 && errno == EINTR);
  m_ended = ended != 0;
  m_good = ended == m_pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return m_ended;
}

bool ForkedTask::poll() { return reap(WNOHANG); }

std::optional<std::string> ForkedTask::result() const {
  return m_ended && m_good ? std::optional(m_result.content()) : std::nullopt;
}

void ForkedTask::signal(int number) const {
  if (!m_ended) ::kill(m_pid, number);
}

VanishingFolder::VanishingFolder(const std::string& prefix) : m_owner(::getpid()) {
  const char* given = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string name = std::string(given != nullptr && *given == '/' ? given : "/tmp") + "/" + prefix + "-XXXXXX";
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw_sys_error(errno, "make", "a pipe");
  Fd waiting(pipe[0]);
  m_alive = Fd(pipe[1]);
  if (::mkdtemp(name.data()) == nullptr) throw_sys_error(errno, "make", name);
  m_path = name;
  const pid_t pid = ::fork();
  if (pid == 0) outlive(m_path, waiting.raw());
  if (pid < 0) {
    const int error = errno;
    ::rmdir(name.c_str());
    throw_sys_error(error, "start", "a process");
  }
}

VanishingFolder::~VanishingFolder() {
  if (::getpid() != m_owner) return;
  std::error_code error;
  std::filesystem::remove_all(m_path, error);
}

}  // namespace wheelsmith::sys
