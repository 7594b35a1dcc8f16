#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "env/test_env.h"
#include "sys/file_state.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;
using testing::WheelBuilder;

namespace {

PinnedWheel pinned(const fs::path& file, const std::string& name) {
  return {name, "1.0", file.filename().string(), "file://" + file.string(), to_hex(sha256(sys::map_file(file).bytes))};
}

// Two wheels of one namespace, with many files.
Lock many_files(const TestEnv& test) {
  Lock lock;
  for (const std::string name : {"alpha", "beta"}) {
    WheelBuilder wheel(name, "1.0", "py3-none-any");
    wheel.add("shared/__init__.py", "OWNER = '" + name + "'\n");
    for (int i = 0; i < 300; ++i) wheel.add(name + "/m" + std::to_string(i) + ".py", "X = " + std::to_string(i) + "\n");
    lock.wheels.push_back(pinned(test.put(wheel), name));
  }
  return lock;
}

const std::vector<std::string> k_probe = {"-c", "import alpha.m299, beta.m7, shared; print(shared.OWNER)"};

std::string probe(const Environment& env) { return output_of({env.python.string(), k_probe[0], k_probe[1]}); }

}  // namespace

TEST(MakeEnvironment, IsCreatedOnceAndTheLastWheelWins) {
  TestEnv test;
  const Lock lock = many_files(test);
  const Environment env = make_environment(test.python, lock, {}, test.fetcher, test.store);
  EXPECT_EQ(probe(env), "beta\n");
  const auto before = sys::stat_fingerprint(env.root / "pyvenv.cfg");
  store::Store store(test.store.root());
  EXPECT_EQ(make_environment(test.python, lock, {}, test.fetcher, store).root, env.root);
  EXPECT_EQ(sys::stat_fingerprint(env.root / "pyvenv.cfg"), before);
}

TEST(MakeEnvironment, KeyDependsOnEveryInput) {
  TestEnv test;
  Lock lock = many_files(test);
  const std::string key = environment_key(test.python, lock, {});
  EXPECT_NE(environment_key(test.python, lock, {"/x"}), key);
  EXPECT_NE(environment_key(test.python, lock, {"/x", "/y"}), environment_key(test.python, lock, {"/y", "/x"}));
  toolchain::Python other = test.python;
  other.digest = "other";
  EXPECT_NE(environment_key(other, lock, {}), key);
  lock.wheels.pop_back();
  EXPECT_NE(environment_key(test.python, lock, {}), key);
}

TEST(MakeEnvironment, ConcurrentProcessesCreateOne) {
  TestEnv test;
  const Lock lock = many_files(test);
  const auto make = [&] {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    try {
      store::Store store(test.store.root());
      fetch::Fetcher fetcher(store, test.fetcher.options());
      make_environment(test.python, lock, {}, fetcher, store);
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  };
  const pid_t first = make(), second = make();
  for (const pid_t pid : {first, second}) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(probe(make_environment(test.python, lock, {}, test.fetcher, test.store)), "beta\n");
}

TEST(MakeEnvironment, IsRepairedAfterAKill) {
  TestEnv test;
  const Lock lock = many_files(test);
  for (const int milliseconds : {1, 5, 10, 20, 40}) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      try {
        store::Store store(test.store.root());
        fetch::Fetcher fetcher(store, test.fetcher.options());
        make_environment(test.python, lock, {}, fetcher, store);
      } catch (const std::exception&) {}
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(milliseconds) * 1000);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    const Environment env = make_environment(test.python, lock, {}, test.fetcher, test.store);
    EXPECT_EQ(probe(env), "beta\n") << milliseconds;
    sys::remove_tree(env.root);
  }
  // Remains of a killed run, in any state.
  const fs::path left = test.store.env(environment_key(test.python, lock, {}));
  fs::create_directories(left / "bin");
  std::ofstream(left / "bin/python") << "half";
  EXPECT_EQ(probe(make_environment(test.python, lock, {}, test.fetcher, test.store)), "beta\n");
}

TEST(MakeEnvironment, LeavesNothingBehindAfterAHashMismatch) {
  TestEnv test;
  Lock lock = many_files(test);
  lock.wheels[0].sha256 = std::string(64, '0');
  EXPECT_NE(error_of([&] { make_environment(test.python, lock, {}, test.fetcher, test.store); }), "");
  EXPECT_FALSE(fs::exists(test.store.env(environment_key(test.python, lock, {}))));
}

TEST(ScratchEnvironment, SearchesAppendedSitesAfterItsOwn) {
  TestEnv test;
  const fs::path site = test.temp.path() / "a 'site\\ \xc3\xa4";
  const fs::path checkout = test.temp.path() / "checkout";
  for (const fs::path& folder : {site, checkout}) fs::create_directories(folder);
  std::ofstream(site / "machine.py") << "X = 1\n";
  std::ofstream(site / "both.py") << "X = 'appended'\n";
  std::ofstream(site / "editable.pth") << checkout.string() << "\n";
  std::ofstream(checkout / "developed.py") << "X = 1\n";
  const Environment env = make_scratch_environment(test.python, {site}, test.temp.path() / "scratch");
  std::ofstream(env.site_packages / "both.py") << "X = 'own'\n";
  EXPECT_EQ(output_of({env.python.string(), "-c", "import machine, developed, both; print(both.X)"}), "own\n");
  EXPECT_NE(error_of([&] { make_scratch_environment(test.python, {}, env.root); }).find("not empty"),
            std::string::npos);
}

TEST(ScratchEnvironment, OfAVenvUsesTheBaseInterpreter) {
  TestEnv test;
  const Environment outer = test.scratch("outer");
  std::ofstream(outer.site_packages / "secret.py") << "";
  toolchain::Host where;
  where.environment = sys::current_environment();
  const auto python = toolchain::read_python(outer.python, where);
  ASSERT_TRUE(python);
  const Environment inner = make_scratch_environment(*python, {}, test.temp.path() / "inner");
  const std::string facts = output_of({inner.python.string(), "-c",
                                       "import sys, importlib.util as u; print(sys.prefix, sys.base_prefix == "
                                       "'" +
                                           test.python.base_prefix.string() + "', u.find_spec('secret'))"});
  EXPECT_EQ(facts, inner.root.string() + " True None\n");
}

}  // namespace wheelsmith::env
