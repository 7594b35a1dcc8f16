#include "sys/sandbox/sandbox.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"

// What a shell can do in a sandbox. Each story runs in the modes that this machine supports and is skipped without any.

namespace wheelsmith::sys {

namespace {

struct SandboxTest {
  TempDir folder;
  SandboxPolicy policy;

  explicit SandboxTest(SandboxMode mode) {
    policy.mode = mode;
    for (const char* name : {"own", "tmp", "secret", "shown"}) make_folders(folder.path() / name);
    write_file(folder.path() / "secret/key", "secret\n");
    write_file(folder.path() / "shown/text", "shown\n");
    policy.writable = {folder.path() / "own"};
    policy.readable = {folder.path() / "shown"};
    policy.temporary = folder.path() / "tmp";
  }

  // The exit status of a script; its output is dropped.
  [[nodiscard]] int run(const std::string& script) const {
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 126;
      try {
        if (::chdir((folder.path() / "own").c_str()) != 0) ::_exit(125);
        (void)!::freopen("/dev/null", "w", stdout);
        if (std::getenv("SHOW") == nullptr) (void)!::freopen("/dev/null", "w", stderr);
        status = run_confined(policy, {"/bin/sh", "-c", "F='" + folder.path().string() + "'; " + script});
      } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
};

std::vector<SandboxMode> modes_here() {
  std::vector<SandboxMode> modes;
  if (sandbox_support().namespaces) modes.push_back(SandboxMode::namespaces);
  if (sandbox_support().landlock > 0) modes.push_back(SandboxMode::landlock);
  return modes;
}

}  // namespace

TEST(Sandbox, PolicyRoundTrips) {
  SandboxPolicy policy;
  policy.mode = SandboxMode::landlock;
  policy.readable = {"/a b", "/c\nd"};
  policy.writable = {"/e"};
  policy.devices = {"/dev/x"};
  policy.hidden = {"/h"};
  policy.temporary = "/t";
  policy.network = true;
  const SandboxPolicy again = parse_policy(to_text(policy));
  EXPECT_EQ(again.mode, policy.mode);
  EXPECT_EQ(again.readable, policy.readable);
  EXPECT_EQ(again.writable, policy.writable);
  EXPECT_EQ(again.devices, policy.devices);
  EXPECT_EQ(again.hidden, policy.hidden);
  EXPECT_EQ(again.temporary, policy.temporary);
  EXPECT_TRUE(again.network);
  EXPECT_THROW((void)parse_policy(""), Error);
  EXPECT_THROW((void)parse_policy("mode"), Error);
  EXPECT_THROW((void)parse_policy(std::string("mode\0strict\0", 12)), Error);
  EXPECT_THROW((void)parse_policy(std::string("read\0relative\0", 14)), Error);
}

TEST(Sandbox, WritesItsFolderAndReadsVisiblePaths) {
  if (modes_here().empty()) GTEST_SKIP() << "neither namespaces nor Landlock: " << sandbox_support().why_no_namespaces;
  for (const SandboxMode mode : modes_here()) {
    SCOPED_TRACE(enum_name(mode));
    const SandboxTest test(mode);
    EXPECT_EQ(test.run("exit 0"), 0);
    EXPECT_EQ(test.run("exit 7"), 7);
    EXPECT_EQ(test.run("echo yes > file && test \"$(cat file)\" = yes && mkdir a && mv file a && rm -r a"), 0);
    EXPECT_EQ(test.run("test \"$(cat $F/shown/text)\" = shown"), 0);
    EXPECT_EQ(test.run("ls /usr/bin > list && test -s list && cat /etc/passwd > /dev/null"), 0);
    EXPECT_EQ(test.run("test \"$(pwd)\" = $F/own"), 0);
    EXPECT_EQ(test.run("exec no-such-program-anywhere"), 127);
    EXPECT_EQ(test.run("kill -SEGV $$"), 128 + 11);
  }
}

TEST(Sandbox, ReachesNothingElse) {
  if (modes_here().empty()) GTEST_SKIP() << "neither namespaces nor Landlock: " << sandbox_support().why_no_namespaces;
  for (const SandboxMode mode : modes_here()) {
    SCOPED_TRACE(enum_name(mode));
    const SandboxTest test(mode);
    EXPECT_NE(test.run("cat $F/secret/key"), 0);
    EXPECT_NE(test.run("echo x > $F/shown/text"), 0);
    EXPECT_NE(test.run("echo x > $F/secret/new"), 0);
    EXPECT_NE(test.run("echo x > /usr/wheelsmith-test"), 0);
    EXPECT_NE(test.run("echo x > /etc/wheelsmith-test"), 0);
    EXPECT_NE(test.run("for home in root home; do ls /$home; done | grep ."), 0);
    EXPECT_NE(test.run("cat /etc/shadow | grep ."), 0);
    EXPECT_NE(test.run("ln -s $F/secret/key link; cat link"), 0);
    EXPECT_NE(test.run("echo 1 > /proc/sys/vm/drop_caches"), 0);
    EXPECT_NE(test.run("grep -q 'CapEff:.*[1-9a-f]' /proc/self/status"), 0);
    EXPECT_EQ(test.run("grep -q 'NoNewPrivs:.*1' /proc/self/status"), 0);
    EXPECT_EQ(test.run("grep -q 'Seccomp:.*2' /proc/self/status"), 0);
    EXPECT_NE(test.run("unshare -r true || unshare -m true || mount -t tmpfs none /tmp"), 0);
    EXPECT_EQ(read_file(test.folder.path() / "shown/text"), "shown\n");
  }
}

TEST(Sandbox, HasItsOwnNamespaces) {
  if (!sandbox_support().namespaces) GTEST_SKIP() << sandbox_support().why_no_namespaces;
  const SandboxTest test(SandboxMode::namespaces);
  EXPECT_NE(test.run("ls -d " + test.folder.path().string() + "/secret"), 0);
  EXPECT_EQ(test.run("echo x > /tmp/mine"), 0);
  EXPECT_TRUE(std::filesystem::exists(test.folder.path() / "tmp/mine"));
  EXPECT_EQ(test.run("test $(ls -d /proc/[0-9]* | wc -l) -lt 8"), 0);
  EXPECT_NE(test.run(fmt::format("kill -0 {}", ::getpid())), 0);
  EXPECT_EQ(test.run("test \"$(tail -n +3 /proc/net/dev | grep -v lo: )\" = ''"), 0);
  EXPECT_NE(test.run("ls /.outside"), 0);
  EXPECT_NE(test.run("mkdir /new"), 0);
  // Its background processes end with it.
  EXPECT_EQ(test.run("(sleep 1000 & echo $! > pid)"), 0);
}

TEST(Sandbox, HidesHiddenPaths) {
  if (!sandbox_support().namespaces) GTEST_SKIP() << sandbox_support().why_no_namespaces;
  SandboxTest test(SandboxMode::namespaces);
  make_folders(test.folder.path() / "shown/store/trees/one");
  write_file(test.folder.path() / "shown/store/index", "index\n");
  write_file(test.folder.path() / "shown/store/trees/one/file", "one\n");
  test.policy.hidden = {test.folder.path() / "shown/store"};
  EXPECT_EQ(test.run("cat $F/shown/text && ! cat $F/shown/store/index"), 0);
  test.policy.writable.push_back(test.folder.path() / "shown/store/trees/one");
  EXPECT_EQ(test.run("cd $F/shown/store && ! cat index && grep one trees/one/file && echo two > trees/one/file"), 0);
  EXPECT_EQ(read_file(test.folder.path() / "shown/store/trees/one/file"), "two\n");
}

TEST(Sandbox, BlocksAbstractSocketsWithTheNetworkOn) {
  if (!sandbox_support().namespaces) GTEST_SKIP() << sandbox_support().why_no_namespaces;
  if (sandbox_support().landlock < 6) GTEST_SKIP() << "Landlock " << sandbox_support().landlock;
  if (find_program("python3").empty()) GTEST_SKIP() << "no python3 to connect with";
  SandboxTest test(SandboxMode::namespaces);
  test.policy.network = true;
  const std::filesystem::path python = std::filesystem::canonical(find_program("python3"));
  test.policy.readable.push_back(python.parent_path().parent_path());
  const std::string name = fmt::format("wheelsmith-test-{}", ::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(server, reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(server, 5), 0);
  const std::string script = fmt::format(
      "'{}' -c 'import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + \"{}\")'", python.string(), name);
  EXPECT_EQ(::system((script + " 2> /dev/null").c_str()), 0);  // works outside
  EXPECT_NE(test.run(script), 0);
  EXPECT_EQ(test.run(fmt::format("'{}' -c 'import socket'", python.string())), 0);
  ::close(server);
}

TEST(Sandbox, RunsNothingWhenItCannotBeCreated) {
  if (!sandbox_support().namespaces) GTEST_SKIP() << sandbox_support().why_no_namespaces;
  SandboxTest test(SandboxMode::namespaces);
  test.policy.temporary = test.folder.path() / "absent";
  EXPECT_EQ(test.run("echo ran > file"), 126);
  EXPECT_TRUE(!std::filesystem::exists(test.folder.path() / "own/file"));
}

// The other modes disable the network themselves; here only the process launcher does.
TEST(Sandbox, DisablesTheNetworkInCallsMode) {
  Command command{.argv = {"cat", "/proc/self/net/dev"}, .no_network = true};
  SandboxPolicy policy;
  for (const auto& [mode, wanted] :
       {std::pair(SandboxMode::calls, true), {SandboxMode::landlock, false}, {SandboxMode::namespaces, false}}) {
    policy.mode = mode;
    EXPECT_EQ(in_sandbox(command, policy).no_network, wanted) << enum_name(mode);
  }
  if (!can_isolate_network()) GTEST_SKIP() << "this machine forbids network namespaces";
  policy.mode = SandboxMode::calls;
  Command started = in_sandbox(command, policy);
  started.argv = command.argv;  // `confine` is a command of the program, not of this test
  started.input.clear();
  const std::string devices = capture(started).output;
  EXPECT_NE(devices.find(" lo:"), std::string::npos) << devices;
  EXPECT_EQ(std::count(devices.begin(), devices.end(), '\n'), 3) << devices;  // two lines of heading
  command.no_network = false;
  EXPECT_FALSE(in_sandbox(command, policy).no_network);
}

// Mounts are ordered by real paths: by name alone, the visible folder would be mounted after the store in it was
// hidden, and show it again.
TEST(Sandbox, HidesPathsVisibleThroughAnAlias) {
  if (!sandbox_support().namespaces) GTEST_SKIP() << sandbox_support().why_no_namespaces;
  SandboxTest test(SandboxMode::namespaces);
  make_folders(test.folder.path() / "shown/store");
  write_file(test.folder.path() / "shown/store/index", "index\n");
  const std::filesystem::path alias = test.folder.path() / "an-alias-with-a-name-longer-than-that-of-the-store";
  std::filesystem::create_directory_symlink(test.folder.path() / "shown", alias);
  test.policy.hidden = {test.folder.path() / "shown/store"};
  test.policy.readable = {alias};
  EXPECT_EQ(test.run(fmt::format("cat '{}/text'", alias.string())), 0);
  EXPECT_NE(test.run(fmt::format("cat '{}/store/index' || cat $F/shown/store/index", alias.string())), 0);
  // The store by another name, with the real one visible.
  std::filesystem::create_directory_symlink(test.folder.path() / "shown/store", test.folder.path() / "s");
  test.policy.hidden = {test.folder.path() / "s"};
  test.policy.readable = {test.folder.path() / "shown"};
  EXPECT_NE(test.run("cat $F/shown/store/index || cat $F/s/index"), 0);
}

}  // namespace wheelsmith::sys
