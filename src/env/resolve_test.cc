#include <fmt/format.h>

#include "env/pip.h"
#include "env/pip_report.h"
#include "env/test_env.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;
using testing::WheelBuilder;

namespace {

WheelBuilder wheel(const std::string& name, const std::string& version, const std::string& needs = "") {
  WheelBuilder made(name, version, "py3-none-any");
  std::string metadata = "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n";
  if (!needs.empty()) metadata += "Requires-Dist: " + needs + "\n";
  made.metadata(metadata).add(name + ".py", "V = '" + version + "'\n");
  return made;
}

struct ResolveTest : ::testing::Test {
  TestEnv test;
  void SetUp() override {
    if (!test.python.has_pip) GTEST_SKIP() << "python3 has no pip";
  }
  Lock resolve_now(const std::vector<std::string>& requirements, const ResolveOptions& options = {}) {
    return resolve(requirements, test.python, test.fetcher, test.store, options);
  }
};

}  // namespace

TEST_F(ResolveTest, KeepsALockUntilUpgradeOrFileChanges) {
  test.put(wheel("alpha", "1.0", "beta>=1"));
  test.put(wheel("beta", "1.0"));
  const Lock first = resolve_now({"alpha"});
  ASSERT_EQ(first.wheels.size(), 2U);
  EXPECT_EQ(first.wheels[0].name, "alpha");
  EXPECT_EQ(first.find("BETA")->sha256.size(), 64U);
  test.put(wheel("beta", "2.0"));
  EXPECT_EQ(resolve_now({"alpha"}).find("beta")->version, "1.0");
  EXPECT_EQ(resolve_now({"alpha"}, {.upgrade = true}).find("beta")->version, "2.0");
  EXPECT_EQ(resolve_now({"alpha"}).find("beta")->version, "2.0");
  test.put(wheel("beta", "2.0").add("new.py", ""));
  const Lock changed = resolve_now({"alpha"}, {.offline = true});
  EXPECT_NE(changed.find("beta")->sha256, first.find("beta")->sha256);
  EXPECT_EQ(Lock::from_value(document::parse_json(document::to_json(changed.to_value()), "lock")).to_value(),
            changed.to_value());
}

TEST_F(ResolveTest, ExplainsFailuresInOneSentence) {
  test.put(wheel("alpha", "1.0", "beta==1"));
  test.put(wheel("gamma", "1.0", "beta==2"));
  test.put(wheel("beta", "1"));
  test.put(wheel("beta", "2"));
  EXPECT_NE(
      error_of([&] { resolve_now({"beta==3"}); }).find("no matching distribution found for beta==3 (from versions: "),
      std::string::npos);
  EXPECT_NE(
      error_of([&] { resolve_now({"alpha", "gamma"}); }).find("conflicting requirements: alpha 1.0 depends on beta==1"),
      std::string::npos);
  EXPECT_NE(error_of([&] { resolve_now({"-r /etc/passwd"}); }), "");
  EXPECT_NE(error_of([&] { resolve_now({"x @ file:///x.tar.gz"}); }).find("wheels only"), std::string::npos);
  EXPECT_NE(error_of([&] {
              resolve_now({"x @ http://127.0.0.1:9/${HOME}/x-1-py3-none-any.whl"});
            }).find("in this URL from the environment"),
            std::string::npos);
}

TEST_F(ResolveTest, FailsOfflineWithoutALockOrFolders) {
  fetch::FetchOptions options;
  options.offline = true;
  fetch::Fetcher fetcher(test.store, options);
  const std::string error = error_of([&] { resolve({"beta"}, test.python, fetcher, test.store, {}); });
  EXPECT_EQ(error,
            "--offline: beta has not been resolved before; run once without --offline, or use a folder of wheels "
            "(PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER, without --offline)");
  test.put(wheel("beta", "1"));
  const Lock lock = resolve({"beta"}, test.python, fetcher, test.store, {.wheelhouses = {test.links}});
  EXPECT_EQ(lock.wheels.size(), 1U);
}

TEST_F(ResolveTest, InstallsPipInTheStore) {
  if (!test.python.has_ensurepip) GTEST_SKIP() << "python3 has no ensurepip";
  test.put(wheel("beta", "1"));
  test.python.has_pip = false;
  EXPECT_EQ(resolve_now({"beta"}).wheels.size(), 1U);
  test.python.has_ensurepip = false;
  EXPECT_NE(error_of([&] { resolve_now({"beta==1"}); }).find("neither pip nor ensurepip"), std::string::npos);
  test.python.has_pip = true;
  test.python.pip_version = "20.3.4";
  EXPECT_NE(error_of([&] { resolve_now({"beta==1"}); }).find("-m pip install --upgrade pip"), std::string::npos);
}

TEST(PipEnvironment, ContainsOnlyTheIndex) {
  ::setenv("PIP_INDEX_URL", "https://other.example", 1);
  fetch::IndexSettings index;
  index.extra_index_urls = {"https://u:p@a.example", "https://b.example"};
  const sys::Environment environment = pip_environment(index);
  ::unsetenv("PIP_INDEX_URL");
  EXPECT_FALSE(environment.contains("PIP_INDEX_URL"));
  EXPECT_EQ(environment.at("PIP_EXTRA_INDEX_URL"), "https://u:p@a.example https://b.example");
  EXPECT_EQ(environment.at("PIP_CONFIG_FILE"), "/dev/null");
}

TEST(PipReport, ParsesStrictly) {
  const std::string hash(64, 'a');
  const auto report = [](const std::string& install) { return R"({"version":"1","install":[)" + install + "]}"; };
  const auto good = parse_pip_report(
      report(R"({"metadata":{"name":"B","version":"1"},"download_info":{"url":"https://x/B-1-py3-none-any.whl#f",)"
             R"("archive_info":{"hash":"sha256=)" +
             hash + R"("}}})"));
  ASSERT_EQ(good.size(), 1U);
  EXPECT_EQ(good[0].sha256, hash);
  EXPECT_EQ(good[0].file_name, "B-1-py3-none-any.whl");
  for (const char* bad :
       {"1", R"({"metadata":{"name":"b","version":"1"},"download_info":{"url":"https://x/b.tar.gz"}})",
        R"({"metadata":{"name":"../b","version":"1"},"download_info":{"url":"https://x/b.whl"}})",
        R"({"metadata":{"name":"b","version":"1"},"download_info":{"url":"https://x/%2e%2e%2fb.whl"}})"}) {
    EXPECT_NE(error_of([&] { parse_pip_report(report(bad)); }), "") << bad;
  }
  EXPECT_NE(error_of([] { parse_pip_report(R"({"version":"2","install":[]})"); }), "");
  EXPECT_NE(error_of([] { parse_pip_report("{"); }), "");
}

TEST(PipReport, IsSortedByNormalizedNames) {
  std::string installs;
  for (const char* name : {"filelock", "Jinja2", "typing_extensions", "typer"}) {
    installs +=
        fmt::format(R"({}{{"metadata":{{"name":"{}","version":"1"}},"download_info":{{"url":"https://x/a.whl"}}}})",
                    installs.empty() ? "" : ",", name);
  }
  std::vector<std::string> names;
  for (const PinnedWheel& wheel : parse_pip_report(R"({"version":"1","install":[)" + installs + "]}"))
    names.push_back(wheel.name);
  EXPECT_EQ(names, (std::vector<std::string>{"filelock", "jinja2", "typer", "typing-extensions"}));
}

TEST(PipFailure, DistinguishesNetworkFailuresFromMissingVersions) {
  const PipFailure failure = read_pip_failure(
      "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': refused')': /x/\n"
      "ERROR: Could not find a version that satisfies the requirement x (from versions: none)\n"
      "ERROR: No matching distribution found for x\n");
  EXPECT_EQ(failure.kind, PipFailure::Kind::network);
  EXPECT_EQ(read_pip_failure("ERROR: boom\n").reason, "boom");
  EXPECT_EQ(read_pip_failure("").reason, "pip gave no reason");
}

}  // namespace wheelsmith::env
