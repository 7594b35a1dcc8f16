#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "document/plain_toml.h"
#include "document/value.h"

namespace wheelsmith::document {
namespace {

std::string error_of(auto&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// The fuzz target toml compares the values with those of toml++.
TEST(PlainToml, ReadsSimpleDocumentsOnly) {
  for (const char* text :
       {"", "# nothing", "a = 1\n[b]\nc = \"x\\n\"\n[[d]]\ne = ['f', 2, true,]\n[d.g]\n", "a = '''x'''''"})
    EXPECT_TRUE(read_plain_toml(text)) << text;
  for (const char* text : {"a = 1.5",
                           "a = { b = 1 }",
                           "a.b = 1",
                           "\"a\" = 1",
                           "a = 1\na = 2",
                           "[a]\n[a]",
                           "a = []\n[[a]]",
                           "[a.b]\n[a]",
                           "a = 1\r\n",
                           "a = 007",
                           "a = \"\\u00e9\"",
                           "a = 2020-01-01",
                           "a = 1 b = 2",
                           "a = [1",
                           "a = \"\xff\"",
                           "a",
                           "[a",
                           "a = \"x\ny\"",
                           "a = 9999999999999999999",
                           "a = 1_000",
                           "a = +1",
                           "a = \"\x01\""})
    EXPECT_FALSE(read_plain_toml(text)) << text;
}

TEST(Table, KeepsTheOrderAndFindsByName) {
  Table table;
  table["b"] = 1;
  table["a"] = 2;
  table["c"] = 3;
  table["a"] = 4;
  EXPECT_EQ(table.keys(), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(table.find("a")->integer_or(0), 4);
  EXPECT_EQ(table.find("d"), nullptr);
  table.erase("b");
  table.erase("d");
  EXPECT_EQ(table.keys(), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(table.find("c")->integer_or(0), 3);
  Table other;
  other["c"] = 3;
  EXPECT_NE(table, other);
  other["a"] = 4;
  EXPECT_EQ(table, other) << "the order does not count";
}

TEST(Table, OfAKeyThatComesAgainTheLastStands) {
  const Table table(std::vector<Member>{{"x", 1}, {"y", 2}, {"x", 3}, {"x", 4}});
  EXPECT_EQ(table.keys(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(table.find("x")->integer_or(0), 4);
}

TEST(Toml, GivesValuesWithTheirLines) {
  const Table table = parse_toml(
      "z = 1\n"
      "name = \"x\" # words\n"
      "[b.c]\n"
      "list = [1, 2.5, true,\n  'four']\n"
      "day = 2026-11-15T10:00:00Z\n"
      "[[a]]\nk = {p = 1, o = 2}\n[[a]]\n",
      "f.toml");
  EXPECT_EQ(table.keys(), (std::vector<std::string>{"z", "name", "b", "a"}));
  EXPECT_EQ(table.find("name")->line, 2U);
  const Value& c = (*table.find("b"))["c"];
  EXPECT_EQ(c.line, 3U);
  EXPECT_EQ(c["list"].kind(), "a list");
  EXPECT_EQ(c["list"].array()->at(1).number(), 2.5);
  EXPECT_EQ(c["list"].array()->at(3).line, 5U);
  EXPECT_EQ(c["list"].texts(), std::vector<std::string>{"four"});
  EXPECT_EQ(c["day"].text_or(), "2026-11-15T10:00:00Z");
  EXPECT_EQ(table.find("a")->array()->size(), 2U);
  EXPECT_EQ(table.find("a")->array()->at(0)["k"].table()->keys(), (std::vector<std::string>{"p", "o"}));
  EXPECT_TRUE(c["nothing"]["deeper"].is_null());
}

TEST(Toml, SaysWhereAMistakeIs) {
  const auto parse = [](const std::string& text) { return error_of([&] { (void)parse_toml(text, "f.toml"); }); };
  EXPECT_EQ(parse("a = 1\nb = \n").rfind("f.toml:2: ", 0), 0U) << parse("a = 1\nb = \n");
  EXPECT_EQ(parse("a = 1\na = 2\n").rfind("f.toml:2: ", 0), 0U);
  EXPECT_EQ(parse("[:key]").rfind("f.toml", 0), 0U);
  EXPECT_EQ(parse("a = \"\xff\"").rfind("f.toml:1: ", 0), 0U);
}

TEST(Toml, NonAsciiMustBeQuoted) {
  const auto parse = [](const std::string& text) { return error_of([&] { (void)parse_toml(text, "f.toml"); }); };
  // Where no text can begin, a quote hides nothing.
  for (const char* text : {"2=0\"\xef\xb2\xbf", "a = x'\xc3\xa9'", "a = \"b\"'\xc3\xa9'", "a = 1 \"\xc3\xa9\""})
    EXPECT_THROW((void)parse_toml(text, "t"), Error) << text;
  EXPECT_NO_THROW((void)parse_toml("\"\xc3\xa9\" = [ 'a', # c\n \"b\", {x.'y' = \"z\"}]\n['q'.\"r\"]\n", "t"));
  const std::string refused = ": a non-ASCII character must be quoted";
  EXPECT_EQ(parse("a = 1\n\xc3\xa9 = 1"), "f.toml:2" + refused);
  EXPECT_EQ(parse("\xef\xbb\xbbtle\nld1"), "f.toml:1" + refused);
  EXPECT_EQ(parse("a = \"x\" \xc2\xa0"), "f.toml:1" + refused);
  EXPECT_EQ(parse("\xef\xbb\xbf"
                  "a = \"\\\"\xc3\xa9\" # \xc3\xa9\n'\xc3\xa9' = '\xc3\xa9'\n"
                  "b = \"\"\"\n\"\xc3\xa9\\\"\"\"\"\"\nc = '''\xc3\xa9''''\nd = \"\xc3\xa9\""),
            "no error");
}

TEST(Toml, RefusesWhatNestsWithoutEnd) {
  std::string dots = "a";
  for (int i = 0; i < 500'000; ++i) dots += ".a";
  EXPECT_EQ(error_of([&] { (void)parse_toml("x = 1\n" + dots + " = 1", "f"); }), "f:2: more than 1000 dots in a line");
  EXPECT_EQ(error_of([&] { (void)parse_toml("[" + dots.substr(0, 401) + "]", "f"); }),
            "f:1: nested deeper than 64 levels");
  EXPECT_NE(error_of([&] { (void)parse_toml("a = " + std::string(100'000, '['), "f"); }), "no error");
  std::string braces;
  for (int i = 0; i < 100'000; ++i) braces += "{a=";
  EXPECT_NE(error_of([&] { (void)parse_toml("a = " + braces, "f"); }), "no error");
  EXPECT_EQ(error_of([&] { (void)parse_toml(std::string(k_max_toml_size + 1, '\n'), "f"); }),
            "f:1: 4.2 MB of TOML exceed the limit of 4.2 MB");
}

TEST(Json, GivesValuesWithTheirLines) {
  const Value value =
      parse_json("{\n \"b\": 1,\n \"a\": [true, null,\n 2.5\n, \"\\u00e9\"], \"b\": 18446744073709551615}", "f");
  EXPECT_EQ(value.table()->keys(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(value["b"].number(), 18446744073709551616.0) << "the last of two stands";
  EXPECT_EQ(value["b"].integer(), nullptr);
  EXPECT_EQ(value["a"].line, 3U);
  EXPECT_EQ(value["a"].array()->at(2).line, 4U);
  EXPECT_EQ(value["a"].array()->at(3).text_or(), "\xc3\xa9");
  EXPECT_EQ(parse_json("-7\n", "f").integer_or(0), -7);
}

TEST(Json, SaysWhereAMistakeIs) {
  const auto parse = [](const std::string& text) { return error_of([&] { (void)parse_json(text, "f.json"); }); };
  EXPECT_EQ(parse("{\n\"a\": 1,\n}").rfind("f.json:3: syntax error", 0), 0U) << parse("{\n\"a\": 1,\n}");
  for (const char* text : {"", "[1] 2", "\"\xff\"", "[1,", "nul", "\"\\ud800\"", "1e999"}) {
    EXPECT_EQ(parse(text).rfind("f.json:1: ", 0), 0U) << text << ": " << parse(text);
  }
  EXPECT_EQ(parse(std::string(1'000'000, '[')), "f.json:1: nested deeper than 64 levels");
}

TEST(Json, ManyMembersAreNoQuadraticWork) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i) text += "\"k" + std::to_string(i % 200'000) + "\":1,";
  text.back() = '}';
  EXPECT_EQ(parse_json(text, "f").table()->size(), 200'000U);
}

TEST(Json, Writes) {
  Table table;
  table["b"] = Array{1, 2.0, "x\xff\n"};
  table["a"] = Table();
  EXPECT_EQ(to_json(table, -1), "{\"b\":[1,2.0,\"x\xef\xbf\xbd\\n\"],\"a\":{}}");
  EXPECT_EQ(canonical_json(table), "{\"a\":{},\"b\":[1,2.0,\"x\xef\xbf\xbd\\n\"]}");
  EXPECT_EQ(to_json(Value()), "null");
  table["c"] = Array{Table(), Array(), Value(), true, "\"\\\x7f é"};
  EXPECT_EQ(to_json(table),
            "{\n  \"b\": [\n    1,\n    2.0,\n    \"x\xef\xbf\xbd\\n\"\n  ],\n  \"a\": {},\n"
            "  \"c\": [\n    {},\n    [],\n    null,\n    true,\n    \"\\\"\\\\\x7f é\"\n  ]\n}");
}

TEST(TomlWriter, LooksLikeTomlWrittenByHand) {
  Table table = parse_toml("[a.b]\nx=1\n[a.b.c]\ny='q'\n[[t]]\ns=\"\"\"one\ntwo \"quoted\"\n\"\"\"\n", "f");
  table["name"] = "n";
  EXPECT_EQ(to_toml(table),
            "name = \"n\"\n"
            "\n[a.b]\nx = 1\n"
            "\n[a.b.c]\ny = \"q\"\n"
            "\n[[t]]\ns = \"\"\"\none\ntwo \"quoted\"\n\"\"\"\n");
}

// Values of every kind, at random.
class RandomValues {
 public:
  explicit RandomValues(unsigned seed) : m_random(seed) {}

  Table table(int depth) {
    Table result;
    for (int i = pick(4); i > 0; --i) result[text()] = value(depth);
    return result;
  }

 private:
  int pick(int limit) { return static_cast<int>(m_random() % static_cast<unsigned>(limit)); }

  std::string text() {
    static const std::vector<std::string> k_parts = {"a", "-", ".", "\"", "\n", "\\", "\r", "\t",     "\x01", "\x7f",
                                                     "é", "#", "=", "]",  "'",  "{",  " ",  "\"\"\"", "x1"};
    std::string result;
    for (int i = pick(6); i > 0; --i)
      result += k_parts[static_cast<std::size_t>(pick(static_cast<int>(k_parts.size())))];
    return result;
  }

  Value value(int depth) {
    switch (pick(depth > 0 ? 7 : 4)) {
      case 0: return pick(2) == 0;
      case 1: return static_cast<std::int64_t>(m_random()) * (pick(2) == 0 ? 1 : -2'000'000'000LL);
      case 2: return std::ldexp(static_cast<double>(m_random()), pick(80) - 60);
      case 3: return text();
      case 4: return table(depth - 1);
      default: {
        Array list;
        const bool tables = pick(2) == 0;
        for (int i = pick(4); i > 0; --i) list.push_back(tables ? Value(table(depth - 1)) : value(depth - 1));
        return list;
      }
    }
  }

  std::mt19937 m_random;
};

TEST(Property, WhatIsWrittenIsReadBack) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomValues random(seed);
  for (int i = 0; i < 500; ++i) {
    const Table table = random.table(4);
    const std::string toml = to_toml(table);
    ASSERT_EQ(parse_toml(toml, "f"), table) << toml;
    ASSERT_EQ(parse_json(to_json(table), "f"), Value(table)) << to_json(table);
    ASSERT_EQ(parse_json(canonical_json(table), "f"), Value(table));
  }
}

}  // namespace
}  // namespace wheelsmith::document
