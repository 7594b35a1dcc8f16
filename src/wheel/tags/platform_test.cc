#include "wheel/tags/platform.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::wheel {
namespace {

// An extension as gcc makes it: needs libc.so.6 and the given versions of it.
ElfFacts extension(const std::string& path, std::vector<std::string> versions = {"GLIBC_2.2.5"}) {
  ElfFacts facts;
  facts.path = path;
  facts.machine = "x86_64";
  facts.needed = {"libc.so.6"};
  facts.versions_needed["libc.so.6"] = std::move(versions);
  facts.is_dynamic = true;
  facts.python_extension = true;
  return facts;
}

ElfFacts library(const std::string& path, std::vector<std::string> versions = {"GLIBC_2.2.5"}) {
  ElfFacts facts = extension(path, std::move(versions));
  facts.python_extension = false;
  return facts;
}

std::string tag_of(const std::vector<ElfFacts>& files, const std::vector<std::string>& tags = {}) {
  PlatformOptions options;
  options.tags = tags;
  return deserved_platform(files, options).tag;
}

TEST(Platform, FollowsTheSymbolVersionsOfAllFiles) {
  struct Row {
    std::vector<std::string> versions;
    const char* tag;
  };
  const Row rows[] = {{{"GLIBC_2.2.5"}, "manylinux_2_5_x86_64"},
                      {{"GLIBC_2.14", "GLIBC_2.2.5"}, "manylinux_2_17_x86_64"},
                      {{"GLIBC_2.25"}, "manylinux_2_26_x86_64"},
                      {{"GLIBC_2.34"}, "manylinux_2_34_x86_64"},
                      {{"GLIBC_ABI_DT_RELR", "GLIBC_2.2.5"}, "manylinux_2_36_x86_64"},
                      {{"GLIBC_2.42"}, "linux_x86_64"},
                      {{"GLIBC_PRIVATE"}, "linux_x86_64"},
                      {{}, "manylinux_2_5_x86_64"}};
  for (const Row& row : rows) {
    EXPECT_EQ(tag_of({extension("a.so", row.versions)}), row.tag) << join(row.versions, " ");
  }
  // A library that an extension needs counts too, though it is never loaded by itself.
  ElfFacts user = extension("pkg/a.so");
  user.needed.emplace_back("libx.so");
  user.runpath = {"$ORIGIN"};
  EXPECT_EQ(tag_of({user, library("pkg/libx.so", {"GLIBC_2.28"})}), "manylinux_2_28_x86_64");
}

TEST(Platform, VersionsOfTheLoaderDoNotCount) {
  ElfFacts file = extension("a.so");
  file.needed.emplace_back("ld-linux-x86-64.so.2");
  file.versions_needed["ld-linux-x86-64.so.2"] = {"GLIBC_2.35"};
  EXPECT_EQ(tag_of({file}), "manylinux_2_5_x86_64");
}

TEST(Platform, WithoutBinariesItIsAny) {
  EXPECT_EQ(tag_of({}), "any");
  ElfFacts device = library("kernel.cubin");
  device.machine = "machine 190";
  EXPECT_EQ(tag_of({device}), "any");
  EXPECT_EQ(tag_of({library("elf_in_disguise.py")}), "any");
}

TEST(Platform, MachineAndLibcComeFromTheName) {
  ElfFacts arm = extension("b.so", {"GLIBC_2.34"});
  arm.machine = "aarch64";
  ElfFacts intel = extension("a.so");
  EXPECT_EQ(tag_of({arm, intel}), "manylinux_2_34_aarch64");  // the first file decides
  EXPECT_EQ(tag_of({arm, intel}, {"linux_x86_64"}), "manylinux_2_5_x86_64");
  EXPECT_EQ(tag_of({arm, intel}, {"manylinux_2_17_x86_64", "manylinux2014_x86_64"}), "manylinux_2_5_x86_64");
  EXPECT_EQ(tag_of({arm, intel}, {"linux_x86_64", "linux_aarch64"}), "manylinux_2_34_aarch64");
  EXPECT_EQ(tag_of({arm}, {"linux_x86_64"}), "any");

  ElfFacts musl = extension("m.so", {});
  musl.versions_needed.clear();
  musl.needed = {"libc.musl-x86_64.so.1"};
  EXPECT_EQ(tag_of({musl}), "musllinux_1_2_x86_64");
  EXPECT_EQ(tag_of({intel, musl}), "manylinux_2_5_x86_64");
  EXPECT_EQ(tag_of({intel, musl}, {"musllinux_1_1_x86_64"}), "musllinux_1_2_x86_64");
  musl.needed.emplace_back("libgcc_s.so.1");
  EXPECT_EQ(tag_of({musl}), "linux_x86_64");
}

TEST(Platform, LibcIsSeenInInterpreterAndName) {
  ElfFacts program = library("bin/tool", {});
  program.needed.clear();
  program.versions_needed.clear();
  EXPECT_EQ(tag_of({program}), "manylinux_2_5_x86_64");  // static: no libc at all
  program.interpreter = "/lib/ld-musl-x86_64.so.1";
  EXPECT_EQ(tag_of({program}), "musllinux_1_2_x86_64");
  program.interpreter.clear();
  program.path = "a.cpython-311-x86_64-linux-musl.so";
  EXPECT_EQ(tag_of({program}), "musllinux_1_2_x86_64");
}

TEST(Platform, LibrariesAreFoundByRunPath) {
  struct Row {
    const char *run_path, *library, *tag;
  };
  const Row rows[] = {{"$ORIGIN/../pkg.libs", "pkg.libs/libx.so.1", "manylinux_2_5_x86_64"},
                      {"${ORIGIN}/lib/", "pkg/lib/libx.so.1", "manylinux_2_5_x86_64"},
                      {"$ORIGIN/./a/../..", "libx.so.1", "manylinux_2_5_x86_64"},
                      {"$ORIGIN", "pkg/libx.so.1", "manylinux_2_5_x86_64"},
                      {"$ORIGIN/../../pkg.libs", "pkg.libs/libx.so.1", "linux_x86_64"},  // out of the wheel
                      {"$ORIGINAL", "pkg/libx.so.1", "linux_x86_64"},
                      {"/pkg", "pkg/libx.so.1", "linux_x86_64"},
                      {"pkg", "pkg/libx.so.1", "linux_x86_64"},
                      {"", "libx.so.1", "linux_x86_64"},
                      {"$ORIGIN", "other/libx.so.1", "linux_x86_64"}};
  for (const Row& row : rows) {
    for (const bool runpath : {false, true}) {
      ElfFacts user = extension("pkg/a.so");
      user.needed.emplace_back("libx.so.1");
      (runpath ? user.runpath : user.rpath) = {row.run_path};
      EXPECT_EQ(tag_of({user, library(row.library)}), row.tag) << row.run_path << " " << row.library;
    }
  }
}

TEST(Platform, AForeignLibraryOfTheSameNameDoesNotHelp) {
  ElfFacts user = extension("pkg/a.so");
  user.needed.emplace_back("libx.so");
  user.rpath = {"$ORIGIN"};
  ElfFacts other = library("pkg/libx.so");
  other.machine = "aarch64";
  EXPECT_EQ(tag_of({user, other}), "linux_x86_64");
}

TEST(Platform, WhatABundledLibraryNeedsCounts) {
  ElfFacts user = extension("pkg/a.so");
  user.needed.emplace_back("libx.so");
  user.rpath = {"$ORIGIN/../pkg.libs"};
  ElfFacts bundled = library("pkg.libs/libx.so");
  bundled.needed.emplace_back("liby.so");
  ElfFacts second = library("pkg.libs/liby.so");
  EXPECT_EQ(tag_of({user, bundled}), "linux_x86_64");
  EXPECT_EQ(tag_of({user, bundled, second}), "manylinux_2_5_x86_64");  // by the run path of the root
  second.needed.emplace_back("libx.so");                               // a circle ends
  EXPECT_EQ(tag_of({user, bundled, second}), "manylinux_2_5_x86_64");
  second.needed.emplace_back("libssl.so.3");
  const Platform platform = deserved_platform({user, bundled, second}, {});
  EXPECT_EQ(platform.tag, "linux_x86_64");
  ASSERT_EQ(platform.obstacles.size(), 1U);
  EXPECT_EQ(platform.obstacles[0].subject, "pkg.libs/liby.so");
  EXPECT_EQ(platform.obstacles[0].what, "needs libssl.so.3: neither in the wheel nor in manylinux_2_41");
}

TEST(Platform, LibpythonIsNeverFound) {
  ElfFacts user = extension("a.so");
  user.needed.emplace_back("libpython3.11.so.1.0");
  user.rpath = {"$ORIGIN"};
  EXPECT_EQ(tag_of({user, library("libpython3.11.so.1.0")}), "linux_x86_64");
}

TEST(Platform, InstructionSetsAndFpectlCostTheTag) {
  ElfFacts fast = extension("a.so");
  fast.x86_isa_needed = 1;
  EXPECT_EQ(tag_of({fast}), "manylinux_2_5_x86_64");
  fast.x86_isa_needed = 1 | 4;
  EXPECT_EQ(tag_of({fast}), "linux_x86_64");
  ElfFacts old = extension("a.so");
  old.undefined.push_back({"PyFPE_jbuf", "", "", false});
  EXPECT_EQ(tag_of({old}), "linux_x86_64");
}

TEST(Platform, ForbiddenSymbolsCountUnlessWeak) {
  ElfFacts user = extension("a.so");
  user.undefined.push_back({"__cxa_thread_atexit_impl", "", "", true});
  EXPECT_EQ(tag_of({user}), "manylinux_2_5_x86_64");
  user.undefined[0].weak = false;
  EXPECT_EQ(tag_of({user}), "manylinux_2_24_x86_64");
  user.needed.emplace_back("libz.so.1");
  user.undefined.push_back({"uncompress2", "", "", false});
  EXPECT_EQ(tag_of({user}), "manylinux_2_34_x86_64");
}

TEST(Platform, ObstaclesNameTheSymbols) {
  ElfFacts file = extension("pkg/a.so", {"GLIBC_2.2.5", "GLIBC_2.28"});
  for (const char* name : {"fcntl64", "b", "c", "d"}) {
    file.undefined.push_back({name, "GLIBC_2.28", "libc.so.6", false});
  }
  file.undefined.push_back({"memcpy", "GLIBC_2.2.5", "libc.so.6", false});
  const Platform platform = deserved_platform({file}, {});
  EXPECT_EQ(platform.tag, "manylinux_2_28_x86_64");
  ASSERT_EQ(platform.obstacles.size(), 1U);
  EXPECT_EQ(platform.obstacles[0].policy, "manylinux_2_27");
  EXPECT_EQ(platform.obstacles[0].subject, "pkg/a.so");
  EXPECT_EQ(platform.obstacles[0].what,
            "needs GLIBC_2.28 (fcntl64, b, c and 1 more) of libc.so.6; manylinux_2_27 has GLIBC_2.27");
  EXPECT_TRUE(deserved_platform({extension("a.so")}, {}).obstacles.empty());
}

TEST(Platform, OwnPoliciesAndExclusions) {
  ElfFacts file = extension("a.so");
  file.needed.emplace_back("libacme.so.4");
  PlatformOptions options;
  options.excluded = {"libacme.so.*"};
  EXPECT_EQ(deserved_platform({file}, options).tag, "manylinux_2_5_x86_64");
  options = {};
  options.policies = pep::parse_policies(
      "[[policy]]\nname='acme_1'\nextends='manylinux_2_28'\npriority=60\nlibraries=['libacme.so.4']\n", "acme.toml");
  EXPECT_EQ(deserved_platform({file}, options).tag, "acme_1_x86_64");
}

TEST(Platform, AHostileWebOfLibrariesEndsSoon) {
  std::vector<ElfFacts> files;
  for (int i = 0; i < 2000; ++i) {
    ElfFacts file = extension("f" + std::to_string(i));
    file.rpath = {"$ORIGIN"};
    for (int j = 0; j < 200; ++j) {
      file.needed.push_back("f" + std::to_string((i * 7 + j) % 2000));
    }
    files.push_back(std::move(file));
  }
  EXPECT_THROW(deserved_platform(files, {}), Error);
}

std::vector<Finding> check(const std::vector<ElfFacts>& files, const std::string& policy,
                           const std::string& machine = "x86_64") {
  const pep::Policy* found = pep::find_policy(pep::builtin_policies(pep::LibC::glibc), policy);
  return check_policy(files, *found, machine, {});
}

TEST(Platform, WhatTheWheelHoldsItselfIsNotLeftToOthers) {
  // torch's own wheel: others get libtorch_cpu.so from it, but to itself the library's needs are its own.
  ElfFacts python = extension("torch/_C.so");
  python.needed.emplace_back("libtorch_cpu.so");
  python.runpath = {"$ORIGIN/lib"};
  ElfFacts cpu = library("torch/lib/libtorch_cpu.so");
  cpu.needed.emplace_back("libodd.so.1");
  PlatformOptions options;
  options.trust_others = true;
  EXPECT_EQ(deserved_platform({python, cpu}, options).tag, "linux_x86_64");
  EXPECT_EQ(deserved_platform({python}, options).tag, "manylinux_2_5_x86_64");
}

TEST(CheckPolicy, GoodFilesHaveNoFindings) {
  EXPECT_TRUE(check({extension("a.so")}, "manylinux_2_17").empty());
  EXPECT_TRUE(check({}, "manylinux_2_17").empty());
  EXPECT_TRUE(check({extension("a.so", {"GLIBC_2.99"})}, "linux").empty());
}

TEST(CheckPolicy, TooNewVersions) {
  ElfFacts file = extension("a.so", {"GLIBC_2.34"});
  file.undefined.push_back({"dlopen", "GLIBC_2.34", "libc.so.6", false});
  const auto findings = check({file}, "manylinux_2_28");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "platform-symbol-version");
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(findings[0].subject, "a.so");
  EXPECT_EQ(findings[0].what, "needs GLIBC_2.34 (dlopen) of libc.so.6; manylinux_2_28 has GLIBC_2.28");
  EXPECT_EQ(findings[0].fix,
            "build it in the manylinux_2_28 image, or on a system whose libraries are as old, or retag it as "
            "manylinux_2_34_x86_64");
}

TEST(CheckPolicy, PrivateVersionsAreNeverRight) {
  for (const char* policy : {"linux", "manylinux_2_5", "manylinux_2_41"}) {
    const auto findings = check({extension("a.so", {"GLIBC_PRIVATE"})}, policy);
    ASSERT_EQ(findings.size(), 1U) << policy;
    EXPECT_EQ(findings[0].id, "platform-symbol-version");
    EXPECT_EQ(findings[0].fix.find("tag it"), std::string::npos);
  }
}

TEST(CheckPolicy, LibrariesOfOthersAreNotes) {
  ElfFacts file = extension("pkg/a.so");
  file.needed.insert(file.needed.end(), {"libssl.so.3", "libcuda.so.1", "libc10.so", "libtorch.so", "libhidden.so"});
  const auto findings = check({file, library("lib/libhidden.so")}, "manylinux_2_28");
  struct Row {
    Severity severity;
    const char *what, *fix;
  };
  const Row rows[] = {
      {Severity::error, "needs libssl.so.3: neither in the wheel nor in manylinux_2_28",
       "copy it into the wheel (`wheelsmith repair`), link it statically, or pass --exclude if the environment "
       "provides it"},
      {Severity::warning, "needs libhidden.so: in the wheel (lib/libhidden.so), but not on its run path",
       "add the library's folder to RUNPATH, relative to $ORIGIN"},
      {Severity::note, "needs libcuda.so.1: from the NVIDIA driver", ""},
      {Severity::note, "needs libc10.so, libtorch.so: from the wheel torch", "add torch to Requires-Dist"}};
  ASSERT_EQ(findings.size(), std::size(rows));
  for (std::size_t i = 0; i < findings.size(); ++i) {
    EXPECT_EQ(findings[i].id, "platform-external-library");
    EXPECT_EQ(findings[i].subject, "pkg/a.so");
    EXPECT_EQ(findings[i].severity, rows[i].severity);
    EXPECT_EQ(findings[i].what, rows[i].what);
    EXPECT_EQ(findings[i].fix, rows[i].fix);
  }
  EXPECT_EQ(tag_of({file}), "linux_x86_64");  // the tag is strict anyway
}

TEST(CheckPolicy, AStrayLibraryIsAWarning) {
  ElfFacts stray = library("pkg/lib/libgfortran.so.5");
  stray.needed.emplace_back("libquadmath.so.0");
  auto findings = check({extension("pkg/a.so"), stray}, "manylinux_2_28");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::warning);
  EXPECT_EQ(findings[0].subject, "pkg/lib/libgfortran.so.5");

  ElfFacts user = extension("pkg/a.so");  // someone needs it: then it matters
  user.needed.emplace_back("libgfortran.so.5");
  user.rpath = {"$ORIGIN/lib"};
  findings = check({user, stray}, "manylinux_2_28");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(check({stray}, "manylinux_2_28")[0].severity, Severity::error);  // a wheel that is only libraries
}

TEST(CheckPolicy, MachinesAndForbiddenSymbols) {
  ElfFacts arm = extension("b.so");
  arm.machine = "aarch64";
  ElfFacts device = library("k.cubin");
  device.machine = "machine 190";
  ElfFacts fast = extension("a.so");
  fast.x86_isa_needed = 2;
  fast.undefined.push_back({"__issignaling", "", "", false});
  const auto findings = check({fast, arm, device}, "manylinux_2_17");
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].id, "platform-machine");
  EXPECT_EQ(findings[0].what, "is for aarch64, the wheel is for x86_64");
  EXPECT_EQ(findings[1].id, "platform-forbidden-symbol");
  EXPECT_EQ(findings[1].what, "uses __issignaling of libc.so.6, which manylinux_2_17 forbids");
  EXPECT_EQ(findings[2].id, "platform-machine");
  EXPECT_NE(findings[2].what.find("x86_64_v2"), std::string::npos);

  const auto unknown = check({fast}, "manylinux_2_12", "aarch64");
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown[0].what, "manylinux_2_12 does not exist for aarch64");
}

TEST(CheckPolicy, AMuslFileIsNoManylinux) {
  ElfFacts musl = extension("m.so", {});
  musl.needed = {"libc.musl-x86_64.so.1"};
  const auto findings = check({musl}, "manylinux_2_28");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "platform-external-library");
}

TEST(Providers, KnowTheProviderOfALibrary) {
  struct Row {
    const char *soname, *who;
  };
  for (const Row& row : {Row{"libcuda.so.1", "the NVIDIA driver"},
                         {"libnvidia-ml.so.1", "the NVIDIA driver"},
                         {"libcudart.so.13", "the wheel nvidia-cuda-runtime"},
                         {"libcublasLt.so.12", "the wheel nvidia-cublas"},
                         {"libcusparseLt.so.0", "the wheel nvidia-cusparselt"},
                         {"libcudnn_ops.so.9", "the wheel nvidia-cudnn"},
                         {"libtorch_python.so", "the wheel torch"},
                         {"libc10_cuda.so", "the wheel torch"},
                         {"libamdhip64.so.6", "ROCm"},
                         {"librocm_sysdeps_z.so.1", "ROCm"},
                         {"libhipfile.so.0", "ROCm"},
                         {"librocdecode.so.1", "ROCm"},
                         {"libtensorflow_framework.so.2", "the wheel tensorflow"},
                         {"libc.so.6", ""},
                         {"libgomp.so.1", ""},
                         {"mylibcuda.so.1", ""},
                         {"", ""}}) {
    EXPECT_EQ(provided_by_others(row.soname), row.who) << row.soname;
  }
  EXPECT_NE(provided_by_others("libpython3.11.so.1.0"), "");
  EXPECT_EQ(provided_by_others("libgomp.so.1", {"numpy", "torch"}), "the wheel torch");
}

}  // namespace
}  // namespace wheelsmith::wheel
