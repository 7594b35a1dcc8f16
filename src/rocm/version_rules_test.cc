#include "rocm/version_rules.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "pep/version.h"

namespace wheelsmith::rocm {
namespace {

const std::string k_sha = "0123456789abcdef0123456789abcdef01234567";

VersionWanted wanted(const std::string& type) {
  VersionWanted result;
  result.release_type = type;
  result.base_version = "7.10.0";
  result.base_date = "20261101";
  result.date = "20261115";
  result.git_sha = k_sha;
  if (type == "prerelease") result.prerelease_version = "2";
  return result;
}

std::string refusal_of(const VersionWanted& value) {
  try {
    return "no error, but " + package_version(value);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(VersionRules, EachType) {
  const struct {
    std::string type, version;
  } rows[] = {
      {"release", "7.10.0"},
      {"prerelease", "7.10.0rc2"},
      {"nightly", "7.10.0a20261115"},
      {"nightly-bkc", "7.10.0a20261101+bkc.20261115"},
      {"ci", "7.10.0.dev0+" + k_sha},
      {"dev", "7.10.0.dev0+" + k_sha},
      {"dev-bkc", "7.10.0.dev0+" + k_sha},
  };
  EXPECT_EQ(std::size(rows), release_types().size());
  for (const auto& row : rows) {
    const std::string version = package_version(wanted(row.type));
    EXPECT_EQ(version, row.version);
    EXPECT_EQ(pep::Version::parse(version).to_string(), version);
  }
}

TEST(VersionRules, AreInOrder) {
  std::vector<VersionWanted> order = {wanted("dev"),     wanted("nightly"),    wanted("nightly-bkc"),
                                      wanted("nightly"), wanted("prerelease"), wanted("release")};
  order[1].date = "20261101";  // the nightly that the bkc build is of, and the one after it
  order[3].date = "20261102";
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_LT(pep::Version::parse(package_version(order[i - 1])), pep::Version::parse(package_version(order[i]))) << i;
}

TEST(VersionRules, ASuffixOfOnesOwn) {
  VersionWanted value = wanted("");
  value.custom_suffix = ".dev0+mine";
  EXPECT_EQ(package_version(value), "7.10.0.dev0+mine");
  value.custom_suffix = "-Alpha";
  EXPECT_EQ(refusal_of(value), "the version \"7.10.0-Alpha\" is not in its normal form 7.10.0a0");
  value.custom_suffix = " b";
  EXPECT_EQ(refusal_of(value), "\"7.10.0 b\" is not a valid Python package version");
  value.release_type = "nightly";
  EXPECT_EQ(refusal_of(value), "pass either a release type or a suffix");
  EXPECT_EQ(refusal_of(wanted("")), "pass either a release type or a suffix");
}

TEST(VersionRules, WhatIsWrongIsSaid) {
  const auto with = [](const std::string& type, std::string VersionWanted::* member, const std::string& text) {
    VersionWanted value = wanted(type);
    value.*member = text;
    return refusal_of(value);
  };
  EXPECT_EQ(with("nighty", &VersionWanted::date, "20261115"), "unknown release type \"nighty\"; did you mean nightly?");
  EXPECT_EQ(with("release", &VersionWanted::base_version, "7.10"),
            "the base version is \"7.10\": expected three numbers such as 7.10.0");
  EXPECT_EQ(with("release", &VersionWanted::base_version, ""),
            "the base version is missing: expected three numbers such as 7.10.0");
  EXPECT_EQ(with("release", &VersionWanted::base_version, "07.10.0"),
            "the version \"07.10.0\" is not in its normal form 7.10.0");
  EXPECT_EQ(with("release", &VersionWanted::prerelease_version, "1"),
            "--prerelease-version requires the release type prerelease, not release");
  EXPECT_EQ(with("prerelease", &VersionWanted::prerelease_version, ""),
            "a prerelease needs its number: --prerelease-version N");
  EXPECT_EQ(with("prerelease", &VersionWanted::prerelease_version, "x"),
            "the prerelease version is \"x\": expected a number");
  EXPECT_EQ(with("nightly", &VersionWanted::date, "20260230"),
            "the build date is \"20260230\": expected a date such as 20261115");
  EXPECT_EQ(with("nightly", &VersionWanted::date, "20240229"), "no error, but 7.10.0a20240229");
  EXPECT_EQ(with("nightly", &VersionWanted::date, "20230229"),
            "the build date is \"20230229\": expected a date such as 20261115");
  EXPECT_EQ(with("nightly", &VersionWanted::date, ""), "the build date is missing: expected a date such as 20261115");
  EXPECT_EQ(with("dev-bkc", &VersionWanted::base_date, ""),
            "the base date, which a bkc build needs, is missing: expected a date such as 20261115");
  EXPECT_EQ(with("ci", &VersionWanted::git_sha, ""), "a build of this type needs its git commit");
  EXPECT_EQ(with("ci", &VersionWanted::git_sha, "abc"), "\"abc\" is not a git commit of 40 hex digits");
}

}  // namespace
}  // namespace wheelsmith::rocm
