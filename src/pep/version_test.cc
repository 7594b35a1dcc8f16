#include "pep/version.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"

namespace wheelsmith::pep {
namespace {

TEST(Version, NormalForm) {
  struct Row {
    const char *text, *normal;
  };
  for (const Row& row : {Row{"1.0", "1.0"},
                         {"  v1.0-ALPHA.1\n", "1.0a1"},
                         {"1.0c", "1.0rc0"},
                         {"1.0.preview_2", "1.0rc2"},
                         {"1.0beta", "1.0b0"},
                         {"1.0-1", "1.0.post1"},
                         {"1.0r4", "1.0.post4"},
                         {"1.0.rev", "1.0.post0"},
                         {"1.0a-1", "1.0a1"},
                         {"1.0a.-1", "1.0a0.post1"},
                         {"1.0DEV", "1.0.dev0"},
                         {"1.0dev-", "1.0.dev0"},
                         {"0!1.0", "1.0"},
                         {"2!01.002", "2!1.2"},
                         {"2.11.0+CU_130", "2.11.0+cu.130"},
                         {"1+007.a0-0", "1+7.a0.0"},
                         {"1+99999999999999999999999", "1+99999999999999999999999"},
                         {"1a1.post2.dev3+x", "1a1.post2.dev3+x"},
                         {"18446744073709551615", "18446744073709551615"}}) {
    EXPECT_EQ(Version::parse(row.text).to_string(), row.normal) << row.text;
  }
}

TEST(Version, WhatIsNone) {
  for (const char* text : {"",
                           " ",
                           "v",
                           "1.",
                           ".1",
                           "1..0",
                           "1.0+",
                           "1.0+a..b",
                           "1.0+a.",
                           "1.0-",
                           "1.0x",
                           "1.0 0",
                           "1!",
                           "!1",
                           "1!2!3",
                           "1.0a1a2",
                           "1.0.dev1.post1",
                           "1.0--1",
                           "1.0+ü",
                           "18446744073709551616",
                           "1.18446744073709551616",
                           "1a18446744073709551616",
                           "99999999999999999999!1"}) {
    EXPECT_THROW(Version::parse(text), Error) << text;
    EXPECT_FALSE(Version::try_parse(text)) << text;
  }
}

TEST(Version, MessageNamesThePlace) {
  try {
    Version::parse("1.0.x");
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "\"1.0.x\" is not a valid version: unexpected \".x\" (column 4)");
  }
}

TEST(Version, Order) {
  const char* const ascending[] = {"0",
                                   "1.dev0",
                                   "1.dev1",
                                   "1a0.dev0",
                                   "1a0",
                                   "1a0.post0",
                                   "1a1",
                                   "1b0",
                                   "1rc0",
                                   "1rc1",
                                   "1",
                                   "1+a",
                                   "1+a.b",
                                   "1+b",
                                   "1+1",
                                   "1+2.0",
                                   "1+10",
                                   "1+99999999999999999999999",
                                   "1.post0.dev0",
                                   "1.post0",
                                   "1.post1",
                                   "1.0.1",
                                   "1.1",
                                   "1.10",
                                   "2",
                                   "1!0.1",
                                   "2!0"};
  for (const char* const& a : ascending) {
    for (const char* const& b : ascending) {
      EXPECT_EQ(Version::parse(a) <=> Version::parse(b), &a <=> &b) << a << " and " << b;
    }
  }
  EXPECT_EQ(Version::parse("1.0"), Version::parse("1.0.0"));
  EXPECT_EQ(Version::parse("1.0+a"), Version::parse("1+A"));
}

Version random_version(std::mt19937& random) {
  const auto below = [&](unsigned n) { return random() % n; };
  Version version;
  version.epoch = below(8) == 0 ? 1 : 0;
  for (std::uint64_t i = 1 + below(3); i > 0; --i) version.release.push_back(below(3));
  if (below(3) == 0) version.pre = Version::Pre{"abr"[below(3)], below(2)};
  if (below(3) == 0) version.post = below(2);
  if (below(3) == 0) version.dev = below(2);
  for (std::uint64_t i = below(3); i > 0; --i) version.local.push_back(below(2) != 0 ? "a" : std::to_string(below(12)));
  return version;
}

TEST(Version, AnyVersionsAreOrderedAndPrintToThemselves) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<Version> versions;
  for (int i = 0; i < 120; ++i) versions.push_back(random_version(random));
  for (const Version& v : versions) {
    EXPECT_EQ(Version::parse(v.to_string()), v);
    EXPECT_EQ(Version::parse(v.to_string()).to_string(), v.to_string());
  }
  // Antisymmetric and transitive: after sorting, every pair is in order.
  std::sort(versions.begin(), versions.end());
  for (std::size_t i = 0; i < versions.size(); ++i) {
    for (std::size_t j = i; j < versions.size(); ++j) {
      EXPECT_LE(versions[i], versions[j]) << versions[i].to_string() << " " << versions[j].to_string();
      EXPECT_EQ(versions[i] == versions[j], versions[j] <= versions[i]);
    }
  }
}

}  // namespace
}  // namespace wheelsmith::pep
