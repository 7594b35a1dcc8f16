#include "store/manifest.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/error.h"

namespace wheelsmith::store {
namespace {

using Inputs = std::vector<std::pair<std::string, std::string>>;

Manifest manifest(const Inputs& inputs) {
  Manifest result;
  for (const auto& [name, value] : inputs) result.set(name, value);
  return result;
}

TEST(Manifest, KeyDoesNotDependOnOrder) {
  const Manifest one = manifest({{"source", "1"}, {"archs", "9.0"}, {"env:CC", "gcc"}});
  const Manifest other = manifest({{"env:CC", "gcc"}, {"source", "0"}, {"source", "1"}, {"archs", "9.0"}});
  EXPECT_EQ(one.key(), other.key());
  EXPECT_EQ(one.key().size(), 64u);
  EXPECT_EQ(one, other);
}

// Every way to shift a boundary between names and values that a naive text format would miss.
TEST(Manifest, KeyDistinguishesSimilarInputs) {
  const std::vector<Inputs> table = {
      {},
      {{"", ""}},
      {{"a", ""}},
      {{"", "a"}},
      {{"a", "b"}},
      {{"ab", ""}},
      {{"a", "b"}, {"c", "d"}},
      {{"a", "bc"}, {"d", ""}},
      {{"a", "b\nc=d"}},
      {{"a", "b1:c1:d"}},
      {{"a", "1:b"}},
      {{"a1:b", ""}},
      {{"a", std::string("\0", 1)}},
      {{"a", "\xff"}},
      {{"a", "\xfe"}},
      {{"a", "\xef\xbf\xbd"}},
  };
  std::set<std::string> keys;
  for (const Inputs& inputs : table) EXPECT_TRUE(keys.insert(manifest(inputs).key()).second) << inputs.size();
  EXPECT_EQ(keys.size(), table.size());
}

TEST(Manifest, RoundTrips) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto word = [&] {
    std::string text(random() % 12, ' ');
    for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? random() % 256 : 'a' + random() % 26);
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    Manifest written;
    for (unsigned i = random() % 8; i > 0; --i) written.set(word(), word());
    const std::string text = document::to_json(written.to_value());
    const Manifest read = Manifest::from_value(document::parse_json(text, "manifest"));
    ASSERT_EQ(read, written) << text;
    ASSERT_EQ(read.key(), written.key());
  }
}

TEST(Manifest, RejectsInvalidDocuments) {
  for (const char* text : {"null", "[]", "{}", R"({"inputs":{}})", R"({"inputs":[["a"]]})", R"({"inputs":[["a",1]]})",
                           R"({"inputs":["ab"]})", R"({"inputs":[["a","b"],["a","c"]]})",
                           R"({"inputs":[],"raw":[["0","00"]]})", R"({"inputs":[],"raw":[["zz","00"]]})"})
    EXPECT_THROW(Manifest::from_value(document::parse_json(text, "manifest")), Error) << text;
}

TEST(Manifest, ReasonsAreSentences) {
  const Manifest before = manifest({{"source", "1"}, {"archs", "9.0"}, {"tool:nvcc/cicc", "a"}, {"env:CC", "gcc"}});
  const struct {
    Inputs after;
    const char* reason;
  } table[] = {
      {{{"source", "1"}, {"archs", "9.0"}, {"tool:nvcc/cicc", "a"}, {"env:CC", "gcc"}}, "nothing changed"},
      {{{"source", "2"}, {"archs", "9.0"}, {"tool:nvcc/cicc", "a"}, {"env:CC", "gcc"}}, "source changed"},
      {{{"source", "1"}, {"archs", "9.0"}, {"tool:nvcc/cicc", "b"}, {"env:CC", "gcc"}, {"env:CXXFLAGS", "-g"}},
       "tool:nvcc/cicc changed, env:CXXFLAGS is new"},
      {{{"source", "1"}, {"archs", "9.0"}, {"tool:nvcc/cicc", "a"}}, "env:CC was removed"},
      {{{"source", "2"}, {"archs", "8.0"}, {"tool:nvcc/cicc", "b"}, {"env:A\n", ""}},
       "archs changed, source changed, tool:nvcc/cicc changed and 2 more"},
      {{{"source", "2"}, {"archs", "9.0"}, {"tool:nvcc/cicc", "b"}, {"env:CC", "gcc"}, {"container", "x"}},
       "container is new, source changed, tool:nvcc/cicc changed"},
  };
  for (const auto& row : table) EXPECT_EQ(reason(changes(before, manifest(row.after))), row.reason);
}

TEST(Manifest, ChangesHaveBothValues) {
  const auto found = changes(manifest({{"a", "1"}, {"b", "2"}}), manifest({{"a", "3"}, {"c", "4"}}));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].before + found[0].after, "13");
  EXPECT_EQ(found[1].kind, Change::Kind::added);
  EXPECT_EQ(found[1].after, "4");
  EXPECT_EQ(found[2].kind, Change::Kind::removed);
  EXPECT_EQ(found[2].before, "2");
}

}  // namespace
}  // namespace wheelsmith::store
