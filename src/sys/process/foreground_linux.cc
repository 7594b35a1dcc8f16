#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "sys/process/foreground.h"

// A shim starts its compiler thousands of times in a build, so the child is created with vfork: it shares our memory
// until exec, which saves a tenth of a millisecond each time. In between it only makes system calls, and we can read
// anything it writes to our memory (why it could not start).

namespace wheelsmith::sys {

namespace {

std::vector<char*> exec_words(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// The system call itself: where this program is not linked statically, a preloaded exec hook would send a shim to
// itself.
void exec_past_hooks(const char* program, char* const* argv, char* const* environment) {
  ::syscall(SYS_execve, program, argv, environment);
}

void raise_oom_score(int score) {
  const int fd = ::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  std::array<char, 16> text{};
  const ssize_t size = ::read(fd, text.data(), text.size() - 1);
  if (size > 0 && std::atoi(text.data()) < score) {
    const auto end = std::to_chars(text.data(), text.data() + text.size(), score);
    (void)!::pwrite(fd, text.data(), static_cast<std::size_t>(end.ptr - text.data()), 0);
  }
  ::close(fd);
}

// In memory, where both processes see it: register changes by a vfork child are lost, or worse.
struct Birth {
  const ForegroundCommand& command;
  char* const* argv;
  char* const* environment;
  pid_t parent;
  volatile int error = 0;
};

[[noreturn]] void run_foreground(Birth& birth) {
  const ForegroundCommand& command = birth.command;
  if (command.death_signal != 0) ::prctl(PR_SET_PDEATHSIG, command.death_signal);
  if (command.death_signal != 0 && ::getppid() != birth.parent) ::_exit(127);
  for (const int number : command.default_signals) ::signal(number, SIG_DFL);
  if (command.oom_score != 0) raise_oom_score(command.oom_score);
  if (!command.input_file.empty()) {
    const int fd = ::open(command.input_file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ::dup2(fd, STDIN_FILENO) < 0) {
      birth.error = errno;
      ::_exit(126);
    }
  }
  if (!command.output_file.empty()) {
    const int fd = ::open(command.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ::dup2(fd, STDOUT_FILENO) < 0 || ::dup2(fd, STDERR_FILENO) < 0) {
      birth.error = errno;
      ::_exit(126);
    }
  }
  if (command.output != nullptr && command.output->is_open()) ::dup2(command.output->raw(), STDOUT_FILENO);
  if (command.errors != nullptr && command.errors->is_open()) ::dup2(command.errors->raw(), STDERR_FILENO);
  exec_past_hooks(command.program.c_str(), birth.argv, birth.environment);
  birth.error = errno;
  ::_exit(birth.error == ENOENT ? 127 : 126);
}

pid_t vfork_and_exec(Birth& birth) {
  const pid_t pid = ::vfork();
  if (pid == 0) run_foreground(birth);
  return pid;
}

ForegroundExit foreground_exit_of(int status, const rusage& usage) {
  ForegroundExit exit;
  exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  exit.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  exit.largest_process = static_cast<std::uint64_t>(std::max(0L, usage.ru_maxrss)) * 1024;
  for (const timeval& time : {usage.ru_utime, usage.ru_stime})
    exit.cpu_seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  return exit;
}

}  // namespace

ForegroundProcess::ForegroundProcess(const ForegroundCommand& command) {
  const std::vector<char*> words = exec_words(command.argv);
  const std::vector<char*> variables = exec_words(command.environment);
  Birth birth{command, words.data(), variables.data(), ::getpid()};
  m_pid = vfork_and_exec(birth);
  if (m_pid < 0) throw Error(fmt::format("cannot start {}: {}", printable(command.program), std::strerror(errno)));
  m_start_error = birth.error;
  m_end = Fd(static_cast<int>(::syscall(SYS_pidfd_open, m_pid, 0U)));
}

std::optional<ForegroundExit> ForegroundProcess::reap(int options) {
  if (m_exit) return m_exit;
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  do {
    ended = ::wait4(m_pid, &status, options, &usage);
  } while (ended < 0 && errno == EINTR);
  // ECHILD: there is nothing to wait for, and its status is unknown.
  if (ended != 0) m_exit = foreground_exit_of(status, usage);
  return m_exit;
}

std::optional<ForegroundExit> ForegroundProcess::poll() { return reap(WNOHANG); }

ForegroundExit ForegroundProcess::wait() { return reap(0).value(); }

void ForegroundProcess::signal(int number) const {
  if (!m_exit) ::kill(m_pid, number);
}

int become_program(const std::string& program, const std::vector<std::string>& argv,
                   const std::vector<std::string>& environment) {
  const std::vector<char*> words = exec_words(argv);
  const std::vector<char*> variables = exec_words(environment);
  exec_past_hooks(program.c_str(), words.data(), variables.data());
  return errno;
}

void start_detached(const std::string& program, const std::vector<std::string>& argv,
                    const std::vector<std::string>& environment) {
  const std::vector<char*> words = exec_words(argv);
  const std::vector<char*> variables = exec_words(environment);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    (void)!::chdir("/");
    const int null = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
    for (int fd = 3; fd < 1024; ++fd) ::close(fd);
    ::execve(program.c_str(), words.data(), variables.data());
    ::_exit(127);
  }
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
}

}  // namespace wheelsmith::sys
