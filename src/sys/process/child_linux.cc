#include "sys/process/child_linux.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

// Waiting for a program means waiting for three things at once: its output, its exit and a reason to stop it. The end
// of the output is not the exit (a program may close its streams), and the exit is not the end of the output (a server
// left behind keeps the pipe open). So the exit decides: the rest of the pipe is read, helpers that briefly outlive the
// program (such as multiprocessing's resource tracker) get a short grace period, and the rest of its group is killed.

namespace wheelsmith::sys {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_piece = 64 << 10;
constexpr auto k_tick = 100ms;       // how soon `stop` is noticed
constexpr auto k_blind_tick = 20ms;  // how soon an exit is noticed on kernels without pidfd (before 5.3)
constexpr auto k_linger = 250ms;

Exit to_exit(const siginfo_t& info) {
  Exit exit;
  if (info.si_code == CLD_EXITED) {
    exit.code = info.si_status;
  } else {
    exit.signal = info.si_status;
    exit.code = 128 + info.si_status;
  }
  return exit;
}

int poll_timeout(std::chrono::steady_clock::duration left) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 60'000));
}

}  // namespace

Child::Child(const Command& command, ErrorStream errors)
    : m_start(Clock::now()),
      m_spawned(spawn(command, errors)),
      m_pidfd(static_cast<int>(::syscall(SYS_pidfd_open, m_spawned.pid, 0U))) {
  if (command.timeout) m_deadline = m_start + *command.timeout;
}

Child::~Child() {
  if (!poll()) signal_tree(SIGKILL);
  // A process that hangs in the kernel cannot be reaped; leaving a zombie is better than hanging with it.
  const auto patience = Clock::now() + 5s;
  while (!poll() && Clock::now() < patience) std::this_thread::sleep_for(1ms);
  if (m_lost) return;
  ::kill(-pid(), SIGKILL);
  ::waitpid(pid(), nullptr, WNOHANG);
}

std::optional<std::string> Child::read() {
  std::string text;
  drain(m_spawned.output, [&text](std::string_view piece) { text += piece; });
  if (text.empty() && !m_spawned.output.is_open()) return std::nullopt;
  return text;
}

// At most a few chunks, so that a program that never stops writing does not keep us from checking the clock.
void Child::drain(Fd& fd, const OutputFunction& sink) {
  std::array<char, k_piece> piece;
  for (int round = 0; round < 16 && fd.is_open(); ++round) {
    const ssize_t size = ::read(fd.raw(), piece.data(), piece.size());
    if (size > 0) {
      if (sink) sink({piece.data(), static_cast<std::size_t>(size)});
    } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
      fd.close();
    } else {
      return;
    }
  }
}

std::optional<Exit> Child::poll() {
  if (m_exit) return m_exit;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid()), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != ECHILD) return std::nullopt;
    m_lost = true;  // kill_descendants() reaped it first
    info.si_pid = pid();
    info.si_code = CLD_KILLED;
    info.si_status = SIGKILL;
  }
  if (info.si_pid == 0) return std::nullopt;
  m_exit = to_exit(info);
  m_exit->seconds = Clock::now() - m_start;
  return m_exit;
}

void Child::signal_tree(int signal) {
  if (m_lost) return;
  // List the tree before anything in it dies: an orphan is no longer linked to it.
  for (const ProcessStat& process : descendants_of(pid())) m_known.insert(process.id);
  ::kill(-pid(), signal);
  signal_all(m_known, signal);
}

bool Child::pump(const OutputFunction& on_output, const OutputFunction& on_errors, Clock::time_point until) {
  std::array<pollfd, 3> fds{};
  fds[0] = {m_spawned.output.raw(), POLLIN, 0};
  fds[1] = {m_spawned.errors.raw(), POLLIN, 0};
  fds[2] = {m_exit ? -1 : m_pidfd.raw(), POLLIN, 0};
  if (m_exit && fds[0].fd < 0 && fds[1].fd < 0) return false;
  if (!m_exit && !m_pidfd.is_open()) until = std::min(until, Clock::now() + k_blind_tick);
  ::poll(fds.data(), fds.size(), poll_timeout(until - Clock::now()));
  drain(m_spawned.output, on_output);
  drain(m_spawned.errors, on_errors);
  return true;
}

// SIGINT as from a keyboard, which lets ninja delete partial outputs; at half time SIGTERM; then SIGKILL.
void Child::escalate(Ending& ending, std::chrono::milliseconds grace) {
  const auto passed = Clock::now() - ending.since;
  const int due = passed >= grace ? SIGKILL : (passed * 2 >= grace ? SIGTERM : SIGINT);
  if (due == ending.sent && due != SIGKILL) return;
  ending.sent = due;
  signal_tree(due);
}

Exit Child::wait(const OutputFunction& on_output, const OutputFunction& on_errors, const std::function<bool()>& stop,
                 std::chrono::milliseconds grace) {
  std::optional<Ending> ending;
  while (!poll()) {
    const auto now = Clock::now();
    if (!ending && m_deadline && now >= *m_deadline) ending = Ending{true, now, 0};
    if (!ending && stop && stop()) ending = Ending{false, now, 0};
    if (ending) escalate(*ending, grace);
    auto until = now + (stop || ending ? k_tick : std::chrono::milliseconds(60s));
    if (m_deadline && !ending) until = std::min(until, *m_deadline);
    pump(on_output, on_errors, until);
  }
  // Even a tree that exited cleanly may have left processes behind.
  if (ending) signal_tree(SIGKILL);
  const auto until = Clock::now() + k_linger;
  while (Clock::now() < until && pump(on_output, on_errors, until)) {}
  if (!m_lost) ::kill(-pid(), SIGKILL);
  drain(m_spawned.output, on_output);
  drain(m_spawned.errors, on_errors);
  m_exit->timed_out = ending && ending->timed_out;
  m_exit->stopped = ending && !ending->timed_out;
  return *m_exit;
}

}  // namespace wheelsmith::sys
