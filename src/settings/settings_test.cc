#include "settings/settings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::settings {
namespace {

std::string what(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, TheFirstPlaceThatSaysSomethingHolds) {
  sys::TempDir folder;
  sys::write_file(folder.path() / "wheelsmith.toml",
                  "arch = \"8.0\"\nplatform = \"manylinux_2_28\"\npython = [\"3.11\", \"3.12\"]\n");
  sys::make_folders(folder.path() / "config" / "wheelsmith");
  sys::write_file(folder.path() / "config" / "wheelsmith" / "config.toml", "platform = \"linux\"\nsteps = 3\n");
  sys::make_folders(folder.path() / "a" / "b");
  const sys::Environment environment = {{"XDG_CONFIG_HOME", (folder.path() / "config").string()},
                                        {"WHEELSMITH_ARCH", "9.0;10.0"}};

  Settings settings;
  settings.read_files(folder.path() / "a" / "b", environment);  // the nearest file is two folders above
  settings.read_environment(environment);
  EXPECT_EQ(settings.list("arch"), std::vector<std::string>{"9.0;10.0"});
  EXPECT_EQ(settings.find("arch")->origin, "WHEELSMITH_ARCH");
  EXPECT_EQ(settings.text("platform"), "manylinux_2_28");
  EXPECT_EQ(settings.find("platform")->origin, (folder.path() / "wheelsmith.toml").string() + ":2");
  EXPECT_EQ(settings.list("python"), (std::vector<std::string>{"3.11", "3.12"}));
  EXPECT_EQ(settings.text("steps"), "3");
  EXPECT_EQ(settings.text("build-type"), "release");
  EXPECT_EQ(settings.find("build-type")->origin, "default");
  settings.set_from_command_line("arch", "gfx942");
  EXPECT_EQ(settings.list("arch"), std::vector<std::string>{"gfx942"});
  EXPECT_EQ(settings.find("arch")->origin, "--arch");
}

TEST(Settings, TablesAreMergedKeyByKey) {
  sys::TempDir folder;
  sys::write_file(folder.path() / "wheelsmith.toml", "[set]\nthreads = 2\nname = \"a\"\n");
  Settings settings;
  settings.read_file(folder.path() / "wheelsmith.toml");
  settings.read_environment({{"WHEELSMITH_SET", "name=b,more=c"}});
  EXPECT_EQ(settings.table("set"),
            (std::map<std::string, std::string>{{"threads", "2"}, {"name", "b"}, {"more", "c"}}));
}

TEST(Settings, ValuesOfTablesMayHoldCommas) {
  Settings settings;
  settings.set_from_command_line("env", document::Array{"LDFLAGS=-Wl,-s", "MORE=a=b"});
  EXPECT_EQ(settings.table("env"), (std::map<std::string, std::string>{{"LDFLAGS", "-Wl,-s"}, {"MORE", "a=b"}}));
  EXPECT_EQ(what([&] { settings.set_from_command_line("env", document::Array{"LDFLAGS"}); }),
            "env: LDFLAGS is not NAME=VALUE");
  Settings other;
  other.read_environment({{"WHEELSMITH_ENV", "LDFLAGS=-Wl,-s\nMORE=a=b"}});
  EXPECT_EQ(other.table("env"), settings.table("env"));
}

TEST(Settings, FoldersAreRelativeToTheFile) {
  sys::TempDir folder;
  sys::write_file(folder.path() / "wheelsmith.toml", "out = \"wheels\"\n");
  Settings settings;
  settings.read_file(folder.path() / "wheelsmith.toml");
  EXPECT_EQ(settings.text("out"), (folder.path() / "wheels").string());
}

TEST(Settings, MistakesNameFileLineAndTheNearestWord) {
  sys::TempDir folder;
  const std::filesystem::path file = folder.path() / "wheelsmith.toml";
  const auto mistake = [&](const std::string& text) {
    sys::write_file(file, text);
    return what([&] { Settings().read_file(file); });
  };
  EXPECT_EQ(mistake("\nplatfrom = \"x\"\n"), file.string() + ":2: unknown key platfrom; did you mean platform?");
  EXPECT_EQ(mistake("build-type = \"relase\"\n"), file.string() +
                                                      ":1: build-type cannot be relase; did you mean release?; it is "
                                                      "one of release, debug, relwithdebinfo, minsizerel");
  EXPECT_EQ(mistake("offline = \"yes\"\n"), file.string() + ":1: offline must be true or false, but this is a text");
  EXPECT_EQ(mistake("python = [3.11]\n"), file.string() + ":1: python must be a list of texts, but this is a number");
  EXPECT_NE(mistake("arch = [\n").find(":"), std::string::npos);
  EXPECT_EQ(what([] { Settings().read_environment({{"WHEELSMITH_ARCHS", "9.0"}}); }),
            "WHEELSMITH_ARCHS is set in the environment, but there is no setting archs; did you mean arch?");
  EXPECT_EQ(what([] { Settings().read_environment({{"WHEELSMITH_OFFLINE", "maybe"}}); }),
            "WHEELSMITH_OFFLINE: offline is a switch: maybe is neither true nor false");
}

TEST(Settings, EveryOptionHasHelpAndTheyAreSorted) {
  const std::vector<Option>& options = all_options();
  EXPECT_TRUE(
      std::is_sorted(options.begin(), options.end(), [](const Option& a, const Option& b) { return a.name < b.name; }));
  for (const Option& option : options) EXPECT_FALSE(option.help.empty()) << option.name;
}

TEST(EnvFile, ReadsWhatAShellWouldAssign) {
  const auto values =
      parse_env_file("# comment\nexport A=1\nB='two words'\nC=\"a\\\"b\" # more\n\nD=x#y\nE=\n", "f.env");
  EXPECT_EQ(values, (std::map<std::string, std::string>{
                        {"A", "1"}, {"B", "two words"}, {"C", "a\"b"}, {"D", "x#y"}, {"E", ""}}));
  EXPECT_EQ(what([] { (void)parse_env_file("A=1\nnonsense\n", "f.env"); }),
            "f.env:2: not a line of the form NAME=VALUE: nonsense");
  EXPECT_EQ(what([] { (void)parse_env_file("A='x\n", "f.env"); }), "f.env:1: a quote is not closed");
}

}  // namespace
}  // namespace wheelsmith::settings
