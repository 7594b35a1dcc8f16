#include "wheel/check/loader/loader.h"

#include <gtest/gtest.h>

#include <map>

namespace wheelsmith::wheel {
namespace {

ElfFacts library(std::string path, std::vector<std::string> needed = {}) {
  ElfFacts file;
  file.path = std::move(path);
  file.size = file.path.size();
  file.machine = "x86_64";
  file.type = elf::k_type_dyn;
  file.is_dynamic = true;
  file.needed = std::move(needed);
  return file;
}

ElfFacts extension(std::string path, std::vector<std::string> needed, std::vector<std::string> runpath = {},
                   std::vector<std::string> rpath = {}) {
  ElfFacts file = library(std::move(path), std::move(needed));
  file.python_extension = true;
  file.runpath = std::move(runpath);
  file.rpath = std::move(rpath);
  return file;
}

// An installed folder at /site, and the rest of the machine as a map of absolute paths.
class Machine {
 public:
  explicit Machine(std::vector<ElfFacts> files) : m_files(std::move(files)) {}

  Machine& at(const std::string& path, ElfFacts facts = {}) {
    facts.path = path;
    if (facts.machine.empty()) facts.machine = "x86_64";
    facts.is_dynamic = true;
    m_foreign[path] = std::move(facts);
    return *this;
  }
  Machine& library_path(std::vector<std::string> folders) {
    m_library_path = std::move(folders);
    return *this;
  }

  std::vector<Finding> check() {
    LoaderMachine machine{m_library_path, {"/usr/lib"}, [this](const std::string& path) -> std::optional<ElfFacts> {
                            const auto found = m_foreign.find(path);
                            return found == m_foreign.end() ? std::nullopt : std::optional(found->second);
                          }};
    return check_loading(m_files, "/site", machine);
  }

  // "error loader-not-found pkg/a.so", one line a finding.
  std::vector<std::string> verdicts() {
    std::vector<std::string> lines;
    for (const Finding& finding : check()) {
      lines.push_back(std::string(to_string(finding.severity)) + " " + finding.id + " " + finding.subject);
      EXPECT_FALSE(finding.what.empty() || finding.why.empty() || finding.fix.empty()) << finding.id;
    }
    return lines;
  }

 private:
  std::vector<ElfFacts> m_files;
  std::map<std::string, ElfFacts> m_foreign;
  std::vector<std::string> m_library_path;
};

using Lines = std::vector<std::string>;

TEST(Loader, FollowsRunPathsFromTheFilesOwnFolder) {
  Machine machine({extension("pkg/a.so", {"libx.so", "libc.so.6", "ld-linux-x86-64.so.2"}, {"$ORIGIN/../pkg.libs"}),
                   extension("pkg/b.so", {"libx.so"}, {"/nowhere:", "${ORIGIN}/../pkg.libs"}),
                   extension("pkg/c.so", {"liby.so"}, {"$ORIGIN/$LIB"}), library("pkg.libs/libx.so"),
                   library("pkg/lib/x86_64-linux-gnu/liby.so")});
  EXPECT_EQ(machine.at("/usr/lib/libc.so.6").verdicts(), Lines{});
}

TEST(Loader, NotFoundSaysWhereItLooked) {
  Machine machine({extension("pkg/a.so", {"libx.so"}, {"$ORIGIN/lib"})});
  machine.library_path({"/opt/lib", "", "relative"});
  const std::vector<Finding> findings = machine.check();
  ASSERT_EQ(machine.verdicts(), Lines{"error loader-not-found pkg/a.so"});
  EXPECT_EQ(findings[0].what,
            "needs libx.so, which the loader does not find; it searches /opt/lib, /site/pkg/lib, /usr/lib");
}

TEST(Loader, RpathIsInheritedAndRunpathIsNot) {
  const std::vector<ElfFacts> libraries = {library("libs/libx.so", {"liby.so"}), library("libs/liby.so")};
  EXPECT_EQ(Machine({extension("a.so", {"libx.so"}, {}, {"$ORIGIN/libs"}), libraries[0], libraries[1]}).verdicts(),
            Lines{});
  EXPECT_EQ(Machine({extension("a.so", {"libx.so"}, {"$ORIGIN/libs"}), libraries[0], libraries[1]}).verdicts(),
            Lines{"warning loader-preload-only libs/libx.so"});
  // A RUNPATH of its own ends the inheritance.
  ElfFacts with_runpath = libraries[0];
  with_runpath.runpath = {"/elsewhere"};
  EXPECT_EQ(Machine({extension("a.so", {"libx.so"}, {}, {"$ORIGIN/libs"}), with_runpath, libraries[1]}).verdicts(),
            Lines{"warning loader-preload-only libs/libx.so"});
}

TEST(Loader, ALibraryThatIsLoadedAlreadyIsTaken) {
  // libx.so finds no path to liby.so, but a.so has loaded it before.
  EXPECT_EQ(Machine({extension("a.so", {"liby.so", "libx.so"}, {"$ORIGIN/libs"}), library("libs/libx.so", {"liby.so"}),
                     library("libs/liby.so")})
                .verdicts(),
            Lines{});
}

TEST(Loader, TheEnvironmentShadowsRunpathButNotRpath) {
  const auto machine = [](ElfFacts root) {
    return Machine({std::move(root), library("libs/libx.so")}).at("/opt/lib/libx.so").library_path({"/opt/lib"});
  };
  EXPECT_EQ(machine(extension("a.so", {"libx.so"}, {}, {"$ORIGIN/libs"})).verdicts(), Lines{});
  Machine shadowed = machine(extension("a.so", {"libx.so"}, {"$ORIGIN/libs"}));
  EXPECT_EQ(shadowed.verdicts(), Lines{"warning loader-shadowed a.so"});
  EXPECT_EQ(shadowed.check()[0].what, "loads libx.so from /opt/lib/libx.so instead of /site/libs/libx.so");
}

TEST(Loader, AShadowThatLacksVersionsIsAnError) {
  ElfFacts root = extension("a.so", {"libx.so"}, {"$ORIGIN/libs"});
  root.versions_needed["libx.so"] = {"X_1", "X_2"};
  ElfFacts old = library("");
  old.versions_provided = {"X_1"};
  Machine machine({root, library("libs/libx.so")});
  machine.at("/opt/lib/libx.so", old).library_path({"/opt/lib"});
  EXPECT_EQ(machine.verdicts(), Lines{"error loader-shadowed a.so"});
  EXPECT_NE(machine.check()[0].what.find("it lacks X_2"), std::string::npos);
}

TEST(Loader, AnEarlierFolderOfTheRunPathShadowsWhatThePackageShips) {
  EXPECT_EQ(Machine({extension("a.so", {"libx.so"}, {"/opt/lib", "$ORIGIN/libs"}), library("libs/libx.so")})
                .at("/opt/lib/libx.so")
                .verdicts(),
            Lines{"warning loader-shadowed a.so"});
}

TEST(Loader, TheSameLibraryByAnotherPathIsNoShadow) {
  ElfFacts shipped = library("libs/libx.so");
  shipped.build_id = "ab";
  ElfFacts same = library("");
  same.build_id = "ab";
  EXPECT_EQ(Machine({extension("a.so", {"libx.so"}, {"$ORIGIN/libs"}), shipped})
                .at("/opt/lib/libx.so", same)
                .library_path({"/opt/lib"})
                .verdicts(),
            Lines{});
}

TEST(Loader, ASystemLibraryThatIsTooOldIsNamed) {
  ElfFacts root = extension("a.so", {"libstdc++.so.6"});
  root.versions_needed["libstdc++.so.6"] = {"GLIBCXX_3.4.32"};
  ElfFacts old = library("");
  old.versions_provided = {"GLIBCXX_3.4"};
  Machine machine({root});
  EXPECT_EQ(machine.at("/usr/lib/libstdc++.so.6", old).verdicts(), Lines{"error loader-version-missing a.so"});
}

TEST(Loader, AnotherMachinesLibraryIsPassedOver) {
  ElfFacts arm = library("");
  arm.machine = "aarch64";
  EXPECT_EQ(Machine({extension("a.so", {"libx.so"})})
                .at("/opt/lib/libx.so", arm)
                .at("/usr/lib/libx.so")
                .library_path({"/opt/lib"})
                .verdicts(),
            Lines{"note loader-wrong-machine a.so"});
}

TEST(Loader, LibrariesOfOthersAreNotAnError) {
  EXPECT_EQ(Machine({extension("a.so", {"libcuda.so.1"})}).verdicts(), Lines{"note loader-not-found a.so"});
  EXPECT_EQ(Machine({extension("a.so", {"libpython3.11.so.1.0"})}).verdicts(), Lines{"warning loader-not-found a.so"});
}

TEST(Loader, FilesOfOtherMachinesAreNotLoaded) {
  ElfFacts arm = library("arm.so", {"libx.so"});
  arm.machine = "aarch64";
  ElfFacts gpu = library("k.hsaco", {"liby.so"});
  gpu.machine = "machine 224";
  EXPECT_EQ(Machine({extension("a.so", {}), arm, gpu}).verdicts(), Lines{});
}

TEST(Loader, CyclesAndCrowdsEnd) {
  std::vector<std::string> all;
  std::vector<ElfFacts> files;
  for (int i = 0; i < 200; ++i) all.push_back("l" + std::to_string(i) + ".so");
  for (const std::string& path : all) files.push_back(extension(path, all, {"$ORIGIN"}));
  EXPECT_EQ(Machine(files).verdicts(), Lines{});
}

// Every pair of a NEEDED library and a run path entry is a path that is looked up and remembered.
TEST(Loader, NeedsTimesRunPathsEnd) {
  std::vector<std::string> needed;
  std::vector<std::string> runpath;
  for (int i = 0; i < 3000; ++i) needed.push_back("l" + std::to_string(i) + ".so");
  for (int i = 0; i < 3000; ++i) runpath.push_back("/p" + std::to_string(i));
  const Lines verdicts = Machine({extension("a.so", needed, runpath)}).verdicts();
  EXPECT_LT(verdicts.size(), 300U);  // of 3000
  EXPECT_EQ(verdicts.back(), "note loader-incomplete /site");
}

}  // namespace
}  // namespace wheelsmith::wheel
