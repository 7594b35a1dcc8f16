#include "wheel/check/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace wheelsmith::wheel {
namespace {

// One id of each file of texts, with a word that only its own text has: a section must end where the next one begins.
TEST(Explain, KnowsFindingsOfEveryKind) {
  const struct {
    const char* id;
    const char* says;
  } cases[] = {
      {"member-unreadable", "unzip -t"},      {"record-self-missing", "leaves it behind"},
      {"elf-malformed", "ELF file"},          {"zip-directory-place", "directory's offset"},
      {"zip-hidden-member", "does not list"}, {"metadata-byte-order-mark", "byte order mark"},
      {"wheel-name-label-length", "16"},      {"elf-segment-outside-file", "SIGBUS"},
      {"platform-machine", "-march"},         {"symbol-undefined", "undefined symbol"},
      {"loader-incomplete", "follows"},
  };
  for (const auto& [id, says] : cases) {
    const auto text = explain(id);
    ASSERT_TRUE(text) << id;
    EXPECT_NE(text->find(says), std::string::npos) << id << ": " << *text;
    EXPECT_EQ(text->find("## "), std::string::npos) << id << " runs into the next section";
  }
}

TEST(Explain, SaysNothingOfWhatIsNoFinding) {
  for (const char* id : {"", "no-such-finding", "zip", "zip-", "zip-bom", "zip-bombs", "ZIP-BOMB", "## zip-bomb",
                         " zip-bomb", "zip-bomb\n"}) {
    EXPECT_FALSE(explain(id)) << id;
  }
}

TEST(Explain, HasOneTextForEachId) {
  const std::vector<std::string> ids = explained_ids();
  EXPECT_GT(ids.size(), 100u);
  std::set<std::string> seen;
  for (const std::string& id : ids) {
    EXPECT_TRUE(seen.insert(id).second) << id << " occurs twice";
    EXPECT_TRUE(!id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    })) << id;
    const auto text = explain(id);
    ASSERT_TRUE(text) << id;
    // Short enough to be read, and at least a sentence.
    EXPECT_GT(text->size(), 40u) << id;
    EXPECT_LT(text->size(), 1500u) << id;
    EXPECT_TRUE(text->ends_with('.')) << id << ": " << *text;
    EXPECT_EQ(*text, trim(*text)) << id;
  }
}

}  // namespace
}  // namespace wheelsmith::wheel
