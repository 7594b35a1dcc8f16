#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "base/error.h"
#include "source/folder/folder_writer.h"
#include "source/source.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"
#include "testing/tar_builder.h"
#include "testing/zip_builder.h"

namespace wheelsmith::source {
namespace {

namespace fs = std::filesystem;
using testing::gzip;
using testing::TarBuilder;
using testing::TarMember;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TarMember member(char type, const std::string& name, const std::string& target = "") {
  TarMember made;
  made.type = type;
  made.name = name;
  made.target = target;
  return made;
}

class Unpack : public ::testing::Test {
 protected:
  std::string unpacked(const std::string& bytes, bool strip = true) {
    sys::write_file(m_archive, bytes);
    return error_of([&] { unpack(m_archive, m_folder, strip); });
  }
  // In any case, nothing may appear beside the folder.
  void TearDown() override {
    for (const fs::directory_entry& entry : fs::directory_iterator(m_temporary.path() / "place")) {
      EXPECT_EQ(entry.path().filename(), "out");
    }
    EXPECT_FALSE(fs::exists(m_temporary.path() / "evil"));
  }
  std::string text(const std::string& name) const { return sys::read_file(m_folder / name); }
  static unsigned mode_of(const fs::path& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  sys::TempDir m_temporary;
  fs::path m_archive = m_temporary.path() / "demo-1.0.tar.gz";
  fs::path m_folder = m_temporary.path() / "place" / "out";
  void SetUp() override { fs::create_directories(m_temporary.path() / "place"); }
};

TEST_F(Unpack, KeepsModesAndStripsTheFolder) {
  TarMember program = member('0', "demo-1.0/run");
  program.mode = 06711;
  program.data = "#!";
  EXPECT_EQ(unpacked(gzip(TarBuilder()
                              .add("demo-1.0/setup.py", "pass\n")
                              .add(program)
                              .add(member('2', "demo-1.0/d/link", "../setup.py"))
                              .add(member('1', "demo-1.0/d/hard", "demo-1.0/setup.py"))
                              .add(member('5', "demo-1.0/empty/"))
                              .build())),
            "no error");
  EXPECT_EQ(text("setup.py"), "pass\n");
  EXPECT_EQ(text("d/link"), "pass\n");
  EXPECT_EQ(text("d/hard"), "pass\n");
  EXPECT_TRUE(fs::is_directory(m_folder / "empty"));
  EXPECT_EQ(mode_of(m_folder / "run"), 0755u);
  EXPECT_EQ(mode_of(m_folder / "setup.py"), 0644u);
  struct stat info{};
  ASSERT_EQ(::stat((m_folder / "setup.py").c_str(), &info), 0);
  EXPECT_EQ(info.st_mtim.tv_sec, 1'700'000'000);
}

TEST_F(Unpack, KeepsSeveralTopFolders) {
  EXPECT_EQ(unpacked(TarBuilder().add("a/x", "1").add("b", "2").build()), "no error");
  EXPECT_EQ(text("a/x"), "1");
  EXPECT_EQ(text("b"), "2");
  fs::remove_all(m_folder);
  EXPECT_EQ(unpacked(TarBuilder().add("a/x", "1").build(), false), "no error");
  EXPECT_EQ(text("a/x"), "1");
  fs::remove_all(m_folder);
  EXPECT_EQ(unpacked(TarBuilder().add("only", "1").build()), "no error");
  EXPECT_EQ(text("only"), "1");
}

TEST_F(Unpack, ClampsTimesForZipAndNinja) {
  TarMember old = member('0', "d/old");
  old.mtime = 0;
  TarMember future = member('0', "d/future");
  future.mtime = 7'000'000'000;
  EXPECT_EQ(unpacked(TarBuilder().add(old).add(future).build()), "no error");
  struct stat info{};
  ASSERT_EQ(::stat((m_folder / "old").c_str(), &info), 0);
  EXPECT_EQ(info.st_mtim.tv_sec, 315'619'200);
  ASSERT_EQ(::stat((m_folder / "future").c_str(), &info), 0);
  EXPECT_LE(info.st_mtim.tv_sec, std::time(nullptr));
}

TEST_F(Unpack, RejectsEscapes) {
  const std::string outside = (m_temporary.path() / "evil").string();
  const std::string top = "../../evil";
  const struct {
    const char* what;
    std::string tar;
    std::string error;
  } cases[] = {
      {"absolute link", TarBuilder().add(member('2', "d/l", outside)).build(), "outside the archive's folder"},
      {"climbing link", TarBuilder().add(member('2', "d/l", top)).build(), "outside the archive's folder"},
      {"link, then a file below it",
       TarBuilder().add("d/x/f", "").add(member('2', "d/l", "x")).add("d/l/evil", "!").build(),
       "appears as a file or link, and then as a folder"},
      {"two links, harmless one by one",
       TarBuilder().add(member('2', "d/up", ".")).add(member('2', "d/out", "up/../../evil")).build(),
       "outside the archive's folder"},
      {"link that leads out once the first folder is gone", TarBuilder().add(member('2', "d/l", "../evil")).build(),
       "points outside the archive's folder"},
      {"hard link to outside", TarBuilder().add(member('1', "d/h", "etc/passwd")).build(), "not an earlier file"},
      {"hard link to a link", TarBuilder().add(member('2', "d/l", "x")).add(member('1', "d/h", "d/l")).build(),
       "not an earlier file"},
      {"hard link to itself", TarBuilder().add("d/h", "").add(member('1', "d/h", "d/h")).build(),
       "not an earlier file"},
      {"file, then folder", TarBuilder().add("d/a", "").add("d/a/b", "").build(), "and then as a folder"},
      {"folder, then link", TarBuilder().add("d/a/b", "").add(member('2', "d/a", "x")).build(), "with different types"},
      {"link, then file", TarBuilder().add(member('2', "d/a", "x")).add("d/a", "!").build(), "with different types"},
      {"absolute name", TarBuilder().add(outside, "!").build(), "must not be absolute"},
      {"climbing name", TarBuilder().add("d/../../evil", "!").build(), "must not contain \"..\""},
      {"device", TarBuilder().add(member('3', "d/null")).build(), "character device"},
      {"cut off", gzip(TarBuilder().add("d/a", std::string(5000, 'x')).build()).substr(0, 60), "truncated"},
  };
  for (const auto& one : cases) {
    const std::string error = unpacked(one.tar);
    EXPECT_NE(error.find(one.error), std::string::npos) << one.what << ": " << error;
    EXPECT_EQ(error.find("demo-1.0.tar.gz: "), 0u) << error;
    EXPECT_FALSE(fs::exists(m_folder)) << one.what;
  }
}

TEST_F(Unpack, KeepsTheLaterOfDuplicateFiles) {
  // The first copy has a hard link, whose content must stay.
  EXPECT_EQ(unpacked(TarBuilder().add("d/a", "one").add(member('1', "d/h", "d/a")).add("d/a", "two").build()),
            "no error");
  EXPECT_EQ(text("a"), "two");
  EXPECT_EQ(text("h"), "one");
}

TEST_F(Unpack, RequiresAnEmptyFolder) {
  fs::create_directories(m_folder);
  EXPECT_EQ(unpacked(TarBuilder().add("d/a", "1").build()), "no error");
  EXPECT_NE(unpacked(TarBuilder().add("d/a", "2").build()).find("is not empty"), std::string::npos);
  EXPECT_EQ(text("a"), "1");
}

TEST_F(Unpack, ZipArchivesFollowTheSameRules) {
  testing::ZipMember link;
  link.name = "d/l";
  link.data = "a";
  link.mode = 0120777;
  testing::ZipMember program;
  program.name = "d/run";
  program.mode = 0100755;
  EXPECT_EQ(unpacked(testing::ZipBuilder().add("d/a", "1").add(program).add(link).build()), "no error");
  EXPECT_EQ(text("l"), "1");
  EXPECT_EQ(mode_of(m_folder / "run"), 0755u);
  fs::remove_all(m_folder);
  link.data = "../../evil";
  EXPECT_NE(unpacked(testing::ZipBuilder().add(link).build()).find("outside"), std::string::npos);
  EXPECT_NE(unpacked(testing::ZipBuilder().add("../evil", "").build()).find("must not contain \"..\""),
            std::string::npos);
  link.mode = 0020666;
  EXPECT_NE(unpacked(testing::ZipBuilder().add(link).build()).find("is not a file, folder or link"), std::string::npos);
}

TEST_F(Unpack, ReadsArchivesOfRealTar) {
  if (sys::find_program("tar").empty()) GTEST_SKIP() << "no tar";
  const fs::path tree = m_temporary.path() / "demo-1.0";
  const std::string long_name = std::string(90, 'n') + "/" + std::string(200, 'm');
  fs::create_directories(tree / long_name.substr(0, 90));
  sys::write_file(tree / "setup.py", "pass\n");
  sys::write_file(tree / long_name, "long\n");
  fs::create_symlink("setup.py", tree / "link");
  for (const char* format : {"ustar", "gnu", "pax"}) {
    for (const char* pack : {"--gzip", "--xz", "--zstd"}) {
      if (std::string(format) == "ustar") fs::remove(tree / long_name);
      const fs::path archive = m_temporary.path() / "packed";
      const sys::Captured made =
          sys::capture({.argv = {"tar", "-cf", archive.string(), std::string("--format=") + format, pack, "-C",
                                 m_temporary.path().string(), "demo-1.0"}});
      ASSERT_TRUE(made.exit.good()) << made.errors;
      EXPECT_EQ(error_of([&] { unpack(archive, m_folder, true); }), "no error") << format << pack;
      EXPECT_EQ(text("link"), "pass\n");
      if (fs::exists(tree / long_name)) {
        EXPECT_EQ(text(long_name), "long\n") << format << pack;
      }
      fs::remove_all(m_folder);
    }
    sys::write_file(tree / long_name, "long\n");
  }
  fs::remove_all(tree);
}

TEST(Links, ClimbFirstOrNotAtAll) {
  EXPECT_TRUE(link_stays_inside("a/b/l", "../../x/y"));
  EXPECT_TRUE(link_stays_inside("l", "./x//y/"));
  EXPECT_FALSE(link_stays_inside("a/b/l", "../../../x"));
  EXPECT_FALSE(link_stays_inside("a/b/l", "x/../y"));
  EXPECT_FALSE(link_stays_inside("l", "/x"));
  EXPECT_FALSE(link_stays_inside("l", ""));
}

}  // namespace
}  // namespace wheelsmith::source
