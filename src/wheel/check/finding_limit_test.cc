#include "wheel/check/finding_limit.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace wheelsmith::wheel {
namespace {

Finding finding(const std::string& id, int number) {
  return {id, Severity::warning, "member " + std::to_string(number), "is wrong", "why", "fix"};
}

TEST(Limited, OfOneIdAHundredAndACount) {
  std::vector<Finding> findings;
  for (int i = 0; i < 100'000; ++i) findings.push_back(finding("often", i));
  for (int i = 0; i < 100; ++i) findings.push_back(finding("rare", i));
  const std::vector<Finding> few = limited(findings);
  ASSERT_EQ(few.size(), 201U);
  EXPECT_EQ(few[99], findings[99]);
  EXPECT_EQ(few[100], findings[100'000]);
  EXPECT_EQ(few[200].id, "often");
  EXPECT_EQ(few[200].severity, Severity::warning);
  EXPECT_EQ(few[200].what, "99900 more findings like these are not shown");
}

TEST(Limited, LongTextsAreCutBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 1'000'000) text += "\xc3\xa9";
  Finding finding{"id", Severity::error, text, text, "why", "fix"};
  const std::vector<Finding> few = limited({finding});
  EXPECT_EQ(few[0].what, few[0].subject);
  EXPECT_LT(few[0].what.size(), 8100U);
  EXPECT_TRUE(is_valid_utf8(few[0].what));
  EXPECT_TRUE(few[0].what.ends_with("… (1.0 MB in all)")) << few[0].what.substr(7990);
}

}  // namespace
}  // namespace wheelsmith::wheel
