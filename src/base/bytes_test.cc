#include "base/bytes.h"

#include <gtest/gtest.h>

#include <random>

#include "base/endian.h"
#include "base/error.h"

namespace wheelsmith {
namespace {

TEST(Bytes, SliceRefusesWhatLiesOutside) {
  const Bytes file("0123456789");
  EXPECT_EQ(file.slice(8, 2).text(), "89");
  EXPECT_EQ(file.slice(10, 0).size(), 0U);
  EXPECT_THROW((void)file.slice(8, 3), Error);
  EXPECT_THROW((void)file.slice(11, 0), Error);
  EXPECT_THROW((void)file.slice(~0ULL, 2), Error);  // the sum overflows
  EXPECT_THROW((void)file.from(11), Error);
  EXPECT_EQ(file.clamp(8, 100).text(), "89");
  EXPECT_TRUE(file.clamp(100, 1).empty());
}

TEST(Bytes, GetReadsFileIntegersAtAnyOffset) {
  const Bytes file(std::string_view("x\x01\x02\x03\x04", 5));
  EXPECT_EQ(file.get<le32>(1), 0x04030201U);
  EXPECT_EQ(file.get<be32>(1), 0x01020304U);
  EXPECT_EQ(file.get<le16>(3), 0x0403U);
  EXPECT_THROW((void)file.get<le32>(2), Error);
}

TEST(Bytes, CStringNeedsItsEnd) {
  const Bytes file(std::string_view("ab\0cd", 5));
  EXPECT_EQ(file.c_string(0), "ab");
  EXPECT_EQ(file.c_string(2), "");
  EXPECT_THROW((void)file.c_string(3), Error);
  EXPECT_THROW((void)file.c_string(5), Error);
}

TEST(Bytes, CursorStopsAtTheEnd) {
  Cursor cursor(Bytes(std::string_view("\x01\x00yz", 4)));
  EXPECT_EQ(cursor.take<le16>(), 1);
  EXPECT_EQ(cursor.take_bytes(2).text(), "yz");
  EXPECT_TRUE(cursor.done());
  EXPECT_THROW(cursor.skip(1), Error);
}

TEST(Bytes, FindAgreesWithTheStandardLibrary) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 200, '\0');
    for (char& c : text) c = static_cast<char>('a' + random() % 2);
    std::string needle(2 + random() % 5, '\0');
    for (char& c : needle) c = static_cast<char>('a' + random() % 2);
    const std::size_t from = random() % 50;
    const std::size_t expected = text.find(needle, from);
    EXPECT_EQ(Bytes(text).find(needle, from), expected == std::string::npos ? text.size() : expected);
  }
}

}  // namespace
}  // namespace wheelsmith
