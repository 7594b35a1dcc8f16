#include "rocm/artifacts.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "archive/archive.h"
#include "base/error.h"
#include "rocm/devel_tar.h"
#include "rocm/stub.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::rocm {
namespace {

namespace fs = std::filesystem;

class ArtifactsTest : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) {
    sys::make_folders((root() / path).parent_path());
    sys::write_file(root() / path, text);
  }
  [[nodiscard]] fs::path root() const { return m_folder.path() / "artifacts"; }
  [[nodiscard]] Artifacts read() const {
    sys::make_folders(m_folder.path() / "scratch");
    return read_artifacts(root(), m_folder.path() / "scratch", 2);
  }
  [[nodiscard]] std::string error() const {
    try {
      (void)read();
    } catch (const Error& error) {
      return error.what();
    }
    return "(no error)";
  }
  sys::TempDir m_folder;
};

std::string member_text(const Artifacts& artifacts, std::size_t which, const std::string& path) {
  const auto found = artifacts.all.at(which).entries.find(path);
  if (found == artifacts.all[which].entries.end()) return "(not there)";
  return std::string(found->second.open().bytes.text());
}

TEST_F(ArtifactsTest, FoldersInOrderWithTheirBaseFoldersOverlaid) {
  put("b_lib_generic/artifact_manifest.txt", "one/stage\n\n  two/stage\nmissing/stage\n");
  put("b_lib_generic/one/stage/lib/x", "1");
  put("b_lib_generic/two/stage/lib/y", "2");
  put("a_run_gfx942/artifact_manifest.txt", "stage\n");
  put("a_run_gfx942/stage/bin/z", "3");
  put("no_manifest_here/stage/bin/z", "3");
  const Artifacts artifacts = read();
  ASSERT_EQ(artifacts.all.size(), 2U);
  EXPECT_EQ(artifacts.all[0].name.to_string(), "a_run_gfx942");
  EXPECT_EQ(member_text(artifacts, 1, "lib/x"), "1");
  EXPECT_EQ(member_text(artifacts, 1, "lib/y"), "2");
  EXPECT_TRUE(artifacts.findings.empty());
}

TEST_F(ArtifactsTest, NothingLeavesAnArtifact) {
  put("secret", "mine");
  put("a_lib_generic/artifact_manifest.txt", "../\n");
  EXPECT_NE(error().find(".."), std::string::npos) << error();
  put("a_lib_generic/artifact_manifest.txt", "/etc\n");
  EXPECT_NE(error().find("/etc"), std::string::npos) << error();
  put("a_lib_generic/artifact_manifest.txt", "door\n");
  fs::create_directory_symlink("..", root() / "a_lib_generic" / "door");
  EXPECT_NE(error().find("points outside the artifact"), std::string::npos) << error();
}

TEST_F(ArtifactsTest, ConflictsAreTold) {
  Entries one, two;
  put("a", "same");
  put("b", "same");
  put("c", "else");
  const auto entry = [&](const char* name, const char* artifact) {
    Entry made;
    made.place = root() / name;
    made.artifact = artifact;
    made.size = 4;
    return made;
  };
  one["x"] = entry("a", "first");
  one["y"] = entry("a", "first");
  two["x"] = entry("b", "second");
  two["y"] = entry("c", "second");
  std::vector<Finding> findings;
  merge(one, two, findings);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].subject, "y");
  EXPECT_EQ(findings[0].id, "rocm-conflict");
  EXPECT_EQ(one["y"].artifact, "second");
}

// A redirect of one artifact is not what is meant where another has the file itself, whichever comes first.
TEST_F(ArtifactsTest, ARuleSaysWhichOfTwoIsMeant) {
  put("redirect", "1");
  put("real", "2");
  const auto entry = [&](const char* name, const char* artifact) {
    Entry made;
    made.place = root() / name;
    made.artifact = artifact;
    made.size = 1;
    return made;
  };
  const std::vector<ConflictRule> rules = {{{"**/cmake/**"}, "base"}};
  for (const bool base_first : {true, false}) {
    Entries base, compiler;
    for (const char* path : {"lib/cmake/amd_comgr/amd_comgr-config.cmake", "share/other"}) {
      base[path] = entry("redirect", "base_dev_generic");
      compiler[path] = entry("real", "amd-llvm_dev_generic");
    }
    base["lib/cmake/alone.cmake"] = entry("redirect", "base_dev_generic");
    std::vector<Finding> findings;
    Entries merged = base_first ? base : compiler;
    merge(merged, base_first ? compiler : base, findings, rules);
    EXPECT_EQ(merged["lib/cmake/amd_comgr/amd_comgr-config.cmake"].artifact, "amd-llvm_dev_generic");
    EXPECT_EQ(merged["lib/cmake/alone.cmake"].artifact, "base_dev_generic");
    ASSERT_EQ(findings.size(), 1U) << "the rule is about CMake's files alone";
    EXPECT_EQ(findings[0].subject, "share/other");
  }
}

Entries tree_of(const std::vector<std::pair<std::string, std::string>>& list) {
  Entries entries;
  for (const auto& [path, target] : list) {
    Entry entry;
    entry.link = !target.empty();
    entry.link_target = target;
    entries[path] = entry;
  }
  return entries;
}

TEST(Settle, NothingLiesBelowAFileOrALink) {
  Entries entries;
  entries["share/l"].link = true;
  entries["share/l"].link_target = "real";
  entries["share/l"].artifact = "first";
  entries["share/l/deep/a"].artifact = "second";
  entries["share/l.txt"].artifact = "first";
  entries["share/real/b"].artifact = "first";
  std::vector<Finding> findings;
  settle(entries, findings);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].subject, "share/l");
  EXPECT_FALSE(entries.contains("share/l"));
  EXPECT_EQ(entries.size(), 3U);
  settle(entries, findings);
  EXPECT_EQ(findings.size(), 1U);
  entries["share/real"].artifact = "third";
  EXPECT_THROW(settle(entries, findings), Error);
}

TEST(Tree, FollowsLinksInsideOnly) {
  const Entries entries = tree_of({{"bin/tool", "../lib/llvm/bin/tool"},
                                   {"lib/llvm/bin/tool", "clang"},
                                   {"lib/llvm/bin/clang", ""},
                                   {"llvm", "lib/llvm"},
                                   {"through", "llvm/bin/clang"},
                                   {"out", "../../etc/passwd"},
                                   {"absolute", "/etc/passwd"},
                                   {"loop", "pool"},
                                   {"pool", "loop"},
                                   {"below", "lib/llvm/bin/clang/x"},
                                   {"gone", "lib/nothing"}});
  const Tree tree(entries);
  EXPECT_EQ(tree.resolve("bin/tool").path, "lib/llvm/bin/clang");
  EXPECT_EQ(tree.resolve("through").path, "lib/llvm/bin/clang");
  EXPECT_EQ(tree.resolve("llvm").kind, Resolved::Kind::folder);
  for (const char* path : {"out", "absolute", "loop", "below", "gone"})
    EXPECT_EQ(tree.resolve(path).kind, Resolved::Kind::nothing) << path;
}

TEST(Stub, KnowsItsTargetAndNothingElseChanges) {
  const std::string a = exec_stub("../lib/llvm/bin/clang"), b = exec_stub("x");
  EXPECT_EQ(a.size(), b.size());
  EXPECT_NE(a.find(std::string("../lib/llvm/bin/clang\0", 22)), a.npos);
  EXPECT_THROW(exec_stub("/bin/sh"), Error);
  EXPECT_THROW(exec_stub(""), Error);
  EXPECT_THROW(exec_stub(std::string(2000, 'x')), Error);
  EXPECT_EQ(relative_target("bin/hipcc", "lib/llvm/bin/clang"), "../lib/llvm/bin/clang");
  EXPECT_EQ(relative_target("bin/a", "bin/b"), "b");
  EXPECT_EQ(relative_target("a", "b/c"), "b/c");
  EXPECT_EQ(relative_target("x/y/z", "x/w"), "../w");
}

TEST(DevelTar, AnyPartIsThatOfTheWhole) {
  std::vector<DevelItem> items;
  items.push_back({"__init__.py", {}, "", false});
  items.push_back({"bin/tool", {nullptr, nullptr, std::string(1000, 't')}, "", true});
  items.push_back({"lib/" + std::string(150, 'n'), {nullptr, nullptr, "long"}, "", false});
  items.push_back({"lib/link", {}, "../../_rocm_sdk_core/lib/" + std::string(120, 'k'), false});
  items.push_back({"lib/short", {}, "long", false});
  const DevelTar tar(items, "_rocm_sdk_devel");
  const std::string whole(tar.piece(0, tar.size()).bytes.text());
  EXPECT_EQ(whole.size() % 512, 0U);
  for (std::uint64_t size : {1U, 7U, 511U, 512U, 513U, 3000U}) {
    std::string parts;
    for (std::uint64_t at = 0; at < tar.size(); at += size)
      parts += tar.piece(at, std::min<std::uint64_t>(size, tar.size() - at)).bytes.text();
    EXPECT_TRUE(parts == whole) << size;
  }
  std::vector<archive::TarEntry> read;
  archive::read_tar(Bytes(whole), [&](const archive::TarEntry& entry) { read.push_back(entry); }, [](Bytes) {});
  ASSERT_EQ(read.size(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(read[i].name, "_rocm_sdk_devel/" + items[i].path);
    EXPECT_EQ(read[i].target, items[i].link_target);
    EXPECT_EQ(read[i].mtime, 0);
  }
  EXPECT_EQ(read[1].mode, 0755U);
}

}  // namespace
}  // namespace wheelsmith::rocm
