#include "sys/process/foreground.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cerrno>

#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/memory_file.h"
#include "sys/io/wait.h"

namespace wheelsmith::sys {
namespace {

ForegroundCommand foreground_shell(const std::string& script) {
  return {"/bin/sh", {"sh", "-c", script}, {"PATH=/usr/bin:/bin"}};
}

TEST(Foreground, ReturnsShellExitCodes) {
  const struct {
    const char* script;
    int code, signal;
  } rows[] = {{"exit 0", 0, 0}, {"exit 3", 3, 0}, {"kill -KILL $$", 137, 9}, {"kill -SEGV $$", 139, 11}};
  for (const auto& row : rows) {
    ForegroundProcess process(foreground_shell(row.script));
    const ForegroundExit exit = process.wait();
    EXPECT_EQ(exit.code, row.code) << row.script;
    EXPECT_EQ(exit.signal, row.signal) << row.script;
    EXPECT_GT(exit.largest_process, 0U);
    EXPECT_EQ(process.start_error(), 0);
    EXPECT_EQ(process.poll()->code, row.code) << "the result does not change";
  }
}

TEST(Foreground, ReportsWhyAProgramCannotStart) {
  ForegroundProcess missing({"/no/such/program", {"program"}, {}});
  EXPECT_EQ(missing.start_error(), ENOENT);
  EXPECT_EQ(missing.wait().code, 127);
  ForegroundProcess folder({"/tmp", {"tmp"}, {}});
  EXPECT_EQ(folder.start_error(), EACCES);
  EXPECT_EQ(folder.wait().code, 126);
}

TEST(Foreground, PassesStreamsAndEnvironment) {
  const MemoryFile output = MemoryFile::make("output");
  const MemoryFile errors = MemoryFile::make("errors");
  ForegroundCommand command = foreground_shell("echo $A; echo problem >&2");
  command.environment.emplace_back("A=b c");
  command.output = &output.fd();
  command.errors = &errors.fd();
  EXPECT_EQ(ForegroundProcess(command).wait().code, 0);
  EXPECT_EQ(output.content(), "b c\n");
  EXPECT_EQ(errors.content(), "problem\n");
}

TEST(Foreground, CanBeWaitedFor) {
  ForegroundProcess process(foreground_shell("read line </dev/null; sleep 0.1"));
  if (!process.end().is_open()) GTEST_SKIP() << "a kernel before 5.3";
  std::array<Waiting, 1> waiting{{{&process.end()}}};
  EXPECT_EQ(wait_readable(waiting, 10'000), Waited::ready);
  EXPECT_TRUE(process.poll());
}

TEST(Foreground, ResetsSignals) {
  auto* const before = ::signal(SIGUSR1, SIG_IGN);
  ForegroundProcess deaf(foreground_shell("kill -USR1 $$"));
  EXPECT_EQ(deaf.wait().signal, 0);
  ForegroundCommand command = foreground_shell("kill -USR1 $$");
  command.default_signals = {SIGUSR1};
  ForegroundProcess process(command);
  EXPECT_EQ(process.wait().signal, SIGUSR1);
  ::signal(SIGUSR1, before);
}

TEST(Foreground, DiesWithItsParent) {
  const MemoryFile output = MemoryFile::make("output");
  ForegroundCommand command{"/bin/cat", {"cat", "/proc/self/oom_score_adj"}, {}};
  command.output = &output.fd();
  command.oom_score = 777;
  EXPECT_EQ(ForegroundProcess(command).wait().code, 0);
  EXPECT_EQ(output.content(), "777\n");
}

TEST(Foreground, DetachedProcessInheritsNoDescriptors) {
  const TempDir temp;
  const std::string file = (temp.path() / "fds").string();
  start_detached("/bin/sh", {"sh", "-c", "ls -l /proc/$$/fd >" + file + ".new; mv " + file + ".new " + file},
                 {"PATH=/usr/bin:/bin"});
  std::optional<std::string> text;
  for (int i = 0; i < 500 && !(text = read_file_if_there(file)); ++i) ::usleep(10'000);
  ASSERT_TRUE(text);
  // Standard streams, and the shell's own descriptors.
  EXPECT_EQ(text->find("pipe:"), std::string::npos) << *text;
  EXPECT_NE(text->find("/dev/null"), std::string::npos) << *text;
}

}  // namespace
}  // namespace wheelsmith::sys
