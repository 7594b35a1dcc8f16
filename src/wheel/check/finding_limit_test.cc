#include "wheel/check/finding_limit.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace wheelsmith::wheel {
namespace {

Finding finding(const std::string& id, int number) {
  return {id, Severity::warning, "member " + std::to_string(number), "is wrong", "why", "fix"};
}

TEST(Limited, OfOneIdTenThousandAndACount) {
  std::vector<Finding> findings;
  for (int i = 0; i < 100'000; ++i) findings.push_back(finding("often", i));
  for (int i = 0; i < 100; ++i) findings.push_back(finding("rare", i));
  const std::vector<Finding> few = limited(findings);
  ASSERT_EQ(few.size(), 10'101U);
  EXPECT_EQ(few[9'999], findings[9'999]);
  EXPECT_EQ(few[10'000], findings[100'000]);
  EXPECT_EQ(few[10'100].id, "often");
  EXPECT_EQ(few[10'100].severity, Severity::warning);
  EXPECT_EQ(few[10'100].what, "90000 more findings with this id are not shown");
}

TEST(Limited, AReportThatGrewLongKeepsAHundredOfEachId) {
  std::vector<Finding> findings;
  for (int i = 0; i < 10'000; ++i) findings.push_back(finding("long", i));
  for (Finding& each : findings) each.what = std::string(5'000, 'x');
  for (int i = 0; i < 1'000; ++i) findings.push_back(finding("later", i));
  const std::vector<Finding> few = limited(findings);
  EXPECT_LT(few.size(), 4'500U);
  EXPECT_EQ(few.back().what.substr(few.back().what.find(' ')), " more findings with this id are not shown");
  EXPECT_EQ(few[few.size() - 2].what, "900 more findings with this id are not shown");
}

TEST(Limited, LongTextsAreCutBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 1'000'000) text += "\xc3\xa9";
  Finding finding{"id", Severity::error, text, text, "why", "fix"};
  const std::vector<Finding> few = limited({finding});
  EXPECT_EQ(few[0].what, few[0].subject);
  EXPECT_LT(few[0].what.size(), 8100U);
  EXPECT_TRUE(is_valid_utf8(few[0].what));
  EXPECT_TRUE(few[0].what.ends_with("… (1.0 MB in total)")) << few[0].what.substr(7990);
}

}  // namespace
}  // namespace wheelsmith::wheel
