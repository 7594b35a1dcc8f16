#include "index/state.h"

#include <gtest/gtest.h>

namespace wheelsmith::index {
namespace {

State example() {
  State state;
  Facts facts;
  facts.sha256 = std::string(64, 'a');
  facts.requires_python = ">=3.9";
  facts.problem = "tabs\tand\nlines \\ too";
  state.files["a folder/a-1-py3-none-any.whl"] = {{1, 2, -3, 4}, facts};
  state.files["b"] = {{5, 6, 7, 8}, Facts{std::string(64, 'b'), "", "", "", "", ""}};
  state.sidecars["a.metadata"] = {"x", {1, 2, 3, 4}};
  state.pages["a/index.html"] = {"y", {1, 2, 3, 4}};
  return state;
}

TEST(State, IsReadAsItWasWritten) {
  const State state = example();
  const State again = State::parse(state.to_text());
  ASSERT_EQ(again.files.size(), 2U);
  for (const auto& [path, known] : state.files) {
    ASSERT_TRUE(again.files.contains(path));
    EXPECT_EQ(again.files.at(path).stat, known.stat);
    EXPECT_EQ(again.files.at(path).facts, known.facts);
  }
  EXPECT_EQ(again.pages, state.pages);
  EXPECT_EQ(again.sidecars, state.sidecars);
}

TEST(State, IsNothingWhenAnyByteOfItIsWrong) {
  const std::string text = example().to_text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = damaged[i] == '0' ? '1' : '0';
    EXPECT_TRUE(State::parse(damaged).files.empty()) << i;
    EXPECT_TRUE(State::parse(text.substr(0, i)).files.empty()) << i;
  }
  EXPECT_TRUE(State::parse(text + text).files.empty());
  EXPECT_TRUE(State::parse(text + "x").files.empty());
}

}  // namespace
}  // namespace wheelsmith::index
