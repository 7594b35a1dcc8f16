#include "wheel/compare/compare.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "testing/elf_builder.h"
#include "testing/wheel_builder.h"

namespace wheelsmith::wheel {
namespace {

testing::WheelBuilder small_wheel() { return testing::WheelBuilder("small", "1.0", "py3-none-any"); }

TEST(CompareWheels, SameBytes) {
  const std::string wheel = small_wheel().add("small/a.py", "a = 1\n").build();
  const WheelComparison same = compare_wheels(Bytes(wheel), Bytes(wheel));
  EXPECT_TRUE(same.same_bytes);
  EXPECT_TRUE(same.members.empty());
  EXPECT_TRUE(same.archive.empty());
  EXPECT_GE(same.compared, 4u);
}

TEST(CompareWheels, SaysWhatDiffers) {
  const std::string first =
      small_wheel().add("small/a.py", "x\na = 1\ny\n").add("small/old.py", "").add("small/b.bin", {"\0abc", 4}).build();
  const std::string second =
      small_wheel().add("small/a.py", "x\na = 2\ny\n").add("small/new.py", "").add("small/b.bin", {"\0abd", 4}).build();
  const WheelComparison found = compare_wheels(Bytes(first), Bytes(second));
  EXPECT_FALSE(found.same_bytes);
  EXPECT_FALSE(found.same_payload());
  ASSERT_EQ(found.members.size(), 5u);  // RECORD, too
  EXPECT_EQ(found.members[0].name, "small-1.0.dist-info/RECORD");
  EXPECT_EQ(found.members[0].reasons, std::vector<std::string>{"it lists the members that differ"});
  EXPECT_EQ(found.members[1].name, "small/a.py");
  EXPECT_EQ(found.members[1].reasons, (std::vector<std::string>{"line 2 - a = 1", "line 2 + a = 2"}));
  EXPECT_EQ(found.members[2].reasons, (std::vector<std::string>{"first at byte 3 of 4"}));
  EXPECT_EQ(found.members[3].kind, MemberDifference::Kind::only_second);
  EXPECT_EQ(found.members[4].kind, MemberDifference::Kind::only_first);
}

TEST(CompareWheels, TellsThePayloadFromWhatDescribesIt) {
  const auto with = [](const std::string& key) {
    return small_wheel().add("small/a.py", "").add("small-1.0.dist-info/wheelsmith/provenance.json", key).build();
  };
  const std::string first = with("1"), second = with("2");
  const WheelComparison found = compare_wheels(Bytes(first), Bytes(second));
  EXPECT_FALSE(found.same_bytes);
  EXPECT_TRUE(found.same_payload());
  const std::string other = small_wheel().add("small/x.dist-info/wheelsmith/a", "1").build();
  const std::string another = small_wheel().add("small/x.dist-info/wheelsmith/a", "2").build();
  EXPECT_FALSE(compare_wheels(Bytes(other), Bytes(another)).same_payload());
}

TEST(CompareWheels, Refuses) {
  const std::string wheel = small_wheel().build();
  EXPECT_THROW((void)compare_wheels(Bytes(wheel), Bytes(std::string_view("no"))), Error);
}

TEST(WhyDifferent, ByteCodeHeader) {
  std::string first("\xa7\r\r\n\0\0\0\0\1\2\3\4\5\6\7\10code", 20), second = first;
  second[9] = 'x';
  const std::vector<std::string> why = why_different("a.pyc", Bytes(first), Bytes(second));
  ASSERT_EQ(why.size(), 1u);
  EXPECT_NE(why[0].find("byte code header"), std::string::npos);
}

TEST(WhyDifferent, LinesOfText) {
  const auto why = [](std::string_view first, std::string_view second) {
    std::string text;
    for (const std::string& reason : why_different("a.txt", Bytes(first), Bytes(second))) text += reason + "; ";
    return text;
  };
  EXPECT_EQ(why("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n"), "line 2 - b; line 2 + x; line 4 + y; ");
  EXPECT_EQ(why("", "a\n"), "line 1 + a; ");
  EXPECT_EQ(why("a\n", "a"), "the line endings differ; ");
  EXPECT_EQ(why("a\na\n", "a\n"), "line 2 - a; ");
}

TEST(WhyDifferent, HostileElf) {
  const std::string first("\177ELF\2\1\1", 7), second("\177ELF\2\1\1xx", 9);
  EXPECT_FALSE(why_different("a.so", Bytes(first), Bytes(second)).empty());
}

}  // namespace
}  // namespace wheelsmith::wheel
