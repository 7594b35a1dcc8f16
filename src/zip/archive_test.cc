#include "zip/archive.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "testing/zip_builder.h"
#include "zip/test_archive.h"

namespace wheelsmith::zip {
namespace {

using testing::ZipBuilder;
using testing::ZipDescriptor;
using testing::ZipEnds;
using testing::ZipMember;

// The message of the error that reading the first member ends in.
std::string read_error(const std::string& file) {
  const Archive archive = open(file);
  try {
    (void)archive.read(archive.entries().at(0));
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

const std::string k_sentence = "It was the best of times, it was the worst of times, it was the age of wisdom.";

TEST(archive, reads_stored_and_deflated_members_and_folders) {
  const std::string file = ZipBuilder()
                               .add("a/b.txt", k_sentence)
                               .add({.name = "stored", .data = "as it is", .deflated = false, .mode = 0100755})
                               .add({.name = "a/", .deflated = false, .mode = 040755})
                               .add("empty", "")
                               .build();
  const Archive archive = open(file);
  ASSERT_EQ(archive.entries().size(), 4u);
  EXPECT_EQ(read(archive, "a/b.txt"), k_sentence);
  EXPECT_EQ(read(archive, "stored"), "as it is");
  EXPECT_EQ(read(archive, "empty"), "");
  EXPECT_EQ(archive.find("missing"), nullptr);
  EXPECT_TRUE(archive.find("a/")->is_folder());
  EXPECT_EQ(archive.find("stored")->unix_mode(), 0100755u);
  const Blob stored = archive.read(*archive.find("stored"));
  EXPECT_EQ(stored.owner, nullptr) << "a stored member is a view into the file";
  EXPECT_GE(stored.bytes.data(), reinterpret_cast<const std::uint8_t*>(file.data()));
}

TEST(archive, finds_the_last_of_several_members_of_one_name) {
  const std::string file = ZipBuilder().add("x", "old").add("y", "").add("x", "new").build();
  EXPECT_EQ(read(open(file), "x"), "new");
}

TEST(archive, opens_whatever_stands_around_it) {
  const struct {
    const char* what;
    ZipEnds ends;
  } k_cases[] = {
      {"nothing", {}},
      {"comment", {.comment = "hello"}},
      {"longest comment", {.comment = std::string(0xffff, 'c')}},
      {"prepended", {.prepended = "#!/bin/sh\n"}},
      {"trailing", {.trailing = "rubbish"}},
      {"zip64", {.zip64 = true}},
      {"zip64, prepended", {.prepended = std::string(1000, 'x'), .zip64 = true}},
      {"zip64, additions", {.zip64 = true, .record64_additions = "additions"}},
      {"zip64, comment", {.comment = "hello", .zip64 = true}},
      {"count too large", {.count = 65000}},
      {"count too small", {.count = 0}},
      {"count enormous", {.zip64 = true, .count = ~0ull}},
      {"directory before other data", {.before_end = std::string(100, '-')}},
      {"directory offset too large", {.directory_offset = 0}},
  };
  for (const auto& test : k_cases) {
    SCOPED_TRACE(test.what);
    ZipBuilder builder;
    builder.add("a", k_sentence).add({.name = "b", .data = "bb", .zip64 = true, .zip64_offset = true}).ends(test.ends);
    const std::string file = builder.build();
    const Archive archive = open(file);
    EXPECT_EQ(archive.entries().size(), 2u);
    if (test.ends.directory_offset) continue;  // then all members are elsewhere, too
    EXPECT_EQ(read(archive, "a"), k_sentence);
    EXPECT_EQ(read(archive, "b"), "bb");
  }
}

TEST(archive, refuses_what_has_no_directory) {
  const std::string good = ZipBuilder().add("a", k_sentence).build();
  const std::pair<const char*, std::string> k_cases[] = {
      {"empty", ""},
      {"text", std::string(1000, 'x')},
      {"only the magic", "PK\5\6"},
      {"cut off", good.substr(0, good.size() - 23)},
      {"directory larger than the file", ZipBuilder().add("a", "").ends({.directory_size = 5000}).build()},
      {"directory size wraps", ZipBuilder().add("a", "").ends({.zip64 = true, .directory_size = ~0ull - 10}).build()},
      {"directory cut in a record", ZipBuilder().add("a", "").add("b", "").ends({.directory_size = 60}).build()},
      {"directory overwritten", ZipBuilder().add("a", "").ends({.before_end = "xxxx", .directory_offset = 3}).build()},
  };
  for (const auto& [what, file] : k_cases) {
    EXPECT_THROW(open(file), Error) << what;
  }
  EXPECT_EQ(open(ZipBuilder().build()).entries().size(), 0u) << "an archive without members is one";
}

TEST(archive, survives_every_cut) {
  const std::string file =
      ZipBuilder().add("a", k_sentence).add("b", "x").ends({.comment = "c", .zip64 = true}).build();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string part = file.substr(0, size);
    try {
      (void)open(part).check();
    } catch (const Error&) {}
  }
}

TEST(archive, takes_descriptors_of_all_forms) {
  for (const ZipDescriptor descriptor : {ZipDescriptor::with_signature, ZipDescriptor::bare,
                                         ZipDescriptor::wide_with_signature, ZipDescriptor::wide_bare}) {
    const bool wide = descriptor == ZipDescriptor::wide_bare || descriptor == ZipDescriptor::wide_with_signature;
    const std::string file = ZipBuilder()
                                 .add({.name = "s", .data = k_sentence, .zip64 = wide, .descriptor = descriptor})
                                 .add({.name = "e", .data = "", .zip64 = wide, .descriptor = descriptor})
                                 .build();
    EXPECT_EQ(read(open(file), "s"), k_sentence);
    EXPECT_TRUE(open(file).check().empty());
  }
}

TEST(archive, opens_100000_members_by_name) {
  ZipBuilder builder;
  for (int i = 0; i < 100'000; ++i) {
    ZipMember member{.name = "m" + std::to_string(i), .data = std::to_string(i), .deflated = false};
    builder.add(std::move(member));
  }
  const std::string file = builder.ends({.zip64 = true}).build();
  const Archive archive = open(file);
  EXPECT_EQ(archive.entries().size(), 100'000u);
  EXPECT_EQ(read(archive, "m77777"), "77777");
  EXPECT_TRUE(archive.check().empty());
}

TEST(read, refuses_members_that_lie) {
  using testing::deflate;
  const std::string packed = deflate(k_sentence);
  const auto one = [](ZipMember member) {
    member.name = "m";
    return ZipBuilder().add(std::move(member)).add("next", "n").build();
  };
  const std::uint32_t size = static_cast<std::uint32_t>(k_sentence.size());
  const std::pair<std::string, std::string> k_cases[] = {
      {"has CRC", one({.data = k_sentence, .directory = {.crc32 = 1}})},
      {"has CRC", one({.data = k_sentence, .deflated = false, .directory = {.crc32 = 1}})},
      {"unpacks to more", one({.data = k_sentence, .directory = {.size = size - 1}})},
      {"but claims", one({.data = k_sentence, .directory = {.size = size + 1}})},
      {"bytes follow its deflate stream", one({.data = k_sentence, .packed = packed + "xx"})},
      {"ends too early", one({.data = k_sentence, .packed = packed.substr(0, packed.size() - 2)})},
      {"corrupt", one({.data = k_sentence, .packed = "\7" + packed})},
      {"claims more than deflate can hold", one({.data = k_sentence, .directory = {.size = 4'000'000'000}})},
      {"claims more than deflate can hold", one({.data = k_sentence, .directory = {.packed_size = 0, .size = 65}})},
      {"is stored, but", one({.data = k_sentence, .deflated = false, .directory = {.size = size + 1}})},
      {"is encrypted", one({.data = k_sentence, .flags = 1})},
      {"method 12", one({.data = k_sentence, .directory = {.method = 12}})},
      {"no local header", one({.data = k_sentence, .directory = {.offset = 1}})},
      {"no local header", one({.data = k_sentence, .directory = {.offset = 0xfffffffe}})},
      {"are outside", one({.data = k_sentence, .directory = {.packed_size = 1'000'000}})},
      {"overlaps the data at", one({.data = k_sentence, .directory = {.packed_size = 100}})},
  };
  for (const auto& [message, file] : k_cases) {
    EXPECT_NE(read_error(file).find(message), std::string::npos) << message << " expected, got " << read_error(file);
  }
}

TEST(read, refuses_offsets_that_overflow) {
  for (const std::uint64_t offset : {~0ull, ~0ull - 5, 1ull << 63, ~0ull - 46}) {
    const std::string extra = testing::zip_extra(1, testing::zip_number(offset, 8));
    const std::string file =
        ZipBuilder()
            .add({.name = "m", .data = k_sentence, .directory = {.offset = 0xffffffff, .extra = extra}})
            .ends({.prepended = "0123456789"})
            .build();
    EXPECT_NE(read_error(file).find("no local header"), std::string::npos) << offset;
  }
}

TEST(read, refuses_bombs_and_still_peeks_into_them) {
  const std::string file = ZipBuilder().add("zeros", std::string(65'000'000, '\0')).build();
  const Archive archive = open(file);
  EXPECT_TRUE(archive.entries()[0].is_bomb());
  EXPECT_NE(read_error(file).find("zip bomb"), std::string::npos);
  EXPECT_EQ(archive.peek(archive.entries()[0], 8), std::string(8, '\0'));
}

TEST(read, refuses_all_but_one_of_the_entries_that_share_data) {
  ZipBuilder builder;
  builder.add("kernel", k_sentence);
  for (int i = 0; i < 3; ++i) builder.add({.name = "kernel", .data = k_sentence, .shares = 0});
  const std::string file = builder.build();
  const Archive archive = open(file);
  EXPECT_EQ(read(archive, "kernel"), k_sentence) << "the last one, as found by name";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THROW((void)archive.read(archive.entries()[i]), Error);
}

TEST(peek, shows_the_start_and_no_more) {
  std::mt19937 random(7);
  std::string noise(300'000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  const std::string file = ZipBuilder()
                               .add("text", k_sentence)
                               .add({.name = "stored", .data = k_sentence, .deflated = false})
                               .add("noise", noise)
                               .add({.name = "broken", .data = k_sentence, .packed = "\7abc"})
                               .add({.name = "short", .data = k_sentence, .packed = testing::deflate("short")})
                               .add({.name = "cut", .data = noise, .packed = testing::deflate(noise).substr(0, 5000)})
                               .build();
  const Archive archive = open(file);
  const auto peek = [&](std::string_view name, std::size_t count) { return archive.peek(*archive.find(name), count); };
  EXPECT_EQ(peek("text", 6), k_sentence.substr(0, 6));
  EXPECT_EQ(peek("text", 1000), k_sentence);
  EXPECT_EQ(peek("text", 0), "");
  EXPECT_EQ(peek("stored", 6), k_sentence.substr(0, 6));
  for (const std::size_t count : {1u, 1023u, 1024u, 5000u, 299'999u, 300'000u, 300'001u}) {
    EXPECT_EQ(peek("noise", count), noise.substr(0, count)) << count;
  }
  EXPECT_THROW(peek("broken", 4), Error);
  EXPECT_EQ(peek("text", 6), k_sentence.substr(0, 6)) << "a broken member leaves nothing behind for the next";
  EXPECT_EQ(peek("short", 5), "short");
  EXPECT_THROW(peek("short", 6), Error);
  EXPECT_EQ(peek("cut", 100), noise.substr(0, 100));
  EXPECT_THROW(peek("cut", 6000), Error);
}

}  // namespace
}  // namespace wheelsmith::zip
