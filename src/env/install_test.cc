#include <sys/stat.h>

#include "env/entry_points.h"
#include "env/installer.h"
#include "env/test_env.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;
using testing::WheelBuilder;
using testing::ZipMember;

namespace {

const std::string k_entry_points = "[console_scripts]\nhello = demo.tool:Main.run [extra]\n[other]\nx = y\n";

WheelBuilder demo(const std::string& version = "1.0") {
  WheelBuilder wheel("demo", version, "py3-none-any");
  wheel.add("demo/__init__.py", "VALUE = '" + version + "'\n")
      .add("demo/tool.py", "class Main:\n    @staticmethod\n    def run():\n        print('hello')\n        return 3\n")
      .add("demo-" + version + ".data/scripts/old-tool", "#!python\nimport demo\nprint(demo.VALUE)\n")
      .add("demo-" + version + ".data/data/share/demo.txt", "data")
      .add("demo-" + version + ".data/headers/demo.h", "#pragma once\n")
      .add("demo-" + version + ".data/platlib/demo_native.py", "X = 1\n")
      .add("demo-" + version + ".dist-info/entry_points.txt", k_entry_points);
  return wheel;
}

// All entries below, with links, sorted.
std::vector<std::string> names_below(const fs::path& root) {
  std::vector<std::string> names;
  for (const sys::TreeFile& file : sys::list_tree(root)) names.push_back(file.name);
  return names;
}

}  // namespace

TEST(Install, FollowsTheWheelLayout) {
  TestEnv test;
  const Environment env = test.scratch();
  install_wheel(test.put(demo()), install_target(env), false, 2);
  EXPECT_EQ(text_in(env.root / "share/demo.txt"), "data");
  const fs::path headers = env.root / "include/site" / env.site_packages.parent_path().filename() / "demo/demo.h";
  EXPECT_TRUE(fs::exists(headers));
  EXPECT_EQ(text_in(env.site_packages / "demo-1.0.dist-info/INSTALLER"), "wheelsmith\n");
  EXPECT_EQ(output_of({(env.root / "bin/old-tool").string()}), "1.0\n");
  const sys::Captured hello = sys::capture({.argv = {(env.root / "bin/hello").string()}});
  EXPECT_EQ(hello.output, "hello\n");
  EXPECT_EQ(hello.exit.code, 3);
  EXPECT_EQ(output_of({env.python.string(), "-c", "import demo_native, sys; print(sys.prefix)"}),
            env.root.string() + "\n");
}

TEST(Install, PipUninstallsByItsRecord) {
  TestEnv test;
  if (!test.python.has_pip) GTEST_SKIP() << "python3 has no pip";
  const Environment env = test.scratch();
  const std::vector<std::string> before = names_below(env.root);
  install_wheel(test.put(demo()), install_target(env), false, 2);
  const std::vector<std::string> pip = {test.python.executable.string(), "-m", "pip", "--python", env.python.string()};
  std::vector<std::string> show = pip;
  show.insert(show.end(), {"show", "-f", "demo"});
  const std::string shown = output_of(show);
  for (const char* word : {"Version: 1.0", "../../../bin/hello", "../../../share/demo.txt", "demo/tool.py", "RECORD"}) {
    EXPECT_NE(shown.find(word), std::string::npos) << word << "\n" << shown;
  }
  std::vector<std::string> uninstall = pip;
  uninstall.insert(uninstall.end(), {"uninstall", "-y", "demo"});
  output_of(uninstall);
  EXPECT_EQ(names_below(env.root), before);
}

TEST(Install, ReplacesAnOlderVersionAndNothingElse) {
  TestEnv test;
  const Environment env = test.scratch();
  const InstallTarget target = install_target(env);
  install_wheel(test.put(demo("1.0").add("demo/gone.py", "")), target, true, 2);
  install_wheel(test.put(WheelBuilder("other", "2", "py3-none-any").add("demo/plugin.py", "")), target, true, 2);
  output_of({env.python.string(), "-c", "import demo, demo.gone"});  // leaves byte code
  EXPECT_NE(error_of([&] { install_wheel(test.put(demo("1.1")), target, false, 2); }).find("already installed"),
            std::string::npos);
  install_wheel(test.put(demo("1.1")), target, true, 2);
  EXPECT_EQ(output_of({(env.root / "bin/old-tool").string()}), "1.1\n");
  EXPECT_FALSE(fs::exists(env.site_packages / "demo/gone.py"));
  EXPECT_FALSE(fs::exists(env.site_packages / "demo-1.0.dist-info"));
  EXPECT_TRUE(fs::exists(env.site_packages / "demo/plugin.py"));
  for (const std::string& name : names_below(env.root)) EXPECT_EQ(name.find("gone"), std::string::npos) << name;
}

// pip recognizes an editable install by direct_url.json, and uninstalls it by RECORD.
TEST(Install, PipRecognizesAnEditableWheel) {
  TestEnv test;
  if (!test.python.has_pip) GTEST_SKIP() << "python3 has no pip";
  const Environment env = test.scratch();
  const std::vector<std::string> before = names_below(env.root);
  const fs::path folder = test.temp.path() / "my sources 100%";
  fs::create_directories(folder / "demo");
  std::ofstream(folder / "demo/__init__.py") << "VALUE = 'mine'\n";
  install_wheel(test.put(demo()), install_target(env), false, 2);  // is replaced
  const WheelBuilder editable =
      WheelBuilder("demo", "1.1", "py3-none-any").add("__editable__.demo.pth", folder.string() + "\n");
  install_editable(test.put(editable), folder, install_target(env), 2);
  EXPECT_EQ(output_of({env.python.string(), "-B", "-c", "import demo; print(demo.VALUE)"}), "mine\n");
  const auto pip = [&](const std::vector<std::string>& words) {
    std::vector<std::string> argv = {test.python.executable.string(), "-m", "pip", "--python", env.python.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    return output_of(argv);
  };
  const std::string listed = pip({"list", "--editable", "--format=json"});
  EXPECT_NE(listed.find("\"" + folder.string() + "\""), std::string::npos) << listed;
  pip({"uninstall", "-y", "demo"});
  EXPECT_EQ(names_below(env.root), before);
  EXPECT_EQ(text_in(folder / "demo/__init__.py"), "VALUE = 'mine'\n");
}

TEST(Install, ReplacesTheLinkOfSetupPyDevelop) {
  TestEnv test;
  const Environment env = test.scratch();
  const fs::path paths = env.site_packages / "easy-install.pth";
  std::ofstream(paths) << "/src/other\n/src/demo\n/src/demo2\n";
  std::ofstream(env.site_packages / "Demo.egg-link") << "/src/demo\n.";
  std::ofstream(env.site_packages / "demo2.egg-link") << "/src/demo2\n.";
  install_wheel(test.put(demo()), install_target(env), true, 1);
  EXPECT_EQ(text_in(paths), "/src/other\n/src/demo2\n");
  EXPECT_FALSE(fs::exists(env.site_packages / "Demo.egg-link"));
  EXPECT_TRUE(fs::exists(env.site_packages / "demo2.egg-link"));
}

TEST(Install, RemovesNothingOutsideTheEnvironment) {
  TestEnv test;
  const Environment env = test.scratch();
  const fs::path victim = test.temp.path() / "victim";
  std::ofstream(victim) << "precious";
  fs::create_directory_symlink(test.temp.path(), env.site_packages / "way");
  install_wheel(test.put(demo()), install_target(env), false, 1);
  std::ofstream(env.site_packages / "demo-1.0.dist-info/RECORD", std::ios::app)
      << "../../../../victim,,\n"
      << victim.string() << ",,\nway/victim,,\n";
  EXPECT_TRUE(uninstall("Demo", install_target(env)));
  EXPECT_FALSE(fs::exists(env.site_packages / "demo"));
  EXPECT_EQ(text_in(victim), "precious");
  EXPECT_FALSE(uninstall("demo", install_target(env)));
}

TEST(Install, RejectsHostileWheelsBeforeWriting) {
  struct Case {
    std::string why;
    std::function<void(WheelBuilder&)> edit;
  };
  const auto member = [](const std::string& name, std::uint32_t mode = 0100644) {
    return [=](WheelBuilder& wheel) { wheel.raw(ZipMember{.name = name, .data = "x", .mode = mode}); };
  };
  const std::vector<Case> cases = {
      {"would leave", member("demo/../../x")},
      {"would leave", member("demo-1.0.data/data/../../x")},
      {"absolute", member("/etc/x")},
      {"not valid on this system", member("demo\\x")},
      {"invalid name", member("demo//x")},
      {"invalid name", member("./x")},
      {"invalid name", member("demo-1.0.data/scripts//x")},
      {"is a link", member("demo/link", 0120777)},
      {"two of its files have the path", member("demo/tool.py")},
      {"two of its files have the path", member("demo-1.0.data/purelib/demo/tool.py")},
      {"two of its files have the path", member("demo-1.0.data/data/bin/old-tool")},
      {"two of its files have the path", member("demo-1.0.data/scripts/hello")},
      {"a file and a folder", member("demo/tool.py/x")},
      {"in an unknown .data folder", member("demo-1.0.data/kernel/x")},
      {"in an unknown .data folder", member("demo-1.0.data/x")},
      {"interpreter", member("demo-1.0.data/scripts/python3.11")},
      {"interpreter", member("demo-1.0.data/data/bin/python")},
      {"interpreter", member("demo-1.0.data/data/pyvenv.cfg")},
      {"two .dist-info", member("other-1.0.dist-info/METADATA")},
      {"Wheel-Version", [](WheelBuilder& wheel) { wheel.wheel_file("Wheel-Version: 2.0\n"); }},
      {"METADATA", [](WheelBuilder& wheel) { wheel.metadata(""); }},
  };
  for (const Case& hostile : cases) {
    TestEnv test;
    const Environment env = test.scratch();
    const std::vector<std::string> before = names_below(env.root);
    WheelBuilder wheel = demo();
    hostile.edit(wheel);
    const fs::path file = test.put(wheel);
    const std::string error = error_of([&] { install_wheel(file, install_target(env), false, 2); });
    EXPECT_NE(error.find(hostile.why), std::string::npos) << hostile.why << ": " << error;
    EXPECT_EQ(error.find("demo-1.0-py3-none-any.whl: "), 0U) << error;
    EXPECT_EQ(names_below(env.root), before) << hostile.why;
  }
}

TEST(EntryPoints, ParseStrictly) {
  const auto points = parse_entry_points("# x\n[gui_scripts]\nb=m.n:f\n[x]\nz\n[console_scripts]\na = m : C.d [e,f]\n");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].name + "|" + points[0].module + "|" + points[0].function, "a|m|C.d");
  for (const char* line : {"a", "a = m", "a = m:", "../a = m:f", "a/b = m:f", "a = m;x:f", "a = m:f()", "a = 1m:f",
                           "a = m:f\nb = m:f\na = m:g", "a = m:f'", "-a = m:f", " = m:f"}) {
    EXPECT_NE(error_of([&] { parse_entry_points(std::string("[console_scripts]\n") + line); }), "") << line;
  }
}

TEST(EntryPoints, UseAShellForLongPathsAndBlanks) {
  EXPECT_EQ(shebang("/usr/bin/python3"), "#!/usr/bin/python3\n");
  EXPECT_EQ(shebang("/a b/python"), "#!/bin/sh\n'''exec' \"/a b/python\" \"$0\" \"$@\"\n' '''\n");
  EXPECT_TRUE(shebang("/" + std::string(130, 'x')).starts_with("#!/bin/sh\n"));
  EXPECT_EQ(rewritten_script("#!pythonw -E\nx\n", "/p"), "#!/p -E\nx\n");
  EXPECT_EQ(rewritten_script("#!python", "/p"), "#!/p\n");
  EXPECT_EQ(rewritten_script("#!/bin/sh\nx\n", "/p"), "#!/bin/sh\nx\n");
  TestEnv test;
  const Environment env = test.scratch("with blank");
  install_wheel(test.put(demo()), install_target(env), false, 2);
  EXPECT_EQ(output_of({(env.root / "bin/old-tool").string()}), "1.0\n");
}

}  // namespace wheelsmith::env
