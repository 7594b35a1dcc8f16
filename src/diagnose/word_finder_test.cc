#include "diagnose/word_finder.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "diagnose/quick_scan.h"

namespace wheelsmith::diagnose {
namespace {

// A random text of few letters, so that words are in it.
std::string text_of(std::mt19937& random, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += "abcA\xff"[random() % 5];
  return text;
}

std::vector<int> all_of(const WordFinder& finder, std::string_view text) {
  std::vector<int> result;
  finder.all(text, result);
  return result;
}

TEST(WordFinder, FindsWordsInsideWordsAndInAnyCase) {
  const WordFinder finder({"he", "she", "his", "hers"});
  EXPECT_EQ(finder.find("ushers", 0), 4u);
  EXPECT_EQ(finder.find("USHERS", 0), 4u);
  EXPECT_EQ(all_of(finder, "ushers"), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(finder.find("xyz", 0), std::string_view::npos);
  EXPECT_EQ(finder.find("she", 2), std::string_view::npos);
  EXPECT_EQ(finder.find("", 0), std::string_view::npos);
  EXPECT_EQ(WordFinder().find("he", 0), std::string_view::npos);
  EXPECT_EQ(WordFinder(std::vector<std::string>()).find("he", 0), std::string_view::npos);
}

// Against the plain search, on random texts of few letters.
TEST(WordFinder, AgreesWithThePlainSearch) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> words;
    for (unsigned i = 0; i < 1 + random() % 6; ++i) words.push_back(to_lower(text_of(random, 1 + random() % 4)));
    const WordFinder finder(words);
    const std::string text = text_of(random, random() % 40);
    const std::string lower = to_lower(text);
    std::vector<int> expected;
    std::size_t first_end = std::string::npos;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::size_t at = lower.find(words[i]);
      if (at == lower.npos) continue;
      expected.push_back(static_cast<int>(i));
      first_end = std::min(first_end, at + words[i].size());
    }
    ASSERT_EQ(all_of(finder, text), expected) << text;
    ASSERT_EQ(finder.find(text, 0), first_end) << text;
  }
}

// Four bytes of each word are in every text that holds the word.
TEST(QuickScan, MissesNothing) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> words;
    for (unsigned i = 0; i < 1 + random() % 4; ++i) words.push_back(to_lower(text_of(random, 4 + random() % 6)));
    const QuickScan scan(words, text_of(random, 30));
    const WordFinder finder(words);
    const std::string text = text_of(random, random() % 200);
    const std::size_t end = finder.find(text, 0);
    if (end == text.npos) continue;
    const std::size_t maybe = scan.find(text, 0);
    ASSERT_NE(maybe, text.npos) << text;
    ASSERT_LE(maybe + 4, end) << text;
  }
  EXPECT_EQ(QuickScan().find("text", 0), std::string::npos);
  EXPECT_EQ(QuickScan({"abc"}, "").find("abc", 0), std::string::npos);
  EXPECT_EQ(QuickScan({"signal 9"}, "sign ignal gnal").find("Died of Signal 9", 0), 12u);
}

}  // namespace
}  // namespace wheelsmith::diagnose
