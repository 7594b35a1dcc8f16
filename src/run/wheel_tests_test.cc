#include "run/wheel_tests.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"
#include "testing/wheel_builder.h"

namespace wheelsmith::run {

namespace {

namespace fs = std::filesystem;

// A wheel, an interpreter of this machine, and no network. The sandbox is off: `confine` is a command of the program.
struct WheelBench {
  sys::TempDir folder;
  store::Store store{folder.path() / "store"};
  fetch::Fetcher fetcher = offline_fetcher();
  toolchain::Host host;
  toolchain::Python python;
  recipe::Rules rules;

  WheelBench() {
    host.environment = sys::current_environment();
    python = *toolchain::read_python(sys::find_program("python3"), host);
  }

  fetch::Fetcher offline_fetcher() {
    fetch::FetchOptions options;
    options.index.no_index = true;
    return {store, options};
  }

  void add_test(const std::string& script, const std::vector<std::string>& files = {}) {
    recipe::Test test;
    test.script = script;
    test.files = files;
    rules.tests.push_back(test);
  }

  [[nodiscard]] TestBench bench() {
    const testing::WheelBuilder wheel =
        testing::WheelBuilder("demo", "1.0", "py3-none-any").add("demo/__init__.py", "value = 7\n");
    const fs::path file = folder.path() / wheel.file_name();
    sys::write_file(file, wheel.build());
    return {.rules = rules,
            .python = python,
            .variant = recipe::Variant::cpu,
            .wheel = file,
            .offline = true,
            .store = store,
            .fetcher = fetcher,
            .host = host,
            .sandbox = {.mode = "off", .open = {}}};
  }
};

}  // namespace

TEST(WheelTests, RunInAFreshEnvironment) {
  WheelBench at;
  at.add_test("import demo; assert demo.value == 7");
  at.add_test("import demo; assert demo.value == 8");
  const std::vector<TestOutcome> outcomes = run_tests(at.bench());
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].outcome, TestResult::pass) << outcomes[0].why;
  EXPECT_EQ(outcomes[1].outcome, TestResult::fail);
}

// Packages of the environment load with its interpreter and can change its answers. They must not choose where a wheel
// is installed, which happens outside any sandbox.
TEST(WheelTests, IgnoreForgedInstallPaths) {
  WheelBench at;
  const fs::path site = at.folder.path() / "site", forged = at.folder.path() / "home/lib/python/site-packages";
  sys::make_folders(site);
  sys::make_folders(forged);
  sys::write_file(site / "evil.pth", "import evil\n");
  sys::write_file(site / "evil.py", fmt::format(R"(import sysconfig
ask = sysconfig.get_path
sysconfig.get_path = lambda name, *more, **named: "{}" if name in ("purelib", "platlib") else ask(name, *more, **named)
)",
                                                forged.string()));
  at.add_test(fmt::format("import demo, sysconfig; assert sysconfig.get_path('purelib') == '{}'", forged.string()));
  TestBench bench = at.bench();
  bench.torch_sites = {site};
  const std::vector<TestOutcome> outcomes = run_tests(bench);
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].outcome, TestResult::pass) << outcomes[0].why;  // the forged path is in effect
  EXPECT_TRUE(fs::is_empty(forged));
  EXPECT_EQ(std::distance(fs::directory_iterator(at.folder.path() / "home"), fs::directory_iterator()), 1);
}

// Build scripts have already written to the source; our copies for the tests are made outside any sandbox.
TEST(WheelTests, CopyNoFilesThroughLinksOutOfTheSource) {
  WheelBench at;
  const fs::path source = at.folder.path() / "source";
  sys::make_folders(source / "package");
  sys::write_file(at.folder.path() / "secret", "secret\n");
  sys::write_file(source / "beside.txt", "beside\n");
  at.add_test("assert open('file.txt').read()", {"file.txt"});
  TestBench bench = at.bench();
  bench.source = source / "package";
  bench.source_root = fs::canonical(source);
  fs::create_symlink("../beside.txt", source / "package/file.txt");
  EXPECT_EQ(run_tests(bench).at(0).outcome, TestResult::pass);
  fs::remove(source / "package/file.txt");
  fs::create_symlink("../../secret", source / "package/file.txt");
  EXPECT_THROW((void)run_tests(bench), Error);
  // The folder of the package itself as a link to where a file of that name is.
  fs::remove_all(source / "package");
  fs::create_directory_symlink(at.folder.path(), source / "package");
  sys::write_file(at.folder.path() / "file.txt", "of the user\n");
  EXPECT_THROW((void)run_tests(bench), Error);
}

}  // namespace wheelsmith::run
