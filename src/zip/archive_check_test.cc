#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/zip_builder.h"
#include "zip/archive.h"

namespace wheelsmith::zip {
namespace {

using testing::zip_extra;
using testing::zip_number;
using testing::ZipBuilder;
using testing::ZipDescriptor;
using testing::ZipEnds;
using testing::ZipMember;

using Ids = std::set<std::string>;

std::vector<Finding> check(const std::string& file) { return Archive::open(Bytes(file)).check(); }

Ids ids(const std::vector<Finding>& findings) {
  Ids ids;
  for (const Finding& finding : findings) {
    ids.insert(finding.id);
    EXPECT_TRUE(finding.id.starts_with("zip-"));
    EXPECT_FALSE(finding.what.empty() || finding.why.empty() || finding.fix.empty()) << finding.id;
  }
  return ids;
}

TEST(check, finds_nothing_in_a_good_archive) {
  const std::string file = ZipBuilder()
                               .add("a", "aaa")
                               .add({.name = "b", .data = "bb", .deflated = false})
                               .add({.name = "c/", .deflated = false, .mode = 040755})
                               .add({.name = "wide", .data = "w", .zip64 = true, .zip64_offset = true})
                               .add({.name = "gr\xc3\xbc\xc3\x9f", .data = "u", .flags = 1 << 11})
                               .ends({.comment = "a comment", .zip64 = true})
                               .build();
  EXPECT_EQ(ids(check(file)), Ids{});
}

TEST(check, finds_what_is_wrong_with_one_member) {
  const std::string wide = zip_number(4, 8) + zip_number(4, 8);
  const std::string other_name = zip_extra(0x7075, "\1" + zip_number(0xe101f268, 4) + "evil");
  const std::pair<Ids, ZipMember> k_cases[] = {
      {{"zip-local-name"}, {.name = "m", .local = {.name = "n"}}},
      {{"zip-local-name"}, {.name = "m", .local = {.name = "longer"}}},
      {{"zip-local-method"}, {.name = "m", .local = {.method = 0}}},
      {{"zip-local-flags"}, {.name = "m", .local = {.flags = 1 << 11}}},
      {{"zip-local-crc"}, {.name = "m", .local = {.crc32 = 5}}},
      {{"zip-local-size"}, {.name = "m", .local = {.packed_size = 77}}},
      {{"zip-local-size"}, {.name = "m", .local = {.size = 5}}},
      {{"zip-local-header"}, {.name = "m", .directory = {.offset = 7}}},
      {{"zip-descriptor"}, {.name = "m", .descriptor = ZipDescriptor::bare, .descriptor_bytes = "abcdefghijkl"}},
      {{"zip-zip64-local"}, {.name = "m", .deflated = false, .local = {.size = 0xffffffff}}},
      {{"zip-zip64-local"}, {.name = "m", .local = {.extra = zip_extra(1, zip_number(4, 8))}}},
      {{"zip-zip64-local"}, {.name = "m", .local = {.extra = zip_extra(1, wide)}}},
      {{"zip-zip64-local"}, {.name = "m", .zip64 = true, .local = {.extra = zip_extra(1, zip_number(4, 8))}}},
      {{"zip-zip64-local"}, {.name = "m", .local = {.extra = zip_number(99, 2) + zip_number(50, 2)}}},
      {{"zip-zip64-needless"},
       {.name = "m", .data = "abcd", .deflated = false, .local = {.extra = zip_extra(1, wide)}}},
      {{"zip-zip64-needless"}, {.name = "m", .directory = {.extra = zip_extra(1, wide)}}},
      {{"zip-zip64-extra", "zip-local-header", "zip-hidden-member"},
       {.name = "m", .zip64_offset = true, .directory = {.extra = ""}}},
      {{"zip-extra"}, {.name = "m", .directory = {.extra = zip_number(99, 2) + zip_number(50, 2)}}},
      {{"zip-name-unsafe"}, {.name = "a\\b"}},
      {{"zip-name-unsafe"}, {.name = "a\nb"}},
      {{"zip-name-unsafe"}, {.name = std::string("a\0b", 3)}},
      {{"zip-name-unsafe"}, {.name = ""}},
      {{"zip-name-utf8"}, {.name = "\xff", .flags = 1 << 11}},
      {{"zip-name-legacy"}, {.name = "gr\x81n"}},
      {{"zip-name-override"}, {.name = "m", .directory = {.extra = other_name}}},
      {{"zip-encrypted"}, {.name = "m", .flags = 1}},
      {{"zip-method"}, {.name = "m", .local = {.method = 12}, .directory = {.method = 12}}},
      {{"zip-symlink"}, {.name = "m", .data = "target", .deflated = false, .mode = 0120777}},
      {{"zip-folder-data"}, {.name = "m/", .data = "data"}},
      {{"zip-stored-size"},
       {.name = "m", .data = "abc", .deflated = false, .local = {.size = 4}, .directory = {.size = 4}}},
      {{"zip-impossible-size"}, {.name = "m", .local = {.size = 900'000'000}, .directory = {.size = 900'000'000}}},
      {{"zip-bomb"}, {.name = "m", .data = std::string(65'000'000, 'x')}},
      {{"zip-gap"}, {.name = "m", .junk = std::string(100, '-')}},
      {{}, {.name = "m", .junk = std::string(10, '-')}},
      {{"zip-hidden-member"}, {.name = "m", .unlisted = true}},
      {{"zip-overlap", "zip-local-size"}, {.name = "m", .deflated = false, .directory = {.packed_size = 9, .size = 9}}},
  };
  for (const auto& [expected, member] : k_cases) {
    const auto findings = check(ZipBuilder().add("first", "1").add(member).add("last", "9").build());
    if (expected == Ids{"zip-local-header"}) {  // its bytes then belong to no member
      EXPECT_EQ(ids(findings), (Ids{"zip-local-header", "zip-hidden-member"}));
      continue;
    }
    EXPECT_EQ(ids(findings), expected);
    for (const Finding& finding : findings) {
      EXPECT_TRUE(finding.subject == member.name || finding.subject == "archive") << finding.subject;
    }
  }
}

TEST(check, finds_what_is_wrong_around_the_members) {
  const std::pair<Ids, ZipEnds> k_cases[] = {
      {{"zip-prepended-data"}, {.prepended = "x"}},
      {{"zip-prepended-data"}, {.prepended = "x", .zip64 = true}},
      {{"zip-trailing-data"}, {.trailing = "x"}},
      {{"zip-comment-length"}, {.comment = "abc", .comment_size = 4}},
      {{"zip-trailing-data"}, {.comment = "abc", .comment_size = 2}},
      {{"zip-end-ambiguous"}, {.comment = "PK\5\6 is how it ends"}},
      {{"zip-entry-count"}, {.count = 3}},
      {{"zip-entry-count"}, {.zip64 = true, .count = 65537}},
      {{"zip-multi-disk"}, {.disk = 1}},
      {{"zip-multi-disk"}, {.zip64 = true, .disks = 2}},
      {{"zip-zip64-locator"}, {.zip64 = true, .record64_offset = 3}},
      {{"zip-directory-place", "zip-gap"}, {.before_end = std::string(100, '-')}},
      {{}, {.zip64 = true, .record64_additions = "abcd"}},
  };
  for (const auto& [expected, ends] : k_cases) {
    const std::string file = ZipBuilder().add("a", "1").add("b", "2").ends(ends).build();
    EXPECT_EQ(ids(check(file)), expected);
  }
}

TEST(check, finds_an_archive_inside_the_comment) {
  const std::string inner = ZipBuilder().add("inner", "1").build();
  const std::string file = ZipBuilder().add("outer", "2").ends({.comment = inner}).build();
  EXPECT_EQ(Archive::open(Bytes(file)).entries()[0].name, "inner") << "as Python's zipfile sees it";
  EXPECT_TRUE(ids(check(file)).contains("zip-end-ambiguous"));
}

TEST(check, finds_duplicates_and_shared_data) {
  ZipBuilder builder;
  builder.add("x", "1").add("x", "2").add({.name = "x", .data = "1", .shares = 0});
  const auto findings = check(builder.build());
  EXPECT_EQ(ids(findings), (Ids{"zip-duplicate-name", "zip-overlap"}));
  EXPECT_EQ(findings.back().what, "3 members have this name");
}

TEST(check, finds_a_bomb_of_many_members) {
  ZipBuilder builder;
  for (int i = 0; i < 30; ++i) {
    builder.add({.name = "m" + std::to_string(i),
                 .data = "x",
                 .packed = std::string(40'000, 'x'),
                 .directory = {.size = 41'000'000}});
  }
  const std::string file = builder.build();
  const Archive archive = Archive::open(Bytes(file));
  EXPECT_FALSE(archive.entries()[0].is_bomb());
  EXPECT_TRUE(archive.is_bomb());
  EXPECT_TRUE(ids(archive.check()).contains("zip-bomb"));
}

TEST(check, tells_the_first_50_and_counts_the_rest) {
  ZipBuilder builder;
  for (int i = 0; i < 1050; ++i) builder.add({.name = "m" + std::to_string(i), .local = {.crc32 = 1}});
  const auto findings = check(builder.build());
  ASSERT_EQ(findings.size(), 51u);
  EXPECT_EQ(findings.back().subject, "archive");
  EXPECT_EQ(findings.back().what, "1000 more findings with this id are not shown");
}

// A central directory of 50,000 entries for one and the same member, and members nested in each other's data.
TEST(check, is_not_slow_on_overlaps) {
  ZipBuilder builder;
  builder.add("kernel", std::string(1000, 'x'));
  for (int i = 0; i < 50'000; ++i) {
    ZipMember member{.name = "k" + std::to_string(i), .data = "x", .deflated = false, .shares = 0};
    builder.add(std::move(member));
  }
  const auto findings = check(builder.ends({.zip64 = true}).build());
  EXPECT_LT(findings.size(), 51u * 8);
  EXPECT_TRUE(ids(findings).contains("zip-overlap"));
}

}  // namespace
}  // namespace wheelsmith::zip
