#include "zip/writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>

#include "base/error.h"
#include "testing/zip_builder.h"
#include "zip/format.h"
#include "zip/test_archive.h"

namespace wheelsmith::zip {
namespace {

using testing::ZipBuilder;
using testing::ZipDescriptor;

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

NewMember member(const std::string& name, const std::string& contents) {
  const auto text = std::make_shared<std::string>(contents);
  return {name, 0644, contents.size(), [text] { return Blob{text, Bytes(*text)}; }};
}

std::string noise(std::mt19937_64& random, std::size_t size) {
  std::string text;
  while (text.size() < size) text += static_cast<char>(random() & 0xff);
  return text;
}

const std::string k_prose(1000, 'x');

TEST(Writer, WritesWhatReadersRead) {
  StringSink sink;
  Writer writer(sink);
  writer.add("demo/a.py", Bytes(k_prose));
  writer.add("demo/tool", Bytes(std::string_view("#!/bin/sh\n")), 0755);
  writer.add("demo/empty", Bytes());
  writer.add("demo/st\xc3\xa4rke", Bytes(k_prose), 0644, Packing::stored);
  const std::uint64_t size = writer.finish();
  EXPECT_EQ(size, sink.text().size());

  const Archive archive = open(sink.text());
  expect_clean(archive);
  ASSERT_EQ(archive.entries().size(), 4u);
  EXPECT_EQ(read(archive, "demo/a.py"), k_prose);
  EXPECT_EQ(read(archive, "demo/tool"), "#!/bin/sh\n");
  EXPECT_EQ(read(archive, "demo/empty"), "");
  EXPECT_EQ(read(archive, "demo/st\xc3\xa4rke"), k_prose);
  const std::vector<Entry>& entries = archive.entries();
  EXPECT_EQ(entries[0].method, 8);
  EXPECT_EQ(entries[1].method, 0) << "ten bytes do not get smaller";
  EXPECT_EQ(entries[3].method, 0);
  EXPECT_EQ(entries[0].unix_mode(), 0100644u);
  EXPECT_EQ(entries[1].unix_mode(), 0100755u);
  EXPECT_EQ(entries[0].flags, 0);
  EXPECT_EQ(entries[3].flags, k_flag_utf8);
  EXPECT_EQ(entries[0].date, (1 << 5) | 1) << "1980-01-01";
  EXPECT_EQ(entries[0].time, 0);
}

TEST(Writer, AnArchiveOfNothingIsAnEndRecord) {
  StringSink sink;
  EXPECT_EQ(Writer(sink).finish(), 22u);
  EXPECT_TRUE(open(sink.text()).entries().empty());
}

TEST(Writer, TakesTheTimeFromTheCaller) {
  struct Case {
    std::int64_t seconds;
    unsigned year, month, day, hour, minute, second;
  };
  for (const Case& c : {Case{0, 1980, 1, 1, 0, 0, 0},
                        {-5, 1980, 1, 1, 0, 0, 0},
                        {315'532'801, 1980, 1, 1, 0, 0, 0},
                        {951'782'399, 2000, 2, 28, 23, 59, 58},
                        {951'782'400, 2000, 2, 29, 0, 0, 0},
                        {951'868'800, 2000, 3, 1, 0, 0, 0},
                        {1'735'689'599, 2024, 12, 31, 23, 59, 58},
                        {1'735'689'600, 2025, 1, 1, 0, 0, 0},
                        {4'107'542'400, 2100, 3, 1, 0, 0, 0},
                        {std::numeric_limits<std::int64_t>::max(), 2107, 12, 31, 23, 59, 58}}) {
    StringSink sink;
    Writer writer(sink, {.time = c.seconds});
    writer.add("a", Bytes());
    writer.finish();
    const Archive archive = open(sink.text());
    const Entry& entry = archive.entries().at(0);
    EXPECT_EQ(entry.date, ((c.year - 1980) << 9) | (c.month << 5) | c.day) << c.seconds;
    EXPECT_EQ(entry.time, (c.hour << 11) | (c.minute << 5) | (c.second / 2)) << c.seconds;
  }
}

TEST(Writer, RefusesNamesThatNoArchiveShouldHave) {
  StringSink sink;
  Writer writer(sink);
  writer.add("a", Bytes());
  EXPECT_NE(error_of([&] { writer.add("a", Bytes()); }).find("twice"), std::string::npos);
  EXPECT_NE(error_of([&] { writer.add("", Bytes()); }).find("must have a name"), std::string::npos);
  EXPECT_NE(error_of([&] { writer.add("\xff", Bytes()); }).find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of([&] { writer.add(std::string(65536, 'n'), Bytes()); }).find("too long"), std::string::npos);
  EXPECT_NE(error_of([&] { writer.add_all({member("b", ""), member("b", "")}); }).find("twice"), std::string::npos);
}

TEST(Writer, CopiesPackedBytesUnderNewHeaders) {
  const std::string old =
      ZipBuilder()
          .add({.name = "a", .data = k_prose, .descriptor = ZipDescriptor::with_signature, .flags = 8})
          .add({.name = "b", .data = "stored", .deflated = false, .mode = 0100755})
          .add({.name = "wide", .data = k_prose, .zip64 = true})
          .build();
  const Archive from = open(old);
  StringSink sink;
  Writer writer(sink);
  for (const Entry& entry : from.entries()) writer.add_raw(from, entry, "x/" + entry.name, entry.unix_mode());
  writer.finish();
  const Archive archive = open(sink.text());
  expect_clean(archive);
  for (const Entry& entry : from.entries()) {
    const Entry* copy = archive.find("x/" + entry.name);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(archive.packed(*copy).text(), from.packed(entry).text());
    EXPECT_EQ(archive.read(*copy).bytes.text(), from.read(entry).bytes.text());
    EXPECT_EQ(copy->flags, 0) << "no descriptor";
    EXPECT_FALSE(copy->zip64);
  }
  EXPECT_EQ(archive.find("x/b")->unix_mode(), 0100755u);
}

TEST(Writer, RefusesMembersThatCannotBeRead) {
  const std::string old =
      ZipBuilder()
          .add({.name = "encrypted", .data = k_prose, .flags = 1})
          .add({.name = "method", .data = k_prose, .local = {.method = 14}, .directory = {.method = 14}})
          .add({.name = "size", .data = "abc", .deflated = false, .directory = {.size = 7}})
          .build();
  const Archive from = open(old);
  StringSink sink;
  Writer writer(sink);
  for (const Entry& entry : from.entries()) {
    EXPECT_EQ(error_of([&] { writer.add_raw(from, entry, entry.name); }).find(entry.name + ": "), 0u) << entry.name;
  }
  EXPECT_EQ(writer.finish(), 22u) << "what was refused left nothing behind";
}

TEST(Writer, DeflatesSideBySideToTheSameBytes) {
  std::mt19937_64 random(7);
  std::vector<NewMember> members;
  for (int i = 0; i < 300; ++i) {
    std::string text = noise(random, random() % 50);
    for (int doubling = static_cast<int>(random() % 10); doubling > 0; --doubling) text += text;
    members.push_back(member("m" + std::to_string(i), text));
  }
  std::string first;
  for (const WriterOptions& options :
       {WriterOptions{.threads = 1}, {.threads = 8}, {.threads = 8, .memory = 0}, {.threads = 3, .memory = 5000}}) {
    StringSink sink;
    Writer writer(sink, options);
    writer.add_all(members);
    writer.finish();
    if (first.empty()) first = sink.text();
    EXPECT_TRUE(sink.text() == first) << options.threads << " threads, " << options.memory << " bytes";
  }
  expect_clean(open(first));
}

TEST(Writer, HoldsNoMoreThanItMay) {
  std::atomic<std::int64_t> held = 0;
  std::atomic<std::int64_t> most = 0;
  std::vector<NewMember> members;
  for (int i = 0; i < 64; ++i) {
    members.push_back({"m" + std::to_string(i), 0644, 10'000, [&] {
                         const std::int64_t now = ++held;
                         for (std::int64_t old = most; old < now && !most.compare_exchange_weak(old, now);) {}
                         auto text = std::make_shared<std::string>(10'000, 'x');
                         const Bytes bytes(*text);
                         return Blob{std::shared_ptr<void>(text.get(), [&held, text](void*) { --held; }), bytes};
                       }});
  }
  StringSink sink;
  Writer writer(sink, {.threads = 16, .memory = 60'000});
  writer.add_all(members);
  writer.finish();
  EXPECT_EQ(held, 0);
  EXPECT_LE(most, 4) << "three in the budget and the next in order";
}

TEST(Writer, AMemberThatCannotBeReadEndsItAndIsNamed) {
  for (const unsigned threads : {1u, 4u}) {
    std::vector<NewMember> members;
    for (int i = 0; i < 40; ++i) members.push_back(member("m" + std::to_string(i), k_prose));
    members[17].open = []() -> Blob { throw Error("is broken"); };
    members[30].open = []() -> Blob { throw Error("is broken too"); };
    StringSink sink;
    Writer writer(sink, {.threads = threads, .memory = 3000});
    EXPECT_EQ(error_of([&] { writer.add_all(members); }), "m17: is broken");
  }
}

class FullSink final : public Sink {
 public:
  void write(Bytes bytes) override {
    m_left -= static_cast<std::int64_t>(bytes.size());
    if (m_left < 0) throw Error("the disk is full");
  }

 private:
  std::int64_t m_left = 500;
};

TEST(Writer, AFullDiskEndsIt) {
  std::vector<NewMember> members;
  for (int i = 0; i < 40; ++i) members.push_back(member("m" + std::to_string(i), k_prose));
  FullSink sink;
  Writer writer(sink, {.threads = 4, .memory = 3000});
  EXPECT_EQ(error_of([&] { writer.add_all(members); }), "the disk is full");
}

TEST(Writer, ReadsBackWhatWasWrittenWhateverItIs) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    std::map<std::string, std::string> files;
    for (std::size_t count = random() % 40; count > 0; --count) {
      std::string name = "f" + std::to_string(random() % 1000);
      if (random() % 4 == 0) name += "/\xe6\xbc\xa2";
      std::string text = noise(random, random() % 300);
      for (std::size_t doubling = random() % 8; doubling > 0; --doubling) text += text;
      files[name] = text;
    }
    StringSink sink;
    Writer writer(sink, {.time = static_cast<std::int64_t>(random() % 5'000'000'000),
                         .level = static_cast<int>(random() % 12 + 1),
                         .threads = 2});
    std::vector<NewMember> members;
    for (const auto& [name, text] : files) members.push_back(member(name, text));
    writer.add_all(members);
    writer.finish();
    // And all of it once more, raw.
    const Archive archive = open(sink.text());
    expect_clean(archive);
    StringSink copy_sink;
    Writer copier(copy_sink);
    for (const Entry& entry : archive.entries()) copier.add_raw(archive, entry, entry.name);
    copier.finish();
    const Archive copy = open(copy_sink.text());
    expect_clean(copy);
    ASSERT_EQ(archive.entries().size(), files.size());
    for (const auto& [name, text] : files) {
      EXPECT_TRUE(read(archive, name) == text) << name;
      EXPECT_TRUE(read(copy, name) == text) << name;
    }
  }
}

}  // namespace
}  // namespace wheelsmith::zip
