#include "gpu/code/kpack.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "gpu/code/msgpack.h"
#include "testing/fatbin_builder.h"

namespace wheelsmith::gpu {
namespace {

using testing::KpackBuilder;
using Scheme = KpackBuilder::Scheme;
using std::string_view_literals::operator""sv;

KpackBuilder three_objects() {
  KpackBuilder builder;
  builder.object("lib/libdemo.so#0", "gfx90a:xnack+:sramecc-", std::string(300, 'a'))
      .object("lib/libdemo.so#0", "gfx1151", std::string(70'000, 'b'))
      .object("lib/libdemo.so#1", "gfx1151", std::string(5, 'c'));
  return builder;
}

TEST(Kpack, ReadsBothSchemes) {
  for (const Scheme scheme : {Scheme::none, Scheme::zstd_per_kernel}) {
    const std::string archive = three_objects().build(scheme);
    const KpackContents contents = read_kpack(Bytes(archive));
    EXPECT_TRUE(contents.problems.empty());
    ASSERT_EQ(contents.objects.size(), 3U);
    EXPECT_EQ(contents.objects[0].target, "gfx90a:sramecc-:xnack+");
    EXPECT_EQ(contents.objects[1].target, "gfx1151");
    EXPECT_EQ(contents.objects[1].unpacked_bytes, 70'000U);
    const std::uint64_t packed = testing::zstd_frame(std::string(70'000, 'b')).size();
    EXPECT_EQ(contents.objects[1].bytes, scheme == Scheme::none ? 70'000U : packed);
  }
}

TEST(Kpack, EveryTruncationIsAnErrorOrAProblem) {
  for (const Scheme scheme : {Scheme::none, Scheme::zstd_per_kernel}) {
    KpackBuilder builder;
    builder.object("k#0", "gfx942", "contents");
    const std::string archive = builder.build(scheme);
    for (std::size_t size = 0; size < archive.size(); ++size) {
      EXPECT_THROW(read_kpack(Bytes(archive.data(), size)), Error) << size;
    }
  }
}

TEST(Kpack, AnObjectWithoutABlobIsAProblem) {
  std::string archive = three_objects().build(Scheme::none);
  const std::size_t at = archive.rfind("ordinal");
  archive[at + 7] = 0x55;
  const KpackContents contents = read_kpack(Bytes(archive));
  EXPECT_EQ(contents.objects.size(), 2U);
  ASSERT_EQ(contents.problems.size(), 1U);
  EXPECT_EQ(contents.problems[0], "lib/libdemo.so#1 for gfx1151: its ordinal is out of range");
}

TEST(Kpack, ReferenceOfAHostLibrary) {
  // As ROCm's own tool wrote it.
  const std::string_view bytes =
      "\x82\xb2kpack_search_paths\x91\xd9\x21../.kpack/mix_lib_@GFXARCH@.kpack\xabkernel_name\xb7stage/lib/libmix_lld.so"sv;
  const DeviceCode::KpackReference reference = read_kpack_reference(Bytes(bytes));
  EXPECT_EQ(reference.kernel_name, "stage/lib/libmix_lld.so");
  EXPECT_EQ(reference.search_paths, std::vector<std::string>{"../.kpack/mix_lib_@GFXARCH@.kpack"});
  EXPECT_EQ(testing::kpack_reference(reference.kernel_name, reference.search_paths), bytes);
  EXPECT_THROW(read_kpack_reference(Bytes("\x80"sv)), Error);
}

TEST(Msgpack, SkipsEveryKindOfValue) {
  const std::string_view values[] = {
      "\x07"sv,
      "\xff"sv,
      "\xc0"sv,
      "\xc3"sv,
      "\xa2xy"sv,
      "\xc4\x02xy"sv,
      "\xc7\x02txy"sv,
      "\xca"
      "1234"sv,
      "\xcb"
      "12345678"sv,
      "\xcd\x01\x02"sv,
      "\xd3"
      "12345678"sv,
      "\xd4tx"sv,
      "\xd8t0123456789abcdef"sv,
      "\xda\0\x01x"sv,
      "\xdd\0\0\0\x02\x01\x92\x01\x02"sv,
      "\xde\0\x01\xa1k\x81\x01\x02"sv,
  };
  for (const std::string_view value : values) {
    MsgpackReader reader{Bytes(value)};
    reader.skip();
    EXPECT_EQ(reader.at(), value.size());
    for (std::size_t size = 0; size < value.size(); ++size) {
      MsgpackReader cut{Bytes(value.data(), size)};
      EXPECT_THROW(cut.skip(), Error);
    }
  }
}

TEST(Msgpack, Numbers) {
  const struct {
    std::string_view bytes;
    std::uint64_t value;
  } cases[] = {{"\x7f"sv, 127},
               {"\xcc\xff"sv, 255},
               {"\xce\x01\0\0\0"sv, 1U << 24},
               {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff"sv, ~std::uint64_t{0}},
               {"\xd1\x7f\xff"sv, 32767}};
  for (const auto& test : cases) EXPECT_EQ(MsgpackReader(Bytes(test.bytes)).take_unsigned(), test.value);
  for (const std::string_view bytes : {"\xff"sv, "\xd0\x80"sv, "\xa1x"sv, "\xc1"sv, "\xcf\x01"sv}) {
    EXPECT_THROW(MsgpackReader(Bytes(bytes)).take_unsigned(), Error);
  }
}

TEST(Msgpack, DepthAndClaimedCountsAreHarmless) {
  const std::string deep(5'000'000, '\x91');
  MsgpackReader nested{Bytes(deep)};
  EXPECT_THROW(nested.skip(), Error);
  MsgpackReader array{Bytes("\xdd\xff\xff\xff\xff"sv)};
  EXPECT_THROW(array.take_array(), Error);
  MsgpackReader map{Bytes("\xdf\xff\xff\xff\xff\x01\x02"sv)};
  EXPECT_THROW(map.take_map(), Error);
}

}  // namespace
}  // namespace wheelsmith::gpu
