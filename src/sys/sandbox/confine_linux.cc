#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "sys/process/network_linux.h"
#include "sys/sandbox/filter_linux.h"
#include "sys/sandbox/landlock_linux.h"
#include "sys/sandbox/root_linux.h"
#include "sys/sandbox/sandbox.h"

// How a command enters its sandbox. Three processes:
//
//   the keeper   `wheelsmith confine`: creates the namespaces, waits, and exits as the command did. The step watches
//                and signals it; it runs outside the PID namespace.
//   the init     process 1 of the PID namespace: creates the root folder and /proc, drops all privileges, and then
//                only reaps. When it exits the kernel ends everything in the namespace, so nothing is left behind.
//   the command
//
// The keeper dies with the step and the init process with the keeper (parent-death signals). The step sends interrupts
// to all its descendants, including the command; the keeper and the init process ignore them.
//
// Everything that can fail happens before the command starts. The sandbox is set up exactly as the policy says, or
// nothing runs.

namespace wheelsmith::sys {

namespace {

constexpr std::size_t k_most_policy = 16 << 20;

[[noreturn]] void confine_failed(const char* what, int error = errno) {
  throw Error(fmt::format("cannot create the sandbox: {}: {}", what, std::generic_category().message(error)));
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127 << 8;
  }
  return status;
}

[[noreturn]] void become(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &action, nullptr);
  ::execvp(words.front(), words.data());
  const int error = errno;
  const std::string text = fmt::format("wheelsmith: error: cannot start {}: {}\n", printable(argv.front()),
                                       std::generic_category().message(error));
  (void)!::write(2, text.data(), text.size());
  ::_exit(error == ENOENT ? 127 : 126);
}

// Exits as a child did, so that callers see a crash as a crash.
[[noreturn]] void end_as(int status) {
  if (!WIFSIGNALED(status)) ::_exit(WEXITSTATUS(status));
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(WTERMSIG(status), SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::raise(WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

// Root can do without a user namespace where the machine forbids them.
void leave_namespaces(bool network) {
  const IdentityMaps maps = identity_maps();
  const int kinds = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | (network ? 0 : CLONE_NEWNET);
  if (::unshare(CLONE_NEWUSER | kinds) == 0) {
    if (const int error = map_identity(maps); error != 0) confine_failed("mapping the user", error);
  } else {
    const int error = errno;
    if (::unshare(kinds) != 0) confine_failed("creating namespaces", error);
  }
  if (network) return;
  if (const int error = bring_loopback_up(); error != 0) confine_failed("the loopback device", error);
}

void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
}

// The init process's message to the keeper: a line of text when the sandbox could not be created, otherwise the
// command's exit status.
struct Ending {
  int status = 127 << 8;
  std::array<char, 500> problem{};
};

void read_fully(int fd, Ending& ending) {
  char* into = reinterpret_cast<char*>(&ending);
  std::size_t left = sizeof ending;
  while (left > 0) {
    const ssize_t got = ::read(fd, into, left);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    into += got;
    left -= static_cast<std::size_t>(got);
  }
}

// Process 1: it adopts all orphans.
[[noreturn]] void be_first(const SandboxPolicy& policy, const std::vector<std::string>& argv, int report,
                           int keeper_is_there) {
  Ending ending;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd keeper{keeper_is_there, POLLIN, 0};
  if (::poll(&keeper, 1, 0) > 0) ::_exit(127);  // the keeper exited before the signal was set
  try {
    enter_own_root(policy);
    if (policy.network) leave_abstract_sockets();
    drop_privileges(true);
  } catch (const Error& error) {  // the keeper reports it
    const std::string_view text(error.what());
    text.copy(ending.problem.data(), ending.problem.size() - 1);
    (void)!::write(report, &ending, sizeof ending);
    ::_exit(127);
  }
  ::prctl(PR_SET_DUMPABLE, 0);
  const pid_t command = ::fork();
  if (command == 0) become(argv);
  if (command > 0) {
    for (;;) {
      int status = 0;
      const pid_t ended = ::wait(&status);
      if (ended == command) {
        ending.status = status;
        break;
      }
      if (ended < 0 && errno == ECHILD) break;
    }
  }
  (void)!::write(report, &ending, sizeof ending);
  ::_exit(0);
}

int run_in_namespaces(const SandboxPolicy& policy, const std::vector<std::string>& argv) {
  const pid_t step = ::getppid();
  leave_namespaces(policy.network);
  // The kernel resets it when credentials change.
  die_with(step);
  std::array<int, 2> report{}, alive{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0 || ::pipe2(alive.data(), O_CLOEXEC) != 0) confine_failed("a pipe");
  const pid_t first = ::fork();
  if (first < 0) confine_failed("starting its first process");
  if (first == 0) {
    ::close(report[0]);
    ::close(alive[1]);
    be_first(policy, argv, report[1], alive[0]);
  }
  ::close(report[1]);
  ::close(alive[0]);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
  Ending ending;
  read_fully(report[0], ending);
  ending.problem.back() = '\0';
  const int status = wait_for(first);
  if (ending.problem.front() != '\0') throw Error(ending.problem.data());
  // Process 1 was killed, by the kernel for lack of memory or by the step: so is the command.
  if (WIFSIGNALED(status)) end_as(status);
  end_as(ending.status);
}

// Tries a part of the sandbox in a child. Returns why it failed, "" if it did not.
template <class Part>
std::string why_impossible(const Part& part) {
  std::array<int, 2> words{};
  if (::pipe2(words.data(), O_CLOEXEC) != 0) return std::generic_category().message(errno);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string problem;
    try {
      part();
      ::_exit(0);
    } catch (const Error& error) {  // reported as the reason
      problem = error.what();
    }
    (void)!::write(words[1], problem.data(), problem.size());
    ::_exit(1);
  }
  ::close(words[1]);
  std::array<char, 1000> text{};
  const ssize_t size = child > 0 ? ::read(words[0], text.data(), text.size()) : 0;
  ::close(words[0]);
  const int status = child > 0 ? wait_for(child) : 127 << 8;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "it ends early";
}

}  // namespace

SandboxPolicy read_policy_from_input() {
  const auto read_some = [](char* into, std::size_t size) {
    ssize_t got = 0;
    do {
      got = ::read(0, into, size);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) throw Error("the sandbox policy is truncated");
    return static_cast<std::size_t>(got);
  };
  // Byte by byte: the rest of the input belongs to the command.
  std::size_t size = 0;
  for (char c = 0; c != '\n';) {
    read_some(&c, 1);
    if (c == '\n') break;
    if (c < '0' || c > '9' || size > k_most_policy) throw Error("the sandbox policy does not start with its size");
    size = size * 10 + static_cast<std::size_t>(c - '0');
  }
  std::string text(size, '\0');
  for (std::size_t done = 0; done < size;) done += read_some(text.data() + done, size - done);
  return parse_policy(text);
}

Command in_sandbox(const Command& command, const SandboxPolicy& policy) {
  if (policy.mode == SandboxMode::off) return command;
  Command result = command;
  result.argv = {own_executable().string(), "confine", "--"};
  result.argv.insert(result.argv.end(), command.argv.begin(), command.argv.end());
  const std::string text = to_text(policy);
  result.input = fmt::format("{}\n{}{}", text.size(), text, command.input);
  // The other modes disable the network themselves.
  result.no_network = command.no_network && policy.mode == SandboxMode::calls;
  return result;
}

int run_confined(const SandboxPolicy& policy, const std::vector<std::string>& argv) {
  switch (policy.mode) {
    case SandboxMode::off: break;
    case SandboxMode::calls: drop_privileges(true); break;
    case SandboxMode::landlock:
      enter_landlock(policy);
      drop_privileges(policy.network);
      break;
    case SandboxMode::namespaces: return run_in_namespaces(policy, argv);
  }
  become(argv);
}

const SandboxSupport& sandbox_support() {
  static const SandboxSupport support = [] {
    SandboxSupport result;
    result.landlock = landlock_version();
    result.why_no_namespaces = why_impossible([] {
      SandboxPolicy policy;
      policy.mode = SandboxMode::namespaces;
      (void)!::chdir("/");
      (void)run_in_namespaces(policy, {"/bin/sh", "-c", "exit 0"});
    });
    result.namespaces = result.why_no_namespaces.empty();
    if (!result.namespaces) result.why_no_filter = why_impossible([] { drop_privileges(true); });
    return result;
  }();
  return support;
}

}  // namespace wheelsmith::sys
