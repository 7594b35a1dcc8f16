// Healthy wheels and folders that were once called bad, and deadly ones that were once called good. Each story is that
// of a real package; tests/proof/verdicts.tsv has the packages themselves.

#include <gtest/gtest.h>

#include <map>

#include "testing/elf_builder.h"
#include "testing/wheel_builder.h"
#include "wheel/check/check.h"
#include "wheel/read/scan.h"

namespace wheelsmith::wheel {
namespace {

using ::wheelsmith::testing::ElfBuilder;
using ::wheelsmith::testing::WheelBuilder;
using FindingLines = std::vector<std::string>;

ElfBuilder story_library() { return ElfBuilder().needed("libc.so.6").import("memcpy", "libc.so.6", "GLIBC_2.14"); }
ElfBuilder story_module() { return story_library().define("PyInit_ext"); }

WheelBuilder story_wheel(const std::string& tag = "cp311-cp311-manylinux_2_17_x86_64") {
  return WheelBuilder("demo", "1.0", tag).add("demo/__init__.py", "from . import ext\n");
}

std::string requiring(const std::string& requirements) {
  return "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n" + requirements;
}

// "error elf-truncated demo/ext.so" for every finding of that severity or worse, one line each.
FindingLines lines_of(const Verdict& verdict, Severity least) {
  FindingLines result;
  for (const Finding& finding : verdict.findings) {
    if (finding.severity > least) continue;
    result.push_back(std::string(to_string(finding.severity)) + " " + finding.id + " " + finding.subject);
    EXPECT_FALSE(finding.what.empty() || finding.why.empty()) << finding.id;
  }
  return result;
}

FindingLines verdict_on(const WheelBuilder& wheel, Severity least = Severity::warning) {
  const std::string bytes = wheel.build();
  return lines_of(check_wheel(wheel.file_name(), Bytes(bytes), {}), least);
}

TEST(Verdicts, PluginsForPackagesThatAreNotThereAreWarnings) {
  const std::string needs_mpi = story_module().needed("libmpi.so.12").build();
  EXPECT_EQ(verdict_on(story_wheel().add("demo/MPI.mpich.cpython-311-x86_64-linux-gnu.so", needs_mpi)),
            FindingLines{"warning platform-external-library demo/MPI.mpich.cpython-311-x86_64-linux-gnu.so"});
  const std::string needs_tbb = story_module().needed("libtbb.so.12").build();
  const std::string guarded = "try:\n    from . import tbbpool\nexcept ImportError:\n    pass\n";
  EXPECT_EQ(verdict_on(story_wheel().add("demo/tbbpool.abi3.so", needs_tbb).add("demo/parallel.py", guarded)),
            FindingLines{"warning platform-external-library demo/tbbpool.abi3.so"});
  // The same module imported without a net.
  EXPECT_EQ(
      verdict_on(
          story_wheel().add("demo/tbbpool.abi3.so", needs_tbb).add("demo/parallel.py", "from . import tbbpool\n")),
      FindingLines{"error platform-external-library demo/tbbpool.abi3.so"});
}

TEST(Verdicts, LibrariesThatNothingImportsDoNotMakeAWheelBad) {
  const WheelBuilder base = story_wheel().add("demo/ext.so", story_module().build());
  const std::string plugin = story_library().needed("libmysqlclient.so.21").import("simulator_function").build();
  EXPECT_EQ(verdict_on(WheelBuilder(base).add("demo/plugins/libqsqlmysql.so", plugin)),
            (FindingLines{"warning platform-external-library demo/plugins/libqsqlmysql.so"}));
  const std::string injected = story_library().import("simulator_function").build();
  EXPECT_EQ(verdict_on(WheelBuilder(base).add("demo/libs/libvpi.so", injected)),
            (FindingLines{"warning symbol-undefined demo/libs/libvpi.so"}));
  // One that Python code loads does: lightgbm and libgomp.
  const std::string main = story_library().needed("libgomp.so.1").build();
  EXPECT_EQ(
      verdict_on(WheelBuilder(base).add("demo/lib_gbm.so", main).add("demo/basic.py", "CDLL(here / 'lib_gbm.so')\n")),
      (FindingLines{"error platform-external-library demo/lib_gbm.so"}));
}

TEST(Verdicts, HelpersInAWheelForEveryPlatformAreWarnings) {
  const WheelBuilder debugger = WheelBuilder("demo", "1.0", "py3-none-any")
                                    .purelib(true)
                                    .add("demo/__init__.py", "")
                                    .add("demo/attach_linux_amd64.so", story_library().build());
  EXPECT_EQ(verdict_on(debugger), (FindingLines{"warning purelib-binary demo/attach_linux_amd64.so",
                                                "warning tag-any-binary demo-1.0-py3-none-any.whl"}));
}

TEST(Verdicts, LibrariesOfARequiredWheelAreNotes) {
  const std::string qt = story_module().needed("libQt6Core.so.6").rpath("$ORIGIN/Qt6/lib").build();
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", qt).metadata(requiring("Requires-Dist: PyQt6-Qt6 (>=6.12)\n"))),
            FindingLines());
  const std::string rmm = story_module().needed("librmm.so").needed("librapids_logger.so").runpath("$ORIGIN").build();
  const auto with_init = [&](const char* init, const char* requirement) {
    return verdict_on(WheelBuilder("demo", "1.0", "cp311-cp311-manylinux_2_17_x86_64")
                          .add("demo/__init__.py", init)
                          .add("demo/ext.so", rmm)
                          .metadata(requiring(requirement)));
  };
  // librapids_logger.so comes with librmm's own requirement, and librmm loads it.
  EXPECT_EQ(with_init("import librmm\nlibrmm.load_library()\n", "Requires-Dist: librmm-demo==1.0.*\n"), FindingLines());
  EXPECT_EQ(with_init("", "Requires-Dist: numpy\n"), FindingLines{"error platform-external-library demo/ext.so"});
  EXPECT_EQ(with_init("", "Requires-Dist: librmm-demo==1.0.* ; extra == 'test'\n"),
            FindingLines{"error platform-external-library demo/ext.so"});
  // protobuf's wheel has no libprotobuf.so; nothing leads there.
  const std::string protobuf = story_module().needed("libprotobuf.so.32").build();
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", protobuf).metadata(requiring("Requires-Dist: protobuf\n"))),
            FindingLines{"warning platform-external-library demo/ext.so"});
  // torch holds libgomp.so.1 and loads it, for those who import torch.
  const std::string openmp = story_module().needed("libgomp.so.1").build();
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", openmp).metadata(requiring("Requires-Dist: torch\n"))),
            FindingLines());
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", openmp)),
            FindingLines{"error platform-external-library demo/ext.so"});
}

TEST(Verdicts, LibrariesOfADesktopAreWarnings) {
  const std::string gui = story_module().needed("libEGL.so.1").needed("libxkbcommon.so.0").build();
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", gui)),
            FindingLines{"warning platform-external-library demo/ext.so"});
  const std::string x11 = story_module().needed("libX11.so.6").needed("libxcb.so.1").build();
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", x11)), FindingLines());
}

TEST(Verdicts, OfAWheelOfLibrariesOneThatNothingNeedsMayBeAPlugin) {
  const WheelBuilder collection = WheelBuilder("demo", "1.0", "py3-none-manylinux_2_17_x86_64")
                                      .add("nvidia/lib/libcufile.so.0", story_library().build());
  const std::string rdma = story_library().needed("libcufile.so.0").needed("libibverbs.so.1").build();
  EXPECT_EQ(verdict_on(WheelBuilder(collection).add("nvidia/lib/libcufile_rdma.so.1", rdma), Severity::error),
            FindingLines());
  // What another library needs is no plugin.
  const WheelBuilder broken = WheelBuilder("demo", "1.0", "py3-none-manylinux_2_17_x86_64")
                                  .add("qt/libCore.so", story_library().needed("libzstd.so.9").build())
                                  .add("qt/libGui.so", story_library().needed("libCore.so").runpath("$ORIGIN").build());
  EXPECT_EQ(verdict_on(broken, Severity::error), FindingLines{"error platform-external-library qt/libCore.so"});
}

TEST(Verdicts, MuslsLibcMayBeCalledLibcSo) {
  const ElfBuilder rust = ElfBuilder().needed("libc.so").import("malloc").define("PyInit_ext");
  for (const char* tag : {"cp311-cp311-musllinux_1_1_x86_64", "cp311-cp311-musllinux_1_2_x86_64"})
    EXPECT_EQ(verdict_on(story_wheel(tag).add("demo/ext.so", rust.build())), FindingLines()) << tag;
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", rust.build())),
            FindingLines{"error platform-external-library demo/ext.so"});
}

TEST(Verdicts, ThirtyTwoBitArm) {
  constexpr std::uint16_t k_arm = 40;
  const std::string program = ElfBuilder().bits32().machine(k_arm).type(2).without_dynamic().build();
  const std::string module = ElfBuilder().bits32().machine(k_arm).needed("libc.so.6").define("PyInit_ext").build();
  for (const char* machine : {"armv6l", "armv7l", "armv8l"}) {
    const std::string tag = std::string("linux_") + machine;
    EXPECT_EQ(verdict_on(WheelBuilder("demo", "1.0", "py3-none-" + tag).add("demo-1.0.data/scripts/demo", program)),
              FindingLines())
        << tag;
    EXPECT_EQ(verdict_on(story_wheel("cp311-cp311-" + tag).add("demo/ext.cpython-311-arm-linux-gnueabihf.so", module)),
              FindingLines())
        << tag;
  }
  EXPECT_EQ(verdict_on(WheelBuilder("demo", "1.0", "py3-none-linux_x86_64").add("demo-1.0.data/scripts/demo", program)),
            FindingLines{"error platform-machine demo-1.0.data/scripts/demo"});
}

TEST(Verdicts, SeveralTagsOfOneLibcTellAFileOnce) {
  const std::string module =
      story_module().needed("libfoo.so.3").import("pthread_create", "libc.so.6", "GLIBC_2.34").build();
  const WheelBuilder both =
      story_wheel("cp311-cp311-manylinux_2_17_x86_64.manylinux_2_28_x86_64").add("demo/ext.so", module);
  EXPECT_EQ(verdict_on(both),
            (FindingLines{"error platform-symbol-version demo/ext.so", "error platform-external-library demo/ext.so"}));
  const std::string bytes = both.build();
  const Verdict verdict = check_wheel(both.file_name(), Bytes(bytes), {});
  EXPECT_NE(verdict.findings[0].what.find("manylinux_2_17"), std::string::npos);  // the widest
}

TEST(Verdicts, TestProgramsAreOneNote) {
  WheelBuilder wheel = story_wheel().add("demo/ext.so", story_module().build());
  for (const char* name : {"demo/test/one", "demo/test/two", "demo/bin/test_three"}) {
    wheel.add(name, story_library().type(2).needed("libgtest.so.1").runpath("/build/lib").import("missing").build());
  }
  EXPECT_EQ(verdict_on(wheel, Severity::note),
            FindingLines{"note binaries-test-programs demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"});
}

TEST(Verdicts, WhatKillsTheProcessIsAnError) {
  const auto with = [](const ElfBuilder& module) {
    return verdict_on(story_wheel().add("demo/ext.so", module.build()));
  };
  EXPECT_EQ(with(story_module()), FindingLines());
  EXPECT_EQ(with(story_module().executable_stack()), FindingLines{"error elf-executable-stack demo/ext.so"});
  EXPECT_EQ(with(story_module().tag(22, 0)), FindingLines{"error elf-text-relocations demo/ext.so"});
  EXPECT_EQ(with(story_module().tag(30, 4)), FindingLines{"error elf-text-relocations demo/ext.so"});
  EXPECT_EQ(with(story_module().runpath("/opt/lib")), FindingLines{"warning runpath-absolute demo/ext.so"});
  EXPECT_EQ(with(story_module().tag(15, 0x100000)), FindingLines{"warning elf-malformed demo/ext.so"});
  const std::string whole = story_module().build();
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", whole.substr(0, whole.size() - 100))),
            FindingLines{"error elf-truncated demo/ext.so"});
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", whole.substr(0, whole.size() / 2)), Severity::error).size(),
            1U);
  const WheelBuilder wheel = story_wheel().add("demo/ext.so", whole);
  const std::string bytes = wheel.build() + "appended";
  EXPECT_EQ(lines_of(check_wheel(wheel.file_name(), Bytes(bytes), {}), Severity::warning),
            FindingLines{"error zip-trailing-data archive"});
}

TEST(Verdicts, RunPathsToSiblings) {
  // One folder too high for this file, right for those in demo/lib: torch/_C and nvidia/cudnn/lib.
  const std::string module = story_module().rpath("$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN/../../demo/lib").build();
  EXPECT_EQ(
      verdict_on(story_wheel().add("demo/ext.so", module).metadata(requiring("Requires-Dist: nvidia-cudnn-cu13\n"))),
      FindingLines());
  EXPECT_EQ(verdict_on(story_wheel().add("demo/ext.so", module)),
            FindingLines{"warning runpath-leaves-wheel demo/ext.so"});
}

// An installed folder as a map, on a machine with the given libraries in /usr/lib.
struct InstalledStory {
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> machine;

  FindingLines verdict_on(Severity least = Severity::warning) const {
    LoaderMachine loader;
    loader.default_folders = {"/usr/lib"};
    loader.interpreter = "/usr/bin/python3";
    loader.library_at = [this](const std::string& path) -> std::optional<ElfFacts> {
      const auto found = machine.find(path);
      if (found == machine.end()) return std::nullopt;
      return elf_facts(path, Bytes(found->second), {.exported = true});
    };
    return lines_of(check_folder("/site", TextTree(files), loader, {}), least);
  }
};

InstalledStory installed_package(const std::string& record) {
  InstalledStory story;
  story.files = {{"demo/__init__.py", "x = 1\n"},
                 {"demo/cacert.pem", "certificates\n"},
                 {"demo-1.0.dist-info/METADATA", requiring("")},
                 {"demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
                 {"demo-1.0.dist-info/INSTALLER", "pip\n"},
                 {"demo-1.0.dist-info/RECORD", record}};
  story.machine["/usr/lib/libc.so.6"] =
      ElfBuilder().soname("libc.so.6").define("memcpy", "GLIBC_2.14").define("puts", "GLIBC_2.2.5").build();
  return story;
}

TEST(Verdicts, InstalledPackagesChangeWithoutBreaking) {
  EXPECT_EQ(installed_package("demo/__pycache__/__init__.cpython-311.pyc,,\n").verdict_on(), FindingLines());
  EXPECT_EQ(installed_package("demo/absent.py,,\n").verdict_on(),
            FindingLines{"error record-file-missing demo/absent.py"});
  const std::string other_hash = "sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA,99\n";
  EXPECT_EQ(installed_package("demo/cacert.pem," + other_hash).verdict_on(),
            FindingLines{"warning record-data-changed demo/cacert.pem"});
  EXPECT_EQ(
      installed_package("demo/__init__.py," + other_hash).verdict_on(Severity::error),
      (FindingLines{"error record-hash-mismatch demo/__init__.py", "error record-size-mismatch demo/__init__.py"}));
}

TEST(Verdicts, SymbolsOfTheMachineAndOfTheInterpreterAreProvided) {
  InstalledStory story = installed_package("");
  // libdeep.so is two steps away; no version names it.
  story.machine["/usr/lib/libwide.so"] = ElfBuilder().soname("libwide.so").needed("libdeep.so").build();
  story.machine["/usr/lib/libdeep.so"] =
      ElfBuilder().soname("libdeep.so").define("_ZNSi5ungetEv").define("deep").build();
  story.machine["/usr/bin/python3"] =
      ElfBuilder().type(2).needed("libz.so.1").define("PyList_New").define("XML_Parse").build();
  story.machine["/usr/lib/libz.so.1"] = ElfBuilder().soname("libz.so.1").define("deflate").build();
  const ElfBuilder module = story_module().needed("libwide.so").import("deep").import("_ZNSi5ungetEv");
  story.files["demo/ext.so"] = module.build();
  EXPECT_EQ(story.verdict_on(), FindingLines{"warning purelib-binary demo/ext.so"});
  story.files["demo/ext.so"] = ElfBuilder(module).import("XML_Parse").import("deflate").build();
  EXPECT_EQ(story.verdict_on(), FindingLines{"warning purelib-binary demo/ext.so"});
  story.files["demo/ext.so"] = ElfBuilder(module).import("missing").build();
  EXPECT_EQ(story.verdict_on(Severity::error), FindingLines{"error symbol-undefined demo/ext.so"});
}

TEST(Verdicts, PluginsOfAnInstalledPackageAreWarnings) {
  InstalledStory story = installed_package("");
  story.files["demo-1.0.dist-info/WHEEL"] =
      "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n";
  story.files["demo/ext.so"] = story_module().build();
  story.files["demo/MPI.mpich.cpython-311-x86_64-linux-gnu.so"] = story_module().needed("libmpi.so.12").build();
  story.files["demo/plugins/libdriver.so"] = story_library().needed("libdb.so.5").build();
  EXPECT_EQ(story.verdict_on(), (FindingLines{"warning loader-not-found demo/MPI.mpich.cpython-311-x86_64-linux-gnu.so",
                                              "warning loader-not-found demo/plugins/libdriver.so"}));
  // A library that both a module and a plugin need is told of for the module.
  story.files["demo/ext.so"] = story_module().needed("libshared.so").runpath("$ORIGIN").build();
  story.files["demo/libshared.so"] = story_library().soname("libshared.so").needed("libabsent.so.1").build();
  EXPECT_EQ(story.verdict_on(Severity::error), FindingLines{"error loader-not-found demo/libshared.so"});
}

}  // namespace
}  // namespace wheelsmith::wheel
