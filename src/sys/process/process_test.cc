#include "sys/process/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/test_process.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Command shell(const std::string& script) { return Command{.argv = {"sh", "-c", script}}; }

std::string start_error_of(const Command& command) {
  try {
    capture(command);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Capture, KeepsBothStreamsAndTheStatus) {
  const Captured captured = capture(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(captured.output, "out\n");
  EXPECT_EQ(captured.errors, "err\n");
  EXPECT_EQ(captured.exit.code, 3);
  EXPECT_FALSE(captured.exit.good());
  EXPECT_EQ(to_string(captured.exit), "exit status 3");
}

TEST(Capture, PassesInputFolderAndEnvironment) {
  const TempDir dir;
  const std::string input(3 << 20, 'x');
  Command command{.argv = {"cat"}, .input = input};
  EXPECT_EQ(capture(command).output, input);
  EXPECT_EQ(capture({.argv = {"cat"}}).output, "");
  command = shell("pwd -P; echo $A; echo $HOME");
  command.folder = dir.path();
  command.environment = Environment{{"A", "b c"}, {"PATH", "/usr/bin:/bin"}};
  EXPECT_EQ(capture(command).output, fs::canonical(dir.path()).string() + "\nb c\n\n");
}

TEST(Capture, DropsOutputBeyondTheLimit) {
  const Captured captured = capture(shell("head -c 1000000 /dev/zero; echo end >&2"), 1000);
  EXPECT_EQ(captured.output.size(), 1000u);
  EXPECT_EQ(captured.errors, "end\n");
  EXPECT_TRUE(captured.exit.good());
}

TEST(Capture, ReportsWhyAProgramCannotStart) {
  const TempDir dir;
  std::ofstream(dir.path() / "text") << "hello";
  std::ofstream(dir.path() / "script") << "#!/nowhere/python3 -E\n";
  std::ofstream(dir.path() / "data") << "\x01\x02";
  for (const char* name : {"script", "data"}) fs::permissions(dir.path() / name, fs::perms::owner_all);
  const std::string folder = dir.path().string();
  EXPECT_EQ(start_error_of({.argv = {"no-such-program"}}), "cannot start no-such-program: No such file or directory");
  EXPECT_EQ(start_error_of({.argv = {folder + "/none"}}),
            "cannot start " + folder + "/none: No such file or directory");
  EXPECT_EQ(start_error_of({.argv = {folder + "/text"}}), "cannot start " + folder + "/text: Permission denied");
  EXPECT_EQ(start_error_of({.argv = {folder + "/data"}}), "cannot start " + folder + "/data: Exec format error");
  EXPECT_EQ(start_error_of({.argv = {folder + "/script"}}),
            "cannot start " + folder + "/script: /nowhere/python3 does not exist");
  EXPECT_EQ(start_error_of({.argv = {"sh"}, .folder = dir.path() / "none"}),
            "cannot start sh in " + folder + "/none: No such file or directory");
  EXPECT_EQ(start_error_of({.argv = {}}), "cannot start a program without a name");
  EXPECT_EQ(start_error_of({.argv = {"echo", std::string("a\0b", 3)}}), "cannot start echo: Invalid argument");
  EXPECT_EQ(start_error_of({.argv = {"echo", std::string(10 << 20, 'x')}}),
            "cannot start echo: Argument list too long");
  EXPECT_EQ(start_error_of({.argv = {"sh"}, .environment = Environment{{"A=B", "c"}, {"PATH", "/bin"}}}),
            "A=B is not a valid environment variable");
}

TEST(Capture, StopsAtTheTimeout) {
  Command command = shell("echo begun; sleep 100");
  command.timeout = 200ms;
  const auto start = Clock::now();
  const Captured captured = capture(command);
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_TRUE(captured.exit.timed_out);
  EXPECT_FALSE(captured.exit.good());
  EXPECT_EQ(captured.output, "begun\n");
  EXPECT_EQ(to_string(captured.exit), "stopped after 0 s (timeout)");
}

TEST(Capture, StartsWithoutOurDescriptorsAndSignals) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as some libraries do
  ::signal(SIGPIPE, SIG_IGN);
  const Captured descriptors = capture(shell("ls /proc/$$/fd"));
  const Captured signals = capture({.argv = {"grep", "-E", "SigBlk|SigIgn", "/proc/self/status"}});
  ::signal(SIGPIPE, SIG_DFL);
  ::close(leaked);
  EXPECT_EQ(descriptors.output, "0\n1\n2\n");
  ASSERT_TRUE(signals.output.starts_with("SigBlk:\t0000000000000000\nSigIgn:\t")) << signals.output;
  // The C library reserves 32 and 33: they cannot be set, and keep their inherited state.
  const std::uint64_t ignored = std::stoull(signals.output.substr(signals.output.rfind('\t')), nullptr, 16);
  EXPECT_EQ(ignored & ~(3ull << 31), 0u) << signals.output;
}

TEST(Capture, StartsItsOwnSession) {
  const Captured captured = capture({.argv = {"cat", "/proc/self/stat"}});
  const std::vector<std::string_view> fields = split(captured.output, ' ');
  EXPECT_EQ(fields.at(4), fields.at(0));  // process group
  EXPECT_EQ(fields.at(5), fields.at(0));  // session
  EXPECT_EQ(fields.at(6), "0");           // terminal
}

TEST(Exit, IsDescribed) {
  EXPECT_EQ(to_string(capture(shell("kill -9 $$")).exit), "killed by signal 9 (Killed)");
  EXPECT_EQ(capture(shell("kill -15 $$")).exit.code, 143);
  EXPECT_EQ(to_string(Exit{.code = 2}), "exit status 2");
  EXPECT_EQ(to_string(Exit{.timed_out = true, .seconds = 300s}), "stopped after 300 s (timeout)");
}

TEST(Process, JoinsBothStreamsInOrder) {
  Process process(shell("for i in 1 2 3; do echo o$i; echo e$i >&2; done"));
  std::string output;
  EXPECT_TRUE(process.wait([&](std::string_view piece) { output += piece; }).good());
  EXPECT_EQ(output, "o1\ne1\no2\ne2\no3\ne3\n");
  EXPECT_FALSE(process.output().is_open());
  EXPECT_EQ(process.read(), std::nullopt);
}

TEST(Process, StreamsLargeOutput) {
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  Process process(shell("head -c 100000000 /dev/zero"));
  std::uint64_t size = 0;
  EXPECT_TRUE(process.wait([&](std::string_view piece) { size += piece.size(); }).good());
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(size, 100'000'000u);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20'000);  // kB
}

TEST(Process, IsReadAndPolledWithoutWaiting) {
  Process process(shell("echo hello; read line; echo never"));
  std::string output;
  std::optional<Exit> exit;
  for (const auto until = Clock::now() + 5s; Clock::now() < until && !(exit = process.poll());) {
    if (const auto piece = process.read()) output += *piece;
  }
  while (const auto piece = process.read()) output += *piece;
  ASSERT_TRUE(exit.has_value());
  EXPECT_TRUE(exit->good());
  EXPECT_EQ(output, "hello\nnever\n");
}

TEST(Process, StopInterruptsFirst) {
  Process process(shell("trap 'echo tidied; exit 7' INT; echo ready; while :; do sleep 0.05; done"));
  std::string output;
  const Exit exit = process.wait([&](std::string_view piece) { output += piece; },
                                 [&] { return output.find("ready") != std::string::npos; });
  EXPECT_EQ(output, "ready\ntidied\n");
  EXPECT_EQ(exit.code, 7);
  EXPECT_TRUE(exit.stopped);
  EXPECT_FALSE(exit.good());
}

TEST(Process, StopKillsAfterTheGracePeriod) {
  Process process(shell("trap '' INT TERM; echo ready; while :; do sleep 0.05; done"));
  bool ready = false;
  const auto start = Clock::now();
  const Exit exit = process.wait([&](std::string_view) { ready = true; }, [&] { return ready; }, 300ms);
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_EQ(exit.code, 137);
  EXPECT_GE(Clock::now() - start, 300ms);
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST(Process, StopReachesProcessesOutsideTheGroup) {
  const TempDir dir;
  Command command = shell("setsid sh -c 'trap \"\" INT TERM; echo $$ > pid; exec sleep 1000' & wait");
  command.folder = dir.path();
  command.timeout = 300ms;
  Process process(command);
  const Exit exit = process.wait({}, {}, 100ms);
  EXPECT_TRUE(exit.timed_out);
  EXPECT_TRUE(ends_soon(number_in(dir.path() / "pid")));
}

TEST(Process, EndsWithTheProgramWhileADaemonHoldsThePipe) {
  const TempDir dir;
  Command command = shell("setsid sleep 3 & echo $! > pid; echo done");
  command.folder = dir.path();
  Process process(command);
  std::string output;
  const auto start = Clock::now();
  EXPECT_TRUE(process.wait([&](std::string_view piece) { output += piece; }).good());
  EXPECT_LT(Clock::now() - start, 2s);
  EXPECT_EQ(output, "done\n");
}

TEST(Process, KillsTheRestOfItsGroup) {
  const TempDir dir;
  Command command = shell("sleep 1000 & echo $! > pid");
  command.folder = dir.path();
  EXPECT_TRUE(Process(command).wait({}).good());
  EXPECT_TRUE(ends_soon(number_in(dir.path() / "pid")));
}

TEST(Process, DiesWithItsObject) {
  const TempDir dir;
  Command command = shell("sleep 1000 & echo $! > pid; wait");
  command.folder = dir.path();
  int pid = 0;
  {
    Process process(command);
    Process moved = std::move(process);
    pid = moved.pid();
    number_in(dir.path() / "pid");
    EXPECT_TRUE(runs(pid));
  }
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(pid)));
  EXPECT_TRUE(ends_soon(number_in(dir.path() / "pid")));
}

// The kernel sends the parent-death signal when the thread that forked ends.
TEST(Process, OutlivesTheThreadThatStartedIt) {
  std::optional<Process> process;
  std::thread([&] { process.emplace(shell("sleep 0.2; echo alive")); }).join();
  std::string output;
  EXPECT_TRUE(process->wait([&](std::string_view piece) { output += piece; }).good());
  EXPECT_EQ(output, "alive\n");
}

TEST(Process, RunsConcurrentlyFromManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&good, i] {
      for (int j = 0; j < 10; ++j) {
        const std::string word = std::to_string(i * 100 + j);
        if (capture({.argv = {"echo", word}}).output == word + "\n") ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
}

}  // namespace
}  // namespace wheelsmith::sys
