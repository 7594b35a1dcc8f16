#include "archive/tar_writer.h"

#include <gtest/gtest.h>

#include "archive/archive.h"
#include "base/error.h"

namespace wheelsmith::archive {
namespace {

TEST(TarWriter, WritesWhatTheReaderReads) {
  const std::string long_name = "a/" + std::string(120, 'n') + "/b.txt";
  const std::string block(512, 'x');
  StringSink sink;
  TarWriter writer(sink);
  writer.add("index.json", "{}");
  writer.add("empty", "");
  writer.add(long_name, block);
  writer.begin("pieces", 1000);
  writer.write(Bytes(std::string_view(block)));
  writer.write(Bytes(std::string_view(block).substr(0, 488)));
  writer.finish();
  EXPECT_EQ(sink.text().size() % 512, 0U);
  std::vector<std::pair<std::string, std::string>> found;
  read_tar(
      Bytes(std::string_view(sink.text())),
      [&](const TarEntry& entry) {
        EXPECT_EQ(entry.kind, TarEntry::Kind::file);
        EXPECT_EQ(entry.mode, 0644U);
        found.emplace_back(entry.name, "");
      },
      [&](Bytes bytes) { found.back().second += bytes.text(); });
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"index.json", "{}"}, {"empty", ""}, {long_name, block}, {"pieces", std::string(1000, 'x')}};
  EXPECT_EQ(found, wanted);
}

TEST(TarWriter, RefusesWhatWouldBeNoArchive) {
  StringSink sink;
  TarWriter writer(sink);
  for (const char* name : {"", "/x", "../x", "a/../b", "a//b", "./a"})
    EXPECT_THROW(writer.add(name, "x"), Error) << name;
  writer.begin("short", 2);
  EXPECT_THROW(writer.write(Bytes(std::string_view("abc"))), Error);
  writer.write(Bytes(std::string_view("a")));
  EXPECT_THROW(writer.finish(), Error);
  EXPECT_THROW(writer.begin("next", 1), Error);
}

}  // namespace
}  // namespace wheelsmith::archive
