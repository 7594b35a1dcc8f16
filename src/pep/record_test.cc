#include "pep/record.h"

#include <gtest/gtest.h>

#include <random>

namespace wheelsmith::pep {
namespace {

Record parse_record(std::string_view text) { return Record::parse(Bytes(text)); }

TEST(Record, Lines) {
  const Record record = parse_record(
      "a/b.py,sha256=abc_-1,12\r\n"
      "\"a,\"\"b\"\"\nc.py\",sha256=x=,0\n"
      "a.dist-info/RECORD,,");
  EXPECT_TRUE(record.problems.empty()) << record.problems[0];
  const std::vector<RecordLine> expected = {{"a/b.py", "sha256", "abc_-1", 12, 1},
                                            {"a,\"b\"\nc.py", "sha256", "x=", 0, 2},
                                            {"a.dist-info/RECORD", "", "", std::nullopt, 4}};
  EXPECT_EQ(record.lines, expected);
  EXPECT_TRUE(parse_record("").lines.empty());
  EXPECT_EQ(parse_record("a,,\rb,,\r").lines.size(), 2u);
}

TEST(Record, Problems) {
  struct Row {
    std::string_view text;
    const char* problem;
    std::size_t lines;
  };
  for (const Row& row :
       {Row{"a", "line 1: 1 columns instead of 3", 1},
        {"a,sha256=x,1,", "line 1: 4 columns instead of 3", 1},
        {"a,,\n\nb,,", "line 2: the line is empty", 2},
        {",sha256=x,1", "line 1: the path is empty", 0},
        {"a,sha256=x,-1", "line 1: the size \"-1\" is not a number", 1},
        {"a,sha256=x,99999999999999999999", "line 1: the size \"99999999999999999999\" is not a number", 1},
        {"a,abc,1", "line 1: the hash \"abc\" is not written as algorithm=value", 1},
        {"a,=abc,1", "line 1: the hash \"=abc\" is not written as algorithm=value", 1},
        {"a,sha256=,1", "line 1: the hash \"sha256=\" is not written as algorithm=value", 1},
        {"\"a\"b,,", "line 1: text follows the closing quote of a field", 1},
        {"x,,\n\"a,,\n", "line 2: a quoted field is not terminated", 1},
        {"a\\b,,", "line 1: the path \"a\\b\" has backslashes instead of \"/\"", 1},
        {"a\xff,,", "line 1: the path \"a\\xff\" is not UTF-8", 1}}) {
    const Record record = parse_record(row.text);
    ASSERT_EQ(record.problems.size(), 1u) << row.text;
    EXPECT_EQ(record.problems[0], row.problem);
    EXPECT_EQ(record.lines.size(), row.lines) << row.text;
  }
}

TEST(Record, AMillionProblemsAreToldInAHundred) {
  const Record record = parse_record(std::string(1000000, '\n'));
  ASSERT_EQ(record.problems.size(), 101u);
  EXPECT_EQ(record.problems.back(), "and 999900 more problems");
}

TEST(Record, EndlessListsTakeBoundedMemory) {
  std::string many;
  for (int i = 0; i < 300'001; ++i) many += "a,,\n";
  const Record record = Record::parse(Bytes(many));
  EXPECT_EQ(record.lines.size(), 300'000U);
  EXPECT_EQ(record.problems, std::vector<std::string>{"more than 300000 lines; the rest is not read"});
  const Record wide = Record::parse(Bytes("a,b=c,3" + std::string(1'000'000, ',')));
  EXPECT_EQ(wide.problems, std::vector<std::string>{"line 1: 1000003 columns instead of 3"});
}

TEST(Record, WhatIsWrittenIsRead) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::string text;
  std::vector<RecordLine> expected;
  std::uint64_t line = 1;
  for (int i = 0; i < 500; ++i) {
    RecordLine entry;
    for (std::uint64_t n = 1 + random() % 8; n > 0; --n) entry.path += "ab/,\"\r\n ="[random() % 10];
    if (random() % 2 == 0) entry.algorithm = "sha256", entry.hash = "a,\"=_-";
    if (random() % 2 == 0) entry.size = random();
    entry.line = line;
    for (const char c : entry.path) line += c == '\n' ? 1 : 0;
    ++line;
    text += to_csv_line(entry) + (random() % 2 == 0 ? "\n" : "\r\n");
    expected.push_back(entry);
  }
  const Record record = parse_record(text);
  EXPECT_TRUE(record.problems.empty()) << record.problems[0];
  EXPECT_EQ(record.lines, expected);
}

// The hash of nothing is in every description of SHA-256; the quoting is what Python's csv module writes.
TEST(Record, WrittenAsInstallersReadIt) {
  const RecordLine lines[] = {record_line("demo/__init__.py", sha256(Bytes()), 0),
                              record_line("demo/a,b \"c\".txt", sha256(Bytes()), 0)};
  EXPECT_EQ(record_text(lines, "demo-1.0.dist-info"),
            "demo/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"
            "\"demo/a,b \"\"c\"\".txt\",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"
            "demo-1.0.dist-info/RECORD,,\n");
}

TEST(Record, OwnFiles) {
  for (const char* name : {"RECORD", "RECORD.jws", "RECORD.p7s"})
    EXPECT_TRUE(is_record_or_signature(std::string("demo-1.0.dist-info/") + name, "demo-1.0.dist-info")) << name;
  for (const char* path : {"demo-1.0.dist-info/RECORDS", "demo-1.0.dist-info/RECORD.txt", "RECORD", "a/RECORD"})
    EXPECT_FALSE(is_record_or_signature(path, "demo-1.0.dist-info")) << path;
}

}  // namespace
}  // namespace wheelsmith::pep
