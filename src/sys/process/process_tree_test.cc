#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"
#include "sys/process/process_tree_linux.h"
#include "sys/process/test_process.h"

// Tests that change the process itself (subreaper, signals, its death) run in a forked copy.

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

pid_t in_copy(const std::function<int()>& story) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    int code = 99;
    try {
      code = story();
    } catch (...) {  // seen by the parent as 99
    }
    ::_exit(code);
  }
  return pid;
}

int status_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return status;
}

TEST(ParseStat, ParsesMisleadingNames) {
  const std::string rest = " 7 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
  const auto stat = parse_stat("42 (a) S 1 (x)) Z" + rest);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->id, (ProcessId{42, 12345}));
  EXPECT_EQ(stat->parent, 7);
  EXPECT_TRUE(stat->dead());
  for (const char* text :
       {"", ")", "42 (a)", "42 (a) ", "42 (a) S 7", "x (a) S 7 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 5"}) {
    EXPECT_FALSE(parse_stat(text).has_value()) << text;
  }
}

TEST(KillDescendants, FindsADaemonThatForkedTwice) {
  const TempDir dir;
  const pid_t copy = in_copy([&] {
    become_subreaper(false);
    Command command{.argv = {"sh", "-c", "setsid sh -c 'sleep 1000 & echo $! > pid' & wait"}, .folder = dir.path()};
    if (!Process(command).wait({}).good()) return 1;
    const int daemon = number_in(dir.path() / "pid");
    const auto stat = parse_stat(read_file("/proc/" + std::to_string(daemon) + "/stat"));
    if (!stat || stat->parent != ::getpid()) return 2;
    kill_descendants();
    if (fs::exists("/proc/" + std::to_string(daemon))) return 3;
    return descendants_of(::getpid()).empty() ? 0 : 4;
  });
  EXPECT_EQ(WEXITSTATUS(status_of(copy)), 0);
}

TEST(KillDescendants, KillsForkingProcesses) {
  const pid_t copy = in_copy([] {
    become_subreaper(false);
    // Every second child is an orphan in its own session.
    const char* script = "f() { i=0; while [ $i -lt 40 ]; do (setsid sleep 1000 & ) ; i=$((i+1)); done; }; f; f & wait";
    Process process(Command{.argv = {"sh", "-c", script}});
    std::this_thread::sleep_for(50ms);
    kill_descendants();
    return descendants_of(::getpid()).empty() ? 0 : 1;
  });
  EXPECT_EQ(WEXITSTATUS(status_of(copy)), 0);
}

TEST(Process, DiesWhenWeAreKilled) {
  const TempDir dir;
  const pid_t copy = in_copy([&] {
    Process process(Command{.argv = {"sh", "-c", "echo $$ > pid; exec sleep 1000"}, .folder = dir.path()});
    ::pause();
    return 0;
  });
  const int program = number_in(dir.path() / "pid");
  ::kill(copy, SIGKILL);
  status_of(copy);
  EXPECT_TRUE(ends_soon(program));
}

TEST(BecomeSubreaper, SignalsTheEndOfTheParent) {
  const TempDir dir;
  const pid_t parent = in_copy([&] {
    const pid_t step = in_copy([&] {
      install_interrupt_flag();
      become_subreaper(true);
      Command command{.argv = {"sh", "-c", "(setsid sleep 1000 & echo $! > pid); sleep 1000"}, .folder = dir.path()};
      Process(command).wait({}, interrupted, 200ms);
      kill_descendants();
      write_file(dir.path() / "tidied", "1");
      return 0;
    });
    status_of(step);
    return 0;
  });
  const int daemon = number_in(dir.path() / "pid");
  ::kill(parent, SIGKILL);
  status_of(parent);
  EXPECT_EQ(number_in(dir.path() / "tidied"), 1);
  EXPECT_TRUE(ends_soon(daemon));
}

TEST(InterruptFlag, IsSetOnceThenTerminates) {
  const TempDir dir;
  const pid_t copy = in_copy([&] {
    install_interrupt_flag();
    if (interrupted()) return 1;
    ::raise(SIGTERM);
    // The thread sanitizer delivers signals only while the program waits.
    std::this_thread::sleep_for(20ms);
    if (!interrupted()) return 2;
    ::raise(SIGHUP);
    std::this_thread::sleep_for(20ms);
    ::raise(SIGINT);
    std::this_thread::sleep_for(1s);
    return 3;
  });
  const int status = status_of(copy);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(InterruptFlag, StopsACapture) {
  const pid_t copy = in_copy([] {
    install_interrupt_flag();
    const pid_t self = ::getpid();
    const pid_t sender = in_copy([self] {
      std::this_thread::sleep_for(200ms);
      ::kill(self, SIGINT);
      return 0;
    });
    const Captured captured = capture({.argv = {"sleep", "1000"}});
    status_of(sender);
    return captured.exit.stopped && !captured.exit.good() && captured.exit.signal == SIGINT ? 0 : 1;
  });
  EXPECT_EQ(WEXITSTATUS(status_of(copy)), 0);
}

TEST(NoNetwork, LeavesOnlyAWorkingLoopback) {
  if (!can_isolate_network()) GTEST_SKIP() << "this machine forbids network namespaces";
  Command command{.argv = {"cat", "/proc/self/net/dev"}, .no_network = true};
  const std::string devices = capture(command).output;
  EXPECT_NE(devices.find(" lo:"), std::string::npos) << devices;
  EXPECT_EQ(std::count(devices.begin(), devices.end(), '\n'), 3) << devices;  // two lines of heading
  // The local routing table has 127.0.0.1 only while the device is up.
  command.argv = {"cat", "/proc/self/net/fib_trie"};
  EXPECT_NE(capture(command).output.find("127.0.0.1"), std::string::npos);
  command.argv = {"id", "-u"};
  EXPECT_EQ(trim(capture(command).output), std::to_string(::geteuid()));
  command.argv = {"sh", "-c", "exit 4"};
  EXPECT_EQ(capture(command).exit.code, 4);
}

TEST(NoNetwork, DiesWhenWeAreKilledToo) {
  if (!can_isolate_network()) GTEST_SKIP() << "this machine forbids network namespaces";
  const TempDir dir;
  const pid_t copy = in_copy([&] {
    Process process(
        Command{.argv = {"sh", "-c", "echo $$ > pid; exec sleep 1000"}, .folder = dir.path(), .no_network = true});
    ::pause();
    return 0;
  });
  const int program = number_in(dir.path() / "pid");
  ::kill(copy, SIGKILL);
  status_of(copy);
  EXPECT_TRUE(ends_soon(program));
}

}  // namespace
}  // namespace wheelsmith::sys
