#include "gpu/code/hip_bundle.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "gpu/code/hip_walk.h"
#include "testing/fatbin_builder.h"

namespace wheelsmith::gpu {
namespace {

using testing::HipBundleBuilder;
using Method = HipBundleBuilder::Method;

HipBundle read_bundle(std::string_view bytes) {
  UnpackBudget budget;
  return read_hip_bundle(Bytes(bytes), budget);
}

std::string refusal(std::string_view bytes) {
  try {
    read_bundle(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

HipBundleBuilder two_targets() {
  HipBundleBuilder builder;
  builder.object("gfx90a:xnack-", std::string(3000, 'a')).object("gfx1151", std::string(1000, 'b'));
  return builder;
}

TEST(HipBundle, PlainTableNamesTargetsAndSizes) {
  const std::string bytes = two_targets().build();
  const HipBundle bundle = read_bundle(bytes + "what follows");
  EXPECT_EQ(bundle.size, bytes.size());
  ASSERT_EQ(bundle.objects.size(), 2U);
  EXPECT_EQ(bundle.objects[0].target, "gfx90a:xnack-");
  EXPECT_EQ(bundle.objects[0].bytes, 3000U);
  EXPECT_EQ(bundle.objects[1].target, "gfx1151");
  EXPECT_EQ(bundle.objects[1].unpacked_bytes, 1000U);
}

TEST(HipBundle, CompressedInEveryVersionAndMethod) {
  for (const int version : {1, 2, 3}) {
    for (const Method method : {Method::zlib, Method::zstd}) {
      SCOPED_TRACE(version * 10 + static_cast<int>(method));
      const std::string bytes = two_targets().build_compressed(version, method);
      const HipBundle bundle = read_bundle(bytes + "what follows");
      EXPECT_EQ(bundle.size, bytes.size());
      ASSERT_EQ(bundle.objects.size(), 2U);
      EXPECT_EQ(bundle.objects[0].target, "gfx90a:xnack-");
      EXPECT_EQ(bundle.objects[0].unpacked_bytes, 3000U);
      // The whole is shared out by unpacked size and nothing is lost.
      EXPECT_EQ(bundle.objects[0].bytes, bytes.size() * 3 / 4);
      EXPECT_EQ(bundle.objects[0].bytes + bundle.objects[1].bytes, bytes.size());
    }
  }
}

TEST(HipBundle, OnlyTheTableIsUnpacked) {
  HipBundleBuilder builder;
  builder.object("gfx942", std::string(10'000'000, 'x'));
  const std::string bytes = builder.build_compressed(2);
  UnpackBudget budget;
  budget.tables = 5000;
  EXPECT_EQ(read_hip_bundle(Bytes(bytes), budget).objects.size(), 1U);
}

TEST(HipBundle, EntryIds) {
  const struct {
    const char* id;
    const char* target;
  } cases[] = {
      {"host-x86_64-unknown-linux--", ""},
      {"host-x86_64-unknown-linux-gnu-", ""},
      {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", "gfx90a:xnack-"},
      {"hip-amdgcn-amd-amdhsa--gfx942:xnack+:sramecc-", "gfx942:sramecc-:xnack+"},
      {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", "gfx9-4-generic"},
      {"hip-spirv64-amd-amdhsa--amdgcnspirv", "amdgcnspirv"},
  };
  for (const auto& test : cases) EXPECT_EQ(target_of_entry_id(test.id), test.target) << test.id;
  for (const char* id : {"", "hipv4-amdgcn", "hipv4-amdgcn-amd-amdhsa--", "hip-amdgcn-amd-amdhsa--gfx\x01"}) {
    EXPECT_THROW(target_of_entry_id(id), Error) << id;
  }
}

TEST(HipBundle, RefusesWhatItCannotTrust) {
  const std::string plain = two_targets().build();
  const std::string packed = two_targets().build_compressed(3);
  const auto changed = [](std::string bytes, std::size_t at, std::string_view with) {
    return bytes.replace(at, with.size(), with);
  };
  using std::string_view_literals::operator""sv;
  const struct {
    std::string bytes;
    const char* why;
  } cases[] = {
      {plain.substr(0, 30), "its table is incomplete"},
      {plain.substr(0, 100), "extends past the end"},
      {plain.substr(0, 4200), "extends past the end"},
      {changed(plain, 24, "\xff\xff\xff\xff\xff\xff\xff\xff"), "entries"},
      {changed(plain, 32, "\xff\xff\xff\xff\xff\xff\xff\xff"), "extends past the end"},
      {changed(plain, 48, "\xff\xff\xff\xff\xff\xff\xff\xff"), "id that is too long"},
      {packed.substr(0, 10), "outside"},
      {packed.substr(0, packed.size() - 1), "exceed the"},
      {changed(packed, 4, "\x09"), "version 9"},
      {changed(packed, 6, "\x07"), "method 7"},
      {changed(packed, 8, "\x01\0\0\0\0\0\0\0"sv), "exceed the"},
      {changed(packed, 16, "\0\0\0\0\x05\0\0\0"sv), "unpack to 2147"},
      {changed(packed, 16, "\x01\0\0\0\0\0\0\0"sv), "disagree"},
      {changed(packed, 32, "zzzz"), "zstd"},
      {testing::compressed_bundle(3, Method::zlib, "zzzzzzzzzzzz", 5000), "zlib"},
      {testing::compressed_bundle(1, Method::zstd, "zzzzzzzzzzzz", 5000), "zstd"},
      {testing::compressed_bundle(2, Method::zlib, testing::zlib_stream(plain).substr(0, 40), plain.size()),
       "truncated"},
      {testing::compressed_bundle(3, Method::zstd, testing::zstd_bomb(8'000'000'000), 8'000'000'000), "not a bundle"},
      {testing::compressed_bundle(3, Method::zstd, testing::zstd_frame(plain.substr(0, 60)), 60),
       "its table is incomplete"},
  };
  for (const auto& test : cases) {
    EXPECT_NE(refusal(test.bytes).find(test.why), std::string::npos)
        << test.why << " is not in: " << refusal(test.bytes);
  }
}

struct SeenBundles {
  std::vector<std::uint64_t> offsets;
  std::vector<std::string> targets;
  std::vector<std::string> broken;
};

SeenBundles walk_bundles(std::string_view bytes, const std::vector<std::uint64_t>& starts = {}) {
  SeenBundles seen;
  UnpackBudget budget;
  walk_hip_bundles(Bytes(bytes), starts, budget,
                   {[&](std::uint64_t offset, const HipBundle& bundle) {
                      seen.offsets.push_back(offset);
                      for (const HipCodeObject& object : bundle.objects) seen.targets.push_back(object.target);
                    },
                    [&](std::uint64_t, const std::string& why) { seen.broken.push_back(why); }});
  return seen;
}

TEST(HipWalk, FindsAllBundlesWithAndWithoutStarts) {
  std::string bytes = two_targets().build();
  bytes.resize((bytes.size() + 4095) / 4096 * 4096);
  const std::uint64_t second = bytes.size();
  bytes += two_targets().build_compressed(2);
  bytes.resize((bytes.size() + 15) / 16 * 16);
  const std::uint64_t third = bytes.size();
  HipBundleBuilder last;
  bytes += last.align(16).object("gfx942", "CCOB inside of code, and 8 aligned: CCOB").build();
  const std::vector<std::uint64_t> all{0, second, third};
  EXPECT_EQ(walk_bundles(bytes).offsets, all);
  EXPECT_EQ(walk_bundles(bytes, {second}).offsets, all);
  EXPECT_EQ(walk_bundles(bytes, all).offsets, all);
  EXPECT_EQ(walk_bundles(bytes).targets.back(), "gfx942");
  EXPECT_TRUE(walk_bundles(bytes, all).broken.empty());
}

TEST(HipWalk, GoesOnBehindABrokenBundle) {
  std::string broken = two_targets().build_compressed(2);
  broken[4] = 9;
  broken.resize((broken.size() + 7) / 8 * 8);
  const SeenBundles seen = walk_bundles(broken + two_targets().build_compressed(1, Method::zlib));
  EXPECT_EQ(seen.broken.size(), 1U);
  EXPECT_EQ(seen.offsets, std::vector<std::uint64_t>{broken.size()});
}

TEST(HipWalk, AStartThatHoldsNoBundleIsBroken) {
  EXPECT_EQ(walk_bundles(std::string(64, 'x'), {16}).broken.size(), 1U);
  EXPECT_TRUE(walk_bundles(std::string(64, 'x')).broken.empty());
}

}  // namespace
}  // namespace wheelsmith::gpu
