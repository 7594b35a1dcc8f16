#include "base/hash.h"

#include <gtest/gtest.h>

namespace wheelsmith {
namespace {

TEST(Hash, KnownDigests) {
  EXPECT_EQ(to_hex(sha256(Bytes("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_base64url(sha256(Bytes(""))), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
  EXPECT_EQ(to_base64url(*digest("sha512", Bytes(""))),
            "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg_SpIdNs6c5H0NE8XYXysP-DGNKHfuwvY7kxvUdBeoGlODJ6-SfaPg");
  EXPECT_EQ(to_hex(*digest("sha384", Bytes("abc"))).substr(0, 16), "cb00753f45a35e8b");
  EXPECT_EQ(digest("md5", Bytes("")), std::nullopt);
}

TEST(Hash, InPartsAsInOne) {
  const std::string text(100'000, 'x');
  for (const std::size_t part : {1U, 63U, 64U, 65U, 99'999U, 100'000U}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += part) hash.update(std::string_view(text).substr(at, part));
    EXPECT_EQ(hash.finish(), sha256(Bytes(text))) << part;
  }
  EXPECT_EQ(Sha256().finish(), sha256(Bytes()));
}

}  // namespace
}  // namespace wheelsmith
