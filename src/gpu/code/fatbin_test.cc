#include "gpu/code/fatbin.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/fatbin_builder.h"

namespace wheelsmith::gpu {
namespace {

using testing::FatbinBuilder;

struct SeenContainers {
  std::vector<FatbinContainer> containers;
  std::vector<std::string> broken;
  std::vector<std::uint64_t> good_entries;
};

SeenContainers walk_containers(std::string_view bytes) {
  SeenContainers seen;
  walk_fatbins(Bytes(bytes), {[&](const FatbinContainer& container) { seen.containers.push_back(container); },
                              [&](std::uint64_t, std::uint64_t good, const std::string& why) {
                                seen.broken.push_back(why);
                                seen.good_entries.push_back(good);
                              }});
  return seen;
}

TEST(Fatbin, ReadsHeadersOfEveryKind) {
  FatbinBuilder::Entry specific;
  specific.arch = 100;
  specific.flags = FatbinBuilder::k_arch_specific;
  specific.payload = "12345";
  specific.header_size = 104;
  FatbinBuilder::Entry family = specific;
  family.flags = FatbinBuilder::k_family_specific;
  family.kind = 8;
  const std::string contents(1000, 'p');
  const std::string bytes = FatbinBuilder().sass(75, 40).packed(1, 90, contents).entry(specific).entry(family).build();
  const SeenContainers seen = walk_containers(bytes);
  ASSERT_EQ(seen.containers.size(), 1U);
  EXPECT_TRUE(seen.broken.empty());
  EXPECT_EQ(seen.containers[0].size, bytes.size());
  const std::vector<FatbinEntry>& entries = seen.containers[0].entries;
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].kind, FatbinKind::elf);
  EXPECT_EQ(entries[0].arch, 75U);
  EXPECT_EQ(entries[0].suffix, "");
  EXPECT_EQ(entries[0].bytes, 64U + 40U);
  EXPECT_EQ(entries[0].unpacked_bytes, 40U);
  EXPECT_EQ(entries[1].kind, FatbinKind::ptx);
  EXPECT_EQ(entries[1].unpacked_bytes, 1000U);
  EXPECT_EQ(entries[2].suffix, "a");
  EXPECT_EQ(entries[2].bytes, 104U + 8U);
  EXPECT_EQ(entries[2].unpacked_bytes, 8U);
  EXPECT_EQ(entries[3].suffix, "f");
  EXPECT_EQ(entries[3].kind, FatbinKind::ltoir);
}

TEST(Fatbin, FindsContainersAtAnyAlignmentAndBehindPadding) {
  const std::string one = FatbinBuilder().sass(80).build();
  const SeenContainers seen = walk_containers("abc" + one + std::string(24, '\0') + one + "\x50\xED junk" + one);
  ASSERT_EQ(seen.containers.size(), 3U);
  EXPECT_EQ(seen.containers[0].offset, 3U);
  EXPECT_EQ(seen.containers[1].offset, 3U + one.size() + 24U);
  EXPECT_TRUE(seen.broken.empty());
}

TEST(Fatbin, DoesNotLookInsideContainers) {
  FatbinBuilder::Entry nested;
  nested.payload = FatbinBuilder().sass(90).build();
  EXPECT_EQ(walk_containers(FatbinBuilder().entry(nested).build()).containers.size(), 1U);
}

TEST(Fatbin, StepsOverTombstonesAndEmptyContainers) {
  FatbinBuilder::Entry removed;
  removed.kind = 0x4000;
  removed.payload = std::string(16, '\0');
  removed.flags = 0x8011;  // what it was compressed with is still there, its sizes too or not
  const SeenContainers seen =
      walk_containers(FatbinBuilder().entry(removed).sass(90).build() + FatbinBuilder().build());
  ASSERT_EQ(seen.containers.size(), 2U);
  EXPECT_EQ(seen.containers[0].entries.size(), 1U);
  EXPECT_TRUE(seen.containers[1].entries.empty());
}

TEST(Fatbin, ABrokenContainerDoesNotHideTheNextOne) {
  const std::string good = FatbinBuilder().sass(90).build();
  const auto with = [](auto change) {
    FatbinBuilder::Entry entry;
    entry.payload = std::string(32, 'x');
    change(entry);
    return FatbinBuilder().sass(80).entry(entry);
  };
  const struct {
    const char* what;
    std::string bytes;
    std::uint64_t good_entries;
  } cases[] = {
      {"size past the end", FatbinBuilder().sass(80).claim_size(1 << 20).build(), 0},
      {"size that overflows", FatbinBuilder().sass(80).claim_size(~std::uint64_t{7}).build(), 0},
      {"size that is no multiple of 8", FatbinBuilder().sass(80).claim_size(97).build(), 0},
      {"size that ends inside the entry", FatbinBuilder().sass(80).claim_size(88).build(), 0},
      {"size that ends inside the next header", FatbinBuilder().sass(80).claim_size(104).build(), 1},
      {"header size 0", with([](auto& entry) { entry.header_size = 0; }).build(), 1},
      {"header size 60", with([](auto& entry) { entry.header_size = 60; }).build(), 1},
      {"payload past the end", with([](auto& entry) { entry.padded_size = 40; }).build(), 1},
      {"payload that overflows", with([](auto& entry) { entry.padded_size = ~std::uint64_t{0} - 63; }).build(), 1},
      {"compressed without sizes", with([](auto& entry) { entry.flags = 0x2011; }).build(), 1},
      {"sizes without compression", with([](auto& entry) { entry.packed_size = 8; }).build(), 1},
      {"no zstd frame", with([](auto& entry) {
                          entry.flags = 0x8011;
                          entry.packed_size = 30;
                          entry.unpacked_size = 99;
                        }).build(),
       1},
      {"packed size beyond the payload", with([](auto& entry) {
                                           entry.flags = 0x2011;
                                           entry.packed_size = 33;
                                           entry.unpacked_size = 99;
                                         }).build(),
       1},
      {"architecture 0", with([](auto& entry) { entry.arch = 0; }).build(), 1},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    const SeenContainers seen = walk_containers(test.bytes + good);
    ASSERT_EQ(seen.broken.size(), 1U);
    EXPECT_EQ(seen.good_entries[0], test.good_entries);
    ASSERT_EQ(seen.containers.size(), 1U);
    EXPECT_EQ(seen.containers[0].offset, test.bytes.size());
  }
}

TEST(Fatbin, ObfuscatedLtoIrNeedsNoZstdMagic) {
  FatbinBuilder::Entry entry;
  entry.kind = 8;
  entry.flags = 0x18011;
  entry.payload = "scrambled";
  entry.packed_size = 9;
  entry.unpacked_size = 100;
  EXPECT_EQ(walk_containers(FatbinBuilder().entry(entry).build()).containers.size(), 1U);
}

// Every container's chain runs through all the later ones and breaks only at the end: read naively, 20,000 of them make
// 200 million steps over entries.
TEST(Fatbin, OverlappingContainersTakeLinearTime) {
  std::string bytes;
  const std::size_t count = 20'000;
  for (std::size_t i = 0; i < count; ++i) {
    FatbinBuilder::Entry entry;
    entry.payload = FatbinBuilder().claim_size((count - i - 1) * 96 + 8).build();  // a container header
    const std::string whole = FatbinBuilder().entry(entry).build();
    bytes += whole.substr(16);
  }
  bytes = FatbinBuilder().claim_size(bytes.size() + 8).build() + bytes + std::string(8, 'x');
  const SeenContainers seen = walk_containers(bytes);
  EXPECT_TRUE(seen.containers.empty());
  EXPECT_EQ(seen.broken.size(), 1U);
}

TEST(Fatbin, GivesUpOnBytesThatAreNothingButMagic) {
  std::string bytes;
  for (int i = 0; i < 150'000; ++i) bytes += k_fatbin_magic;
  const SeenContainers seen = walk_containers(bytes);
  EXPECT_EQ(seen.broken.size(), 100'001U);
  EXPECT_EQ(seen.broken.back(), "too many broken containers; the rest is not read");
}

}  // namespace
}  // namespace wheelsmith::gpu
