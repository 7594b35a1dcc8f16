#include <gtest/gtest.h>

#include "base/error.h"
#include "toolchain/ask.h"
#include "toolchain/test_machine.h"
#include "toolchain/wanted_python.h"

namespace wheelsmith::toolchain {
namespace {

namespace fs = std::filesystem;

std::string json_of(const std::string& executable, const std::string& version, const std::string& abi,
                    const std::string& implementation = "cpython") {
  return R"({"executable":")" + executable + R"(","version":")" + version + R"(","implementation":")" + implementation +
         R"(","tag":"cp","abi":")" + abi + R"(","sites":[],"has_headers":true,"files":[]})";
}

// A script that acts as an interpreter: it prints the JSON it was created with.
fs::path add_python(TestMachine& machine, const std::string& name, const std::string& version, const std::string& abi,
                    const std::string& implementation = "cpython") {
  const std::string path = (machine.root() / name).string();
  return machine.script(name, "echo '" + json_of(path, version, abi, implementation) + "'");
}

TEST(WantedPython, ReadsEverySpelling) {
  struct Row {
    const char* text;
    const char* words;
    const char* first_name;
  };
  for (const Row& row : std::initializer_list<Row>{{"3.12", "3.12", "python3.12"},
                                                   {"3.12.1", "3.12.1", "python3.12"},
                                                   {"cp312", "3.12", "python3.12"},
                                                   {"cp38", "3.8", "python3.8"},
                                                   {"cp313t", "3.13t", "python3.13t"},
                                                   {"3.13t", "3.13t", "python3.13t"},
                                                   {"python3.10", "3.10", "python3.10"},
                                                   {"pp310", "pypy3.10", "pypy3.10"},
                                                   {"pypy3.10", "pypy3.10", "pypy3.10"},
                                                   {"3", "3", "python3"},
                                                   {"", "", "python3"}}) {
    const WantedPython wanted = WantedPython::parse(row.text);
    EXPECT_EQ(wanted.words(), row.words) << row.text;
    EXPECT_EQ(wanted.names().front(), row.first_name) << row.text;
  }
  for (const char* text : {"cp", "t", "3.", "3.x", "1.0", "3.1.2.3", "py", "cp3x", "3.99999999999999999999", "-3.1"}) {
    EXPECT_THROW(WantedPython::parse(text), Error) << text;
  }
}

TEST(FindPython, SkipsFailingShims) {
  TestMachine machine;
  machine.only_own_path();
  machine.script("bin/python3.12", "echo 'pyenv: python3.12: command not found' >&2; exit 127");
  add_python(machine, "bin/python3", "3.11.4", "cp311");
  add_python(machine, "home/.pyenv/versions/3.12.9/bin/python3.12", "3.12.9", "cp312");
  add_python(machine, "home/.pyenv/versions/3.12.10/bin/python3.12", "3.12.10", "cp312");
  EXPECT_EQ(find_python("3.12", machine.where).version, "3.12.10");
  EXPECT_EQ(find_python("3.12.9", machine.where).version, "3.12.9");
  EXPECT_EQ(find_python("3.11", machine.where).version, "3.11.4");
  EXPECT_EQ(find_python("", machine.where).short_version(), "3.11");
}

TEST(FindPython, FindsThoseOfManylinuxImages) {
  TestMachine machine;
  machine.only_own_path();
  machine.where.machine_root = machine.root();
  add_python(machine, "opt/python/cp39-cp39/bin/python3.9", "3.9.20", "cp39");
  add_python(machine, "opt/python/cp313-cp313t/bin/python3.13", "3.13.1", "cp313t");
  EXPECT_EQ(find_python("3.9", machine.where).version, "3.9.20");
  EXPECT_EQ(find_python("3.13t", machine.where).abi, "cp313t");
}

TEST(FindPython, DistinguishesFreeThreadedAndOtherImplementations) {
  TestMachine machine;
  machine.only_own_path();
  add_python(machine, "bin/python3.13", "3.13.1", "cp313t");
  add_python(machine, "home/.local/share/uv/python/cpython-3.13.1-linux/bin/python3.13", "3.13.1", "cp313");
  add_python(machine, "conda/envs/pp/bin/pypy3.10", "3.10.14", "pypy310_pp73", "pypy");
  machine.where.environment["CONDA_PREFIX"] = (machine.root() / "conda").string();
  EXPECT_EQ(find_python("3.13", machine.where).abi, "cp313");
  EXPECT_EQ(find_python("cp313t", machine.where).abi, "cp313t");
  EXPECT_EQ(find_python("pp310", machine.where).implementation, "pypy");
  EXPECT_THROW(find_python("3.10", machine.where), Error);
}

TEST(FindPython, NamesAttemptsAndTheFix) {
  TestMachine machine;
  machine.only_own_path();
  add_python(machine, "bin/python3", "3.11.4", "cp311");
  machine.script("bin/python", "exit 1");
  try {
    find_python("3.14", machine.where);
    FAIL();
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("python3 is 3.11.4"), std::string::npos) << what;
    EXPECT_NE(what.find("python does not run"), std::string::npos) << what;
    EXPECT_NE(what.find("uv python install 3.14"), std::string::npos) << what;
  }
  EXPECT_THROW(find_python((machine.root() / "bin/none").string(), machine.where), Error);
  EXPECT_THROW(find_python((machine.root() / "bin/python").string(), machine.where), Error);
}

TEST(ReadPython, RejectsInvalidOutput) {
  TestMachine machine;
  for (const char* body :
       {"echo rubbish", "echo '[1]'", "echo '{}'", "printf '\\377\\376\\000'", "kill -9 $$",
        "echo '{\"version\":3,\"executable\":[]}'", "echo '{\"version\":\"3.1\",\"executable\":\"x\"}'"}) {
    EXPECT_FALSE(read_python(machine.script("bin/bad", body), machine.where)) << body;
  }
  fs::permissions(machine.file("bin/plain", "no program"), fs::perms(0755));
  EXPECT_FALSE(read_python(machine.root() / "bin/plain", machine.where));
  EXPECT_FALSE(read_python(machine.root() / "bin", machine.where));
}

TEST(ReadPython, QueriesOnceUntilADependencyChanges) {
  TestMachine machine;
  const fs::path header = machine.root() / "include/Python.h";
  const std::string path = (machine.root() / "bin/python3").string();
  std::string json = json_of(path, "3.11.4", "cp311");
  json.replace(json.find("[]}"), 3, "[\"" + header.string() + "\"]}");
  const fs::path python = machine.script("bin/python3", "echo '" + json + "'");
  const std::optional<Python> first = read_python(python, machine.where);
  ASSERT_TRUE(first);
  EXPECT_EQ(machine.starts(), 1U);
  EXPECT_EQ(read_python(python, machine.where)->digest, first->digest);
  EXPECT_EQ(machine.starts(), 1U);
  machine.file("include/Python.h");  // was missing before
  EXPECT_TRUE(read_python(python, machine.where));
  EXPECT_EQ(machine.starts(), 2U);
  machine.script("bin/python3", "echo '" + json + "' # edited");
  EXPECT_NE(read_python(python, machine.where)->digest, first->digest);
  EXPECT_EQ(machine.starts(), 3U);
}

TEST(ReadPython, RemembersShimsThatSelectNothing) {
  TestMachine machine;
  const fs::path shim = machine.script("shims/python3", "[ \"$PYENV_VERSION\" = 3.11.4 ] || exit 127; echo '" +
                                                            json_of("/usr/bin/env", "3.11.4", "cp311") + "'");
  EXPECT_FALSE(read_python(shim, machine.where));
  EXPECT_FALSE(read_python(shim, machine.where));
  EXPECT_EQ(machine.starts(), 1U);
  machine.where.environment["PYENV_VERSION"] = "3.11.4";
  EXPECT_TRUE(read_python(shim, machine.where));
  EXPECT_EQ(machine.starts(), 2U);
}

TEST(RealPython, IsIdentified) {
  TestMachine machine;
  Host where = machine.where;
  where.environment = sys::current_environment();
  const std::vector<Python> pythons = find_pythons(where);
  if (pythons.empty()) GTEST_SKIP() << "no Python here";
  for (const Python& python : pythons) {
    if (python.implementation != "cpython") continue;
    std::string digits = python.short_version();
    digits.erase(digits.find('.'), 1);
    EXPECT_EQ(python.tag, "cp" + digits);
    EXPECT_TRUE(python.abi.starts_with(python.tag)) << python.abi;
    EXPECT_TRUE(python.platform.starts_with("linux_")) << python.platform;
    EXPECT_NE(python.soabi.find(digits), std::string::npos) << python.soabi;
    EXPECT_TRUE(fs::exists(python.stdlib)) << python.stdlib;
    EXPECT_EQ(python.has_headers, fs::exists(python.include / "Python.h"));
    EXPECT_EQ(python.digest.size(), 64U);
    const bool old = version_less(python.version, "3.8");
    if (!old && !python.abi.ends_with('t')) {
      EXPECT_EQ(find_python(python.version, where).version, python.version);
    }
  }
}

}  // namespace
}  // namespace wheelsmith::toolchain
