#include "cache/parts/device_text.h"

#include <gtest/gtest.h>

namespace wheelsmith::cache {
namespace {

Digest digest(std::string_view text, const std::string& archs = "800", bool positions = false) {
  return digest_of_text(text, archs, positions).digest;
}

constexpr const char* k_text = "# 1 \"k.cu\"\n# 1 \"a.h\" 1 3\nint x;\n# 2 \"k.cu\" 2\n\nint y;\n";

TEST(DeviceTextTest, IgnoresPositionsOnRequest) {
  const char* moved = "# 1 \"k.cu\"\n# 1 \"b.h\" 1 3\n\n\nint x;\n# 7 \"k.cu\" 2\nint y;\n# 9 \"k.cu\"\n";
  EXPECT_EQ(digest(k_text), digest(moved));
  EXPECT_NE(digest(k_text, "800", true), digest(moved, "800", true));
  // Another header, another token, and a header that is no longer a system's.
  EXPECT_NE(digest(k_text), digest("# 1 \"k.cu\"\n# 1 \"a.h\" 1 3\nint z;\n# 2 \"k.cu\" 2\nint y;\n"));
  EXPECT_NE(digest(k_text), digest("# 1 \"k.cu\"\n# 1 \"a.h\" 1\nint x;\n# 2 \"k.cu\" 2\nint y;\n"));
}

TEST(DeviceTextTest, CountsEveryLineOfARawString) {
  const auto text = [](const char* inside) { return "f(R\"x(" + std::string(inside) + ")x\");\nint y;\n"; };
  EXPECT_NE(digest(text("a\n\nb")), digest(text("a\nb")));
  EXPECT_NE(digest(text("a\n# 1 \"k\"\nb")), digest(text("a\n# 2 \"k\"\nb")));
  EXPECT_EQ(digest(text("a") + "\n\n"), digest(text("a")));
  // Not raw strings: after them, blank lines do not count.
  for (const char* line :
       {"asm(\"=R\"(x));\n", "f(\"R\\\"(\");\n", "char c = '\"'; f(\"R\");\n", "int a = 1'0; f(xR\"(\");\n"})
    EXPECT_EQ(digest(std::string(line) + "\nint y;\n"), digest(std::string(line) + "int y;\n")) << line;
  EXPECT_NE(digest("f(u8R\"(a\n\nb)\", R\"(\n\n)\");\n"), digest("f(u8R\"(a\n\nb)\", R\"(\n)\");\n"));
}

TEST(DeviceTextTest, IgnoresTheListInNamespaces) {
  const std::string one = "inline namespace THRUST_300001_SM_800_NS {\n",
                    two = "inline namespace THRUST_300001_SM_800_900_NS {\n";
  const TextDigest first = digest_of_text(one, "800", false);
  const TextDigest second = digest_of_text(two, "800_900", false);
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(first.spaces, std::vector<std::string>{"THRUST_300001_SM_800_NS"});
  EXPECT_EQ(second.spaces, std::vector<std::string>{"THRUST_300001_SM_800_900_NS"});
  EXPECT_NE(digest(one), digest(two));
  // As a number, in a string, in another name: as written.
  EXPECT_NE(digest("int a[] = {800};\n", "800"), digest("int a[] = {800,900};\n", "800_900"));
  EXPECT_NE(digest("f(\"CUB_1_SM_800\");\n", "800"), digest("f(\"CUB_1_SM_800_900\");\n", "800_900"));
  EXPECT_NE(digest("int MY_SM_800;\n", "800"), digest("int MY_SM_800_900;\n", "800_900"));
  EXPECT_NE(digest("int CUB_SM_800;\n", "800"), digest("int CUB_SM_800_900;\n", "800_900"));
  EXPECT_NE(digest("int CUB_1_SM_800x;\n", "800"), digest("int CUB_1_SM_800_900x;\n", "800_900"));
}

const Spelling k_one{"800", {"THRUST_300001_SM_800_NS", "CUB_300001_SM_800"}, "_aaaaaaaa_4_k_cu", {"/t/1/k.stub.c"}};
const Spelling k_two{"800_900",
                     {"THRUST_300001_SM_800_900_NS", "CUB_300001_SM_800_900"},
                     "_bbbbbbbb_4_k_cu",
                     {"/t/2/k.compute_80.stub.c"}};

TEST(DeviceTextTest, SpellsAgain) {
  struct {
    const char *one, *two;
  } const rows[] = {
      {"", ""},
      {"_ZN6thrust23THRUST_300001_SM_800_NS6system3seqE[1];",
       "_ZN6thrust27THRUST_300001_SM_800_900_NS6system3seqE[1];"},
      {"_ZN3cub17CUB_300001_SM_80019dispatch", "_ZN3cub21CUB_300001_SM_800_90019dispatch"},
      {"::thrust::THRUST_300001_SM_800_NS::x", "::thrust::THRUST_300001_SM_800_900_NS::x"},
      {"_INTERNAL_aaaaaaaa_4_k_cu_x", "_INTERNAL_bbbbbbbb_4_k_cu_x"},
      {"# 1 \"/t/1/k.stub.c\"\n", "# 1 \"/t/2/k.compute_80.stub.c\"\n"},
  };
  for (const auto& row : rows) {
    const auto neutral = neutral_text(row.one, k_one);
    ASSERT_TRUE(neutral) << row.one;
    EXPECT_EQ(neutral, neutral_text(row.two, k_two)) << row.one;
    EXPECT_EQ(spelled_text(*neutral, k_two), row.two);
    EXPECT_EQ(spelled_text(*neutral, k_one), row.one);
  }
}

TEST(DeviceTextTest, SpellsNothingThatIsUncertain) {
  for (const char* text : {"x22THRUST_300001_SM_800_NS", "3__423THRUST_300001_SM_800_NS", "xTHRUST_300001_SM_800_NS",
                           "::THRUST_300001_SM_800_NSx", "MY_SM_800", "a\x1f", "23THRUST_300001_SM_800_NS"})
    EXPECT_EQ(neutral_text(text, k_one), std::nullopt) << text;
  for (const char* text : {"\x1f", "\x1fX",
                           "\x1f"
                           "F9\x1f",
                           "\x1f"
                           "Fx\x1f",
                           "\x1fU99\x1f"
                           "abc",
                           "\x1fU2\x1f"
                           "ab",
                           "\x1fL"})
    EXPECT_EQ(spelled_text(text, k_one), std::nullopt) << text;
}

}  // namespace
}  // namespace wheelsmith::cache
