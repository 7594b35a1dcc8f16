#include "wheel/compare/diff.h"

#include <gtest/gtest.h>

#include "testing/elf_builder.h"
#include "testing/wheel_builder.h"
#include "wheel/read/wheel_tree.h"

namespace wheelsmith::wheel {
namespace {

std::string diff_of(const testing::WheelBuilder& first, const testing::WheelBuilder& second,
                    std::vector<std::string> ignore = {}) {
  const std::string one = first.build(), two = second.build();
  const zip::Archive here = zip::Archive::open(Bytes(one)), there = zip::Archive::open(Bytes(two));
  const WheelTree left(here), right(there);
  DiffOptions options;
  options.ignore = std::move(ignore);
  const Diff found =
      diff({&left, &here, Bytes(one), first.file_name()}, {&right, &there, Bytes(two), second.file_name()}, options);
  std::string text;
  for (const Difference& each : found.differences)
    text += std::string(enum_name(each.kind)) + " " + each.subject + " " + each.left + "|" + each.right + "\n";
  return text;
}

testing::WheelBuilder base() { return testing::WheelBuilder("small", "1.0", "py3-none-any").purelib(true); }

TEST(Diff, EqualWheels) { EXPECT_EQ(diff_of(base().add("small/a.py", "a"), base().add("small/a.py", "a")), ""); }

TEST(Diff, AnotherVersionIsMetadataAndNotAnotherSetOfFiles) {
  const std::string text =
      diff_of(base().add("small/a.py", "a"),
              testing::WheelBuilder("small", "1.1", "py3-none-any").purelib(true).add("small/a.py", "a"));
  EXPECT_EQ(text,
            "metadata Version 1.0|1.1\n"
            "metadata file name: version 1.0|1.1\n");
}

TEST(Diff, FilesAndTags) {
  const std::string text =
      diff_of(base().add("small/a.py", "a").add("small/b.py", "b"),
              testing::WheelBuilder("small", "1.0", "py2-none-any").purelib(true).add("small/a.py", "x"));
  EXPECT_NE(text.find("file small/a.py 1 bytes, sha256 "), std::string::npos) << text;
  EXPECT_NE(text.find("file small/b.py 1 bytes|\n"), std::string::npos) << text;
  EXPECT_NE(text.find("tag py2-none-any |py2-none-any\n"), std::string::npos) << text;
  EXPECT_NE(text.find("tag py3-none-any py3-none-any|\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("RECORD"), std::string::npos) << text;
}

TEST(Diff, IgnoresKindsAndPatterns) {
  const auto first = base().add("small/a.py", "a"), second = base().add("small/a.py", "x");
  EXPECT_EQ(diff_of(first, second, {"file"}), "");
  EXPECT_EQ(diff_of(first, second, {"small/*"}), "");
  EXPECT_NE(diff_of(first, second, {"other/*"}), "");
}

}  // namespace
}  // namespace wheelsmith::wheel
