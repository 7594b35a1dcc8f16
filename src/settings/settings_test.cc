#include "settings/settings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "settings/project_file.h"
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

TEST(Settings, TheHighestPrecedenceWins) {
  sys::TempDir folder;
  sys::write_file(folder.path() / "wheelsmith.toml",
                  "arch = \"8.0\"\nplatform = \"manylinux_2_28\"\npython = [\"3.11\", \"3.12\"]\n");
  sys::make_folders(folder.path() / "config" / "wheelsmith");
  sys::write_file(folder.path() / "config" / "wheelsmith" / "config.toml", "platform = \"linux\"\nsteps = 3\n");
  sys::make_folders(folder.path() / "a" / "b");
  const sys::Environment environment = {{"XDG_CONFIG_HOME", (folder.path() / "config").string()},
                                        {"WHEELSMITH_ARCH", "9.0;10.0"}};

  Settings settings;
  const std::filesystem::path file = project_file(folder.path() / "a" / "b");  // two folders above
  settings.read_project(file, sys::read_file(file));
  settings.read_user_file(environment);
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
  Settings settings;
  settings.read_project("/p/wheelsmith.toml", "[set]\nthreads = 2\nname = \"a\"\n");
  settings.read_environment({{"WHEELSMITH_SET", "name=b,more=c"}});
  EXPECT_EQ(settings.table("set"),
            (std::map<std::string, std::string>{{"threads", "2"}, {"name", "b"}, {"more", "c"}}));
}

TEST(Settings, ValuesOfTablesMayContainCommas) {
  Settings settings;
  settings.set_from_command_line("env", document::Array{"LDFLAGS=-Wl,-s", "MORE=a=b"});
  EXPECT_EQ(settings.table("env"), (std::map<std::string, std::string>{{"LDFLAGS", "-Wl,-s"}, {"MORE", "a=b"}}));
  EXPECT_EQ(what([&] { settings.set_from_command_line("env", document::Array{"LDFLAGS"}); }),
            "--env LDFLAGS: must be NAME=VALUE");
  Settings other;
  other.read_environment({{"WHEELSMITH_ENV", "LDFLAGS=-Wl,-s\nMORE=a=b"}});
  EXPECT_EQ(other.table("env"), settings.table("env"));
}

TEST(Settings, TablesInTheSlurmTableBecomeNamesWithDots) {
  Settings settings;
  settings.read_project("/p/wheelsmith.toml",
                        "[slurm]\npartition = \"build\"\nmax-queued = 50\noptions = [\"--account=x\", \"-C a,b\"]\n"
                        "[slurm.flash-attn.cuda]\nmemory = \"64GB\"\n");
  const auto table = settings.table("slurm");
  EXPECT_EQ(table.at("partition"), "build");
  EXPECT_EQ(table.at("max-queued"), "50");
  EXPECT_EQ(table.at("options"), "--account=x\n-C a,b");
  EXPECT_EQ(table.at("flash-attn.cuda.memory"), "64GB");
  EXPECT_NE(what([&] { settings.read_project("/p/wheelsmith.toml", "[slurm]\noptions = [1]\n"); }), "");
}

TEST(Settings, FoldersAndProgramsAreRelativeToTheFile) {
  Settings settings;
  settings.read_project("/p/wheelsmith.toml",
                        "out = \"wheels\"\ncc = \"tools/cc\"\ncxx = \"g++-13\"\n"
                        "python = [\"./venv/bin/python\", \"3.12\", \"/usr/bin/python3\"]\n");
  EXPECT_EQ(settings.text("out"), "/p/wheels");
  EXPECT_EQ(settings.text("cc"), "/p/tools/cc");
  EXPECT_EQ(settings.text("cxx"), "g++-13");
  EXPECT_EQ(settings.list("python"), (std::vector<std::string>{"/p/venv/bin/python", "3.12", "/usr/bin/python3"}));
}

TEST(Settings, ErrorsNameFileLineAndNearestName) {
  const std::filesystem::path file = "/p/wheelsmith.toml";
  const auto mistake = [&](const std::string& text) { return what([&] { Settings().read_project(file, text); }); };
  EXPECT_EQ(mistake("\nplatfrom = \"x\"\n"), file.string() + ":2: unknown key platfrom; did you mean platform?");
  EXPECT_EQ(
      mistake("build-type = \"relase\"\n"),
      file.string() +
          ":1: build-type relase: must be one of release, debug, relwithdebinfo, minsizerel; did you mean release?");
  EXPECT_EQ(mistake("offline = \"yes\"\n"), file.string() + ":1: offline must be true or false, but is a string");
  EXPECT_EQ(mistake("python = [3.11]\n"), file.string() + ":1: python must be a list of strings, but is a number");
  EXPECT_EQ(mistake("config = \"other.toml\"\n"), file.string() + ":1: config can be given on the command line only");
  EXPECT_NE(mistake("arch = [\n").find(":"), std::string::npos);
  EXPECT_EQ(what([] { Settings().read_environment({{"WHEELSMITH_ARCHS", "9.0"}}); }),
            "WHEELSMITH_ARCHS: unknown setting archs; did you mean arch?");
  EXPECT_EQ(what([] { Settings().read_environment({{"WHEELSMITH_OFFLINE", "maybe"}}); }),
            "WHEELSMITH_OFFLINE: offline maybe: must be true or false");
}

TEST(Settings, EveryOptionHasHelpAndTheyAreSorted) {
  const std::vector<Option>& options = all_options();
  EXPECT_TRUE(
      std::is_sorted(options.begin(), options.end(), [](const Option& a, const Option& b) { return a.name < b.name; }));
  std::set<char> short_names;
  for (const Option& option : options) {
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_EQ(option.argument.empty(), option.kind == Kind::flag) << option.name;
    EXPECT_TRUE(option.short_name == '\0' || short_names.insert(option.short_name).second) << option.name;
  }
}

TEST(Settings, RejectInvalidValuesAtOnce) {
  const struct {
    const char *name, *good, *bad, *wanted;
  } rows[] = {
      {"jobs", "8", "abc", "a whole number from 0"},
      {"jobs", "0", "-1", "a whole number"},
      {"jobs", "1000000", "1000001", "to 1000000"},
      {"steps", "1", "0", "a whole number from 1"},
      {"timeout", "0", "1h", "a whole number"},
      {"memory", "12GB", "lots", "a size such as 12GB"},
      {"memory", "1.5 GiB", "0", "a size"},
      {"variant", "cpu,cuda", "cpu,gpu", "one of cpu, cuda, rocm"},
      {"network", "off", "maybe", "one of recipe, on, off"},
      {"env", "A=1", "A", "NAME=VALUE"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.name) + " " + row.bad);
    const auto says = [&](const std::string& text) {
      EXPECT_NE(text.find(row.wanted), std::string::npos) << text;
      return text;
    };
    std::string variable = std::string("WHEELSMITH_") + row.name;
    std::transform(variable.begin(), variable.end(), variable.begin(),
                   [](char c) { return c == '-' ? '_' : std::toupper(c); });
    Settings().set_from_command_line(row.name, std::string(row.good));
    EXPECT_TRUE(
        says(what([&] { Settings().set_from_command_line(row.name, std::string(row.bad)); })).starts_with("--"));
    EXPECT_TRUE(says(what([&] { Settings().read_environment({{variable, row.bad}}); })).starts_with(variable));
    if (std::string(row.name) == "env") continue;
    const std::string line = fmt::format("{} = \"{}\"\n", row.name, row.bad);
    if (std::string(row.name) == "variant") continue;  // a list there, not a text with commas
    EXPECT_TRUE(says(what([&] { Settings().read_project("/x/w.toml", line); })).starts_with("/x/w.toml:1"));
  }
}

TEST(Settings, AStoreIsAFolderAndUrls) {
  const struct {
    const char* text;
    const char* folder;
    std::vector<std::string> urls;
  } cases[] = {
      {"/data/store", "/data/store", {}},
      {"/data/a,b", "/data/a,b", {}},
      {"/data/store,https://host/s", "/data/store", {"https://host/s"}},
      {"/data/a,b,https://host/s, http://other", "/data/a,b", {"https://host/s", "http://other"}},
      {"https://host/s", "", {"https://host/s"}},
      {"/data/store\nhttps://host/a,b", "/data/store", {"https://host/a,b"}},
      {"/first\n/last", "/last", {}},
      {"", "", {}},
  };
  for (const auto& one : cases) {
    Settings settings;
    settings.read_environment({{"WHEELSMITH_STORE", one.text}, {"WHEELSMITH_STORE_TOKEN", "secret"}});
    EXPECT_EQ(settings.folder("store"), one.folder) << one.text;
    EXPECT_EQ(settings.urls("store"), one.urls) << one.text;
  }
  Settings file;
  file.read_project("/x/w.toml", "store = [\"cache\", \"https://host/s\"]\n");
  EXPECT_EQ(file.folder("store"), "/x/cache");
  EXPECT_EQ(file.urls("store"), std::vector<std::string>{"https://host/s"});
  EXPECT_EQ(file.find("store")->value.texts().size(), 2u);
}

// A new option must also be listed here if an untrusted file may set it.
TEST(Settings, OnlyWhatChoosesPackagesNeedsNoTrust) {
  std::vector<std::string> harmless, versions;
  for (const Option& option : all_options()) {
    if (option.trust == Trust::not_needed) harmless.push_back(option.name);
    if (option.trust == Trust::not_for_versions) versions.push_back(option.name);
    // A path, a program or a table of variables is never harmless.
    if (option.kind == Kind::folder || option.kind == Kind::program || option.kind == Kind::table ||
        option.kind == Kind::places) {
      EXPECT_EQ(option.trust, Trust::needed) << option.name;
    }
  }
  EXPECT_EQ(harmless, (std::vector<std::string>{"arch", "build-type", "gpu", "keep-going", "packages", "platform",
                                                "rocm-version", "target", "variant", "verbose", "without"}));
  EXPECT_EQ(versions, (std::vector<std::string>{"python", "torch"}));
}

TEST(Settings, ListsWhatNeedsTrust) {
  const struct {
    std::string text;
    std::vector<std::string> risky;
  } cases[] = {
      {"packages = [\"a\"]\nvariant = \"cuda\"\narch = [\"9.0\"]\npython = [\"3.11\", \"3.13t\", \"cp312\"]\n", {}},
      {"python = \"./evil\"\n", {"python"}},
      {"python = [\"3.11\", \"/usr/bin/python3\"]\n", {"python"}},
      {"python = \"python3\"\n", {"python"}},
      {"python = \"\"\n", {"python"}},
      {"python = \"3.11/../x\"\n", {"python"}},
      {"torch = \"2.9.0+cu130\"\n", {}},
      {"torch = \"nightly/cu130\"\n", {"torch"}},
      {"torch = \"env\"\n", {"torch"}},
      {"torch = \"torch-2.9.0-cp312-cp312-linux_x86_64.whl\"\n", {"torch"}},
      {"cxx = \"./evil\"\ncc = \"gcc\"\nstore = \"cache\"\n", {"cc", "cxx", "store"}},
      {"cuda = \"cuda\"\nrocm = \"rocm\"\nsysroot = \"s\"\n", {"cuda", "rocm", "sysroot"}},
      {"offline = false\nnetwork = \"on\"\ngovernor = \"off\"\n", {"governor", "network", "offline"}},
      {"[env]\nLD_PRELOAD = \"x.so\"\n[mirrors]\n\"https://a/\" = \"https://b/\"\n", {"env", "mirrors"}},
      {"[set]\na = \"b\"\n", {"set"}},
      {"ref = \"0123\"\nsource = \"x=.\"\ncontainer = \"x\"\n", {"container", "ref", "source"}},
  };
  for (const auto& one : cases) {
    Settings settings;
    settings.read_project("/p/wheelsmith.toml", one.text);
    settings.read_environment({{"WHEELSMITH_CC", "clang"}});  // what else sets an option does not matter
    std::vector<std::string> names;
    for (const auto& option : settings.risky_options()) names.push_back(option.name);
    EXPECT_EQ(names, one.risky) << one.text;
  }
}

TEST(EnvFile, ReadsWhatAShellWouldAssign) {
  const auto values =
      parse_env_file("# comment\nexport A=1\nB='two words'\nC=\"a\\\"b\" # more\n\nD=x#y\nE=\n", "f.env");
  EXPECT_EQ(values, (std::map<std::string, std::string>{
                        {"A", "1"}, {"B", "two words"}, {"C", "a\"b"}, {"D", "x#y"}, {"E", ""}}));
  EXPECT_EQ(what([] { (void)parse_env_file("A=1\nnonsense\n", "f.env"); }),
            "f.env:2: must be NAME=VALUE, but is: nonsense");
  EXPECT_EQ(what([] { (void)parse_env_file("A='x\n", "f.env"); }), "f.env:1: unclosed quote");
}

}  // namespace
TEST(Settings, APriceIsANumberAndPerhapsACurrency) {
  const struct {
    const char* text;
    double price;
    const char* currency;
  } good[] = {{"0.04", 0.04, ""},
              {"0.04 EUR", 0.04, "EUR"},
              {" 3USD ", 3, "USD"},
              {"1 \u20ac", 1, "\u20ac"},
              {".5 $", 0.5, "$"}};
  for (const auto& row : good) {
    const auto price = read_price(row.text);
    ASSERT_TRUE(price) << row.text;
    EXPECT_EQ(price->per_core_hour, row.price) << row.text;
    EXPECT_EQ(price->currency, row.currency) << row.text;
  }
  for (const char* bad : {"", "EUR", "-1", "1e9", "nan", "inf", "1.2.3", "1 a\x1b[31m", "1 abcdefghijklmnop", "9999999",
                          "1 a b", "0x10", "1 <b>", "1 \xff"})
    EXPECT_FALSE(read_price(bad)) << bad;
  Settings settings;
  settings.read_project("/p/wheelsmith.toml", "price-per-core-hour = 0.04\n");
  EXPECT_EQ(settings.text("price-per-core-hour"), "0.04");
  settings.read_project("/p/wheelsmith.toml", "price-per-core-hour = 0.00004\n");
  EXPECT_EQ(settings.text("price-per-core-hour"), "0.00004");
  EXPECT_THROW(settings.read_project("/p/wheelsmith.toml", "price-per-core-hour = \"much\"\n"), Error);
}

}  // namespace wheelsmith::settings
