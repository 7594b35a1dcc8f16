// Stories about a wheel that is changed after it was built: the result is judged by `check`.

#include "wheel/write/edit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "base/hash.h"
#include "testing/elf_builder.h"
#include "testing/wheel_builder.h"
#include "wheel/check/check.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {
namespace {

using ::wheelsmith::testing::ElfBuilder;
using ::wheelsmith::testing::WheelBuilder;
using ::wheelsmith::testing::ZipDescriptor;
using ::wheelsmith::testing::ZipMember;

const std::string k_text = std::string(500, '#') + "\n";

WheelBuilder pure() {
  return WheelBuilder("demo", "1.0", "py3-none-any").add("demo/z.py", k_text).add("demo/__init__.py", "x = 1\n");
}

WheelBuilder binary() {
  const ElfBuilder library =
      ElfBuilder().needed("libc.so.6").import("memcpy", "libc.so.6", "GLIBC_2.14").define("PyInit_ext");
  return WheelBuilder("demo", "1.0", "cp311-cp311-linux_x86_64")
      .add("demo/__init__.py", k_text)
      .add("demo/ext.cpython-311-x86_64-linux-gnu.so", library.build());
}

struct Result {
  std::string file_name;
  std::string bytes;

  [[nodiscard]] std::string text(const std::string& member) const {
    const zip::Archive archive = zip::Archive::open(Bytes(bytes));
    const zip::Entry* entry = archive.find(member);
    return entry == nullptr ? "(not there)" : std::string(archive.read(*entry).bytes.text());
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    const zip::Archive archive = zip::Archive::open(Bytes(bytes));
    for (const zip::Entry& entry : archive.entries()) names.push_back(entry.name);
    return names;
  }
  [[nodiscard]] std::uint32_t mode(const std::string& member) const {
    return zip::Archive::open(Bytes(bytes)).find(member)->unix_mode();
  }
};

Result edit(const WheelBuilder& wheel, const WheelEdit& change = {}) {
  const std::string bytes = wheel.build();
  StringSink sink;
  const EditedWheel edited = edit_wheel("dist/" + wheel.file_name(), Bytes(bytes), change, sink);
  EXPECT_EQ(edited.size, sink.text().size());
  return {edited.file_name, sink.text()};
}

std::string error_of(const WheelBuilder& wheel, const WheelEdit& change = {}) {
  try {
    (void)edit(wheel, change);
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

void expect_good(const Result& wheel) {
  const Verdict verdict = check_wheel(wheel.file_name, Bytes(wheel.bytes), {});
  EXPECT_TRUE(verdict.error.empty()) << verdict.error;
  for (const Finding& finding : verdict.findings) {
    EXPECT_EQ(finding.severity, Severity::note) << finding.id << " " << finding.subject << ": " << finding.what;
  }
}

TEST(EditWheel, GivesTagsToNameAndMetadata) {
  for (const bool recompress : {true, false}) {
    WheelEdit change;
    change.platform_tag = "manylinux_2_17_x86_64.manylinux2014_x86_64.manylinux2014_x86_64";
    change.recompress = recompress;
    const Result wheel = edit(binary(), change);
    EXPECT_EQ(wheel.file_name, "demo-1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl");
    EXPECT_EQ(wheel.text("demo-1.0.dist-info/WHEEL"),
              "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n"
              "Tag: cp311-cp311-manylinux2014_x86_64\nTag: cp311-cp311-manylinux_2_17_x86_64\n");
    expect_good(wheel);
  }
}

TEST(EditWheel, AWheelWithBinariesIsNotPureWhateverItSaid) {
  WheelEdit change;
  change.python_tag = "py3";
  change.abi_tag = "none";
  change.platform_tag = "manylinux_2_17_x86_64";
  const ElfBuilder library = ElfBuilder().needed("libc.so.6").import("memcpy", "libc.so.6", "GLIBC_2.14");
  const Result wheel =
      edit(WheelBuilder("demo", "1.0", "py3-none-any").add("demo/libdemo.so", library.build()), change);
  EXPECT_NE(wheel.text("demo-1.0.dist-info/WHEEL").find("Root-Is-Purelib: false\n"), std::string::npos);
  expect_good(wheel);
}

TEST(EditWheel, WithoutTagsTheMetadataStayAsTheyAre) {
  const std::string text = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\nGenerator: odd   \n";
  EXPECT_EQ(edit(pure().wheel_file(text)).text("demo-1.0.dist-info/WHEEL"), text);
}

TEST(EditWheel, AddsReplacesAndLeavesOut) {
  WheelEdit change;
  change.dist_info_files = {{"wheelsmith/provenance.json", "{}\n"}};
  change.files = {{"demo/__init__.py", "x = 2\n"}, {"demo/a,\"b\".txt", "quoted in RECORD"}};
  change.dropped = {"demo/z.py"};
  for (const bool recompress : {true, false}) {
    change.recompress = recompress;
    const Result wheel = edit(pure(), change);
    const std::vector<std::string> names = {"demo/__init__.py",
                                            "demo/a,\"b\".txt",
                                            "demo-1.0.dist-info/METADATA",
                                            "demo-1.0.dist-info/WHEEL",
                                            "demo-1.0.dist-info/wheelsmith/provenance.json",
                                            "demo-1.0.dist-info/RECORD"};
    EXPECT_EQ(wheel.names(), names);
    EXPECT_EQ(wheel.text("demo/__init__.py"), "x = 2\n");
    expect_good(wheel);
  }
}

TEST(EditWheel, RecordIsMadeFromTheBytesNotFromTheOldOne) {
  for (const bool recompress : {true, false}) {
    WheelEdit change;
    change.recompress = recompress;
    const Result wheel =
        edit(pure().edit_record([](std::string& record) { record = "demo/z.py,sha256=AAAA,7\n"; }), change);
    EXPECT_NE(wheel.text("demo-1.0.dist-info/RECORD")
                  .find("demo/z.py,sha256=" + to_base64url(sha256(Bytes(k_text))) + ",501\n"),
              std::string::npos);
    expect_good(wheel);
  }
}

TEST(EditWheel, TheSameContentsGiveTheSameBytes) {
  const std::string record = "demo-1.0.dist-info/RECORD.jws";
  WheelBuilder other("demo", "1.0", "py3-none-any");
  other.add("demo/__init__.py", "x = 1\n");
  other.raw({.name = "demo/", .deflated = false, .mode = 040755});
  other.raw({.name = "demo/z.py", .data = k_text, .deflated = false, .mode = 0100664});
  other.raw({.name = record, .data = "{}"});
  for (const unsigned threads : {1u, 5u}) {
    WheelEdit change;
    change.threads = threads;
    const Result wheel = edit(other, change);
    EXPECT_TRUE(wheel.bytes == edit(pure()).bytes);
    EXPECT_TRUE(wheel.bytes == edit(pure(), change).bytes);
    EXPECT_EQ(wheel.text(record), "(not there)") << "it signs the old RECORD";
    expect_good(wheel);
  }
  // Edited once more, nothing changes.
  const Result once = edit(pure());
  StringSink sink;
  edit_wheel(once.file_name, Bytes(once.bytes), {}, sink);
  EXPECT_TRUE(sink.text() == once.bytes);
}

TEST(EditWheel, CopiedRawTheStreamsAreThoseOfTheOldWheel) {
  WheelBuilder builder = pure();
  builder.raw({.name = "demo/streamed.py", .data = k_text, .descriptor = ZipDescriptor::with_signature, .flags = 8});
  const std::string old = builder.build();
  WheelEdit change;
  change.recompress = false;
  const Result wheel = edit(builder, change);
  const zip::Archive before = zip::Archive::open(Bytes(old));
  const zip::Archive after = zip::Archive::open(Bytes(wheel.bytes));
  for (const char* name : {"demo/z.py", "demo/streamed.py", "demo-1.0.dist-info/METADATA"}) {
    EXPECT_EQ(after.packed(*after.find(name)).text(), before.packed(*before.find(name)).text()) << name;
  }
  expect_good(wheel);
}

TEST(EditWheel, KeepsWhatIsExecutable) {
  WheelBuilder builder = pure();
  builder.raw({.name = "demo/bin/tool", .data = "#!", .mode = 0100711});
  builder.raw({.name = "demo/group", .data = "x", .mode = 0100660});
  builder.raw({.name = "demo/no_mode", .data = "x", .mode = 0});
  builder.raw({.name = "demo-1.0.data/scripts/run", .data = "#!", .mode = 0100644});
  const Result wheel = edit(builder);
  EXPECT_EQ(wheel.mode("demo/bin/tool"), 0100755u);
  EXPECT_EQ(wheel.mode("demo/group"), 0100644u);
  EXPECT_EQ(wheel.mode("demo/no_mode"), 0100644u);
  EXPECT_EQ(wheel.mode("demo-1.0.data/scripts/run"), 0100755u);
  EXPECT_EQ(wheel.mode("demo/__init__.py"), 0100644u);
}

TEST(EditWheel, RefusesHostileWheels) {
  struct Case {
    ZipMember member;
    const char* message;
  };
  const std::vector<Case> cases = {
      {{.name = "../evil.py"}, "points outside"},
      {{.name = "/etc/evil"}, "points outside"},
      {{.name = "demo/../../evil"}, "points outside"},
      {{.name = "C:evil"}, "points outside"},
      {{.name = "../evil/", .deflated = false}, "points outside"},
      {{.name = "demo\\evil.py"}, "backslash"},
      {{.name = "demo/./z.py"}, "empty component"},
      {{.name = "demo//z.py"}, "empty component"},
      {{.name = std::string("demo/z.py\0.txt", 14)}, "control character"},
      {{.name = "demo/\xff"}, "UTF-8"},
      {{.name = "demo/z.py", .data = "again"}, "twice"},
      {{.name = "demo/link", .data = "/etc/passwd", .mode = 0120777}, "link"},
      {{.name = "demo/x", .data = "abc", .directory = {.crc32 = 5}}, "CRC"},
      {{.name = "demo/x", .data = "abc", .packed = "\xff\xff\xff"}, "demo/x"},
      {{.name = "demo/x", .data = "abc", .flags = 1}, "encrypted"},
      {{.name = "other-2.dist-info/METADATA", .data = "Name: x\n"}, "2 .dist-info folders"},
  };
  for (const Case& c : cases) {
    for (const bool recompress : {true, false}) {
      WheelEdit change;
      change.recompress = recompress;
      WheelBuilder builder = pure();
      builder.raw(c.member);
      const std::string message = error_of(builder, change);
      EXPECT_NE(message.find(c.message), std::string::npos) << c.member.name << ": " << message;
      EXPECT_TRUE(message.starts_with("demo-1.0-py3-none-any.whl: ")) << message;
    }
  }
}

TEST(EditWheel, RefusesEditsThatMakeNoWheel) {
  WheelEdit tag;
  tag.platform_tag = "linux-x86_64";
  EXPECT_NE(error_of(pure(), tag).find("is not a valid tag"), std::string::npos);
  tag.platform_tag = "";
  EXPECT_NE(error_of(pure(), tag).find("is not a valid tag"), std::string::npos);
  WheelEdit escape;
  escape.dist_info_files = {{"../../x", ""}};
  EXPECT_NE(error_of(pure(), escape).find("points outside"), std::string::npos);
  WheelEdit record;
  record.dist_info_files = {{"RECORD", "mine"}};
  EXPECT_NE(error_of(pure(), record).find("cannot be passed as a member"), std::string::npos);
  WheelEdit dropped;
  dropped.dropped = {"demo/nowhere.py"};
  EXPECT_NE(error_of(pure(), dropped).find("demo/nowhere.py"), std::string::npos);
  EXPECT_NE(error_of(pure().metadata("")).find("demo-1.0.dist-info/METADATA is missing"), std::string::npos);
}

NewWheel new_wheel() {
  NewWheel wheel;
  wheel.name = pep::WheelName::parse("my_demo-1.0+cu128-2-py3-none-manylinux_2_17_x86_64.whl");
  wheel.metadata = "Metadata-Version: 2.1\nName: my-demo\nVersion: 1.0+cu128\n";
  wheel.members = {{"my_demo/__init__.py", 0644, 0, [] { return Blob{}; }},
                   {"my_demo/bin/tool", 0755, 5, [] {
                      return Blob{nullptr, Bytes(std::string_view("\x7f"
                                                                  "tool"))};
                    }}};
  wheel.dist_info_files = {{"licenses/LICENSE", "free\n"}};
  return wheel;
}

TEST(PackWheel, MakesAWheelOfItsMembers) {
  StringSink sink;
  const EditedWheel packed = pack_wheel(new_wheel(), sink);
  const Result wheel{packed.file_name, sink.text()};
  EXPECT_EQ(packed.file_name, "my_demo-1.0+cu128-2-py3-none-manylinux_2_17_x86_64.whl");
  EXPECT_EQ(wheel.mode("my_demo/bin/tool"), 0100755u);
  EXPECT_EQ(wheel.text("my_demo-1.0+cu128.dist-info/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: wheelsmith\nRoot-Is-Purelib: false\nBuild: 2\n"
            "Tag: py3-none-manylinux_2_17_x86_64\n");
  EXPECT_EQ(wheel.names().back(), "my_demo-1.0+cu128.dist-info/RECORD");
  expect_good(wheel);
}

TEST(PackWheel, RefusesANameThatMetadataDoNotHave) {
  NewWheel wheel = new_wheel();
  wheel.metadata = "Metadata-Version: 2.1\nName: other\nVersion: 1.0+cu128\n";
  StringSink sink;
  EXPECT_THROW(pack_wheel(wheel, sink), Error);
  wheel = new_wheel();
  wheel.name.version = "1.0-1";
  EXPECT_THROW(pack_wheel(wheel, sink), Error);
  wheel = new_wheel();
  wheel.members.push_back({"my_demo/../../x", 0644, 0, [] { return Blob{}; }});
  EXPECT_THROW(pack_wheel(wheel, sink), Error);
  wheel.members.back().name = "my_demo/__init__.py";
  EXPECT_THROW(pack_wheel(wheel, sink), Error);
}

TEST(EditWheel, WhateverIsInItTheResultIsGood) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    WheelBuilder builder("demo", "1.0", "py3-none-any");
    for (std::size_t i = random() % 20; i > 0; --i) {
      std::string data(random() % 2000, static_cast<char>('a' + random() % 26));
      for (std::size_t noise = random() % 500; noise > 0; --noise) data += static_cast<char>(random() & 0xff);
      builder.raw({.name = "demo/m" + std::to_string(i) + ".bin", .data = data, .deflated = random() % 2 == 0});
    }
    WheelEdit change;
    change.recompress = random() % 2 == 0;
    change.threads = 1 + static_cast<unsigned>(random() % 4);
    change.python_tag = "py39";
    change.dist_info_files = {{"extra.json", std::string(random() % 3000, '{')}};
    expect_good(edit(builder, change));
  }
}

}  // namespace
}  // namespace wheelsmith::wheel
