#include "surgery/retag.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "surgery/metadata_text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "testing/wheel_builder.h"
#include "zip/archive.h"

namespace wheelsmith::surgery {
namespace {

// A wheel in a folder of its own, and what retag makes of it.
class RetagTest : public ::testing::Test {
 protected:
  Item run(const RetagRequest& request, bool dry_run = false) {
    const std::filesystem::path path = m_folder.path() / m_builder.file_name();
    sys::write_file(path, m_builder.build());
    InputWheel input(path.string(), sys::map_file(path));
    WriteOptions options;
    options.out = m_folder.path() / "out";
    options.dry_run = dry_run;
    Item item;
    retag(input, request, options, item);
    return item;
  }

  static std::string member(const Item& item, const std::string& name) {
    const Blob file = sys::map_file(item.outputs.at(0).path);
    const zip::Archive archive = zip::Archive::open(file.bytes);
    const zip::Entry* entry = archive.find(name);
    return entry == nullptr ? "(not there)" : std::string(archive.read(*entry).bytes.text());
  }

  sys::TempDir m_folder;
  testing::WheelBuilder m_builder =
      testing::WheelBuilder("demo", "1.0", "py3-none-any").purelib(true).add("demo/__init__.py", "x = 1\n");
};

TEST_F(RetagTest, TagsChangeInNameAndWheel) {
  RetagRequest request;
  request.python_tag = "py2.py3";
  const Item item = run(request);
  ASSERT_EQ(item.outputs.size(), 1u);
  EXPECT_EQ(std::filesystem::path(item.outputs[0].path).filename(), "demo-1.0-py2.py3-none-any.whl");
  EXPECT_EQ(item.outputs[0].tags, (std::vector<std::string>{"py2-none-any", "py3-none-any"}));
  const std::string wheel = member(item, "demo-1.0.dist-info/WHEEL");
  EXPECT_NE(wheel.find("Tag: py2-none-any\nTag: py3-none-any\n"), std::string::npos) << wheel;
  EXPECT_EQ(member(item, "demo/__init__.py"), "x = 1\n");
}

TEST_F(RetagTest, SetsGrowAndShrink) {
  RetagRequest request;
  request.python_tag = "+py2";
  EXPECT_EQ(run(request).outputs[0].tags.size(), 2u);
  request.python_tag = "-py2";
  EXPECT_THROW(run(request), Error);
  request.python_tag = "-py3";
  EXPECT_THROW(run(request), Error);
}

TEST_F(RetagTest, IdentityMovesFolders) {
  m_builder.add("demo-1.0.data/scripts/tool", "#!python\n");
  m_builder.metadata(
      "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nProvides-Extra: all\n"
      "Requires-Dist: demo[gui] ; extra == 'all'\nRequires-Dist: demos\n\nbody\n");
  RetagRequest request;
  request.name = "Demo.Fork";
  request.local_version = "cu130";
  request.build = "3";
  const Item item = run(request);
  EXPECT_EQ(std::filesystem::path(item.outputs[0].path).filename(), "demo_fork-1.0+cu130-3-py3-none-any.whl");
  EXPECT_EQ(member(item, "demo_fork-1.0+cu130.data/scripts/tool"), "#!python\n");
  EXPECT_EQ(member(item, "demo_fork-1.0+cu130.dist-info/METADATA"),
            "Metadata-Version: 2.1\nName: Demo.Fork\nVersion: 1.0+cu130\nProvides-Extra: all\n"
            "Requires-Dist: Demo.Fork[gui] ; extra == 'all'\nRequires-Dist: demos\n\nbody\n");
  EXPECT_NE(member(item, "demo_fork-1.0+cu130.dist-info/WHEEL").find("Build: 3\n"), std::string::npos);
  EXPECT_NE(member(item, "demo_fork-1.0+cu130.dist-info/RECORD").find("demo_fork-1.0+cu130.data/scripts/tool,sha256="),
            std::string::npos);
  EXPECT_EQ(member(item, "demo-1.0.dist-info/METADATA"), "(not there)");
}

TEST_F(RetagTest, RefusesWhatNoWheelCanHave) {
  const auto refused = [&](auto set) {
    RetagRequest request;
    set(request);
    EXPECT_THROW(run(request), Error);
    EXPECT_FALSE(std::filesystem::exists(m_folder.path() / "out") &&
                 !std::filesystem::is_empty(m_folder.path() / "out"));
  };
  refused([](RetagRequest& r) { r.python_tag = "py 3"; });
  refused([](RetagRequest& r) { r.abi_tag = ""; });
  refused([](RetagRequest& r) { r.platform_tag = "../x"; });
  refused([](RetagRequest& r) { r.build = "x1"; });
  refused([](RetagRequest& r) { r.version = "one"; });
  refused([](RetagRequest& r) { r.local_version = "a+b"; });
  refused([](RetagRequest& r) { r.name = "../x"; });
}

TEST_F(RetagTest, EqualInputGivesEqualBytesAndADryRunTheSameSize) {
  RetagRequest request;
  request.build = "1";
  const Item first = run(request), second = run(request), dry = run(request, true);
  EXPECT_EQ(first.outputs[0].sha256, second.outputs[0].sha256);
  EXPECT_EQ(first.outputs[0].sha256, dry.outputs[0].sha256);
  EXPECT_EQ(first.outputs[0].bytes, dry.outputs[0].bytes);
}

TEST_F(RetagTest, KeepsEarlierOperations) {
  RetagRequest request;
  request.build = "1";
  const Item first = run(request);
  InputWheel input(first.outputs[0].path, sys::map_file(first.outputs[0].path));
  request.build = "2";
  WriteOptions options;
  options.out = m_folder.path() / "again";
  Item item;
  retag(input, request, options, item);
  const std::string text = member(item, "demo-1.0.dist-info/wheelsmith/operations.json");
  EXPECT_NE(text.find("\"build\": \"1\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"build\": \"2\""), std::string::npos) << text;
  EXPECT_NE(text.find(first.outputs[0].sha256), std::string::npos) << text;
}

TEST(PromisesNoMore, Table) {
  struct Row {
    const char *before, *after;
    bool expected;
  };
  for (const Row& row : {Row{"linux_x86_64", "linux_x86_64", true},
                         {"manylinux_2_17_x86_64.manylinux2014_x86_64", "manylinux_2_28_x86_64", true},
                         {"manylinux2014_x86_64", "manylinux_2_17_x86_64", true},
                         {"manylinux_2_28_x86_64", "manylinux_2_17_x86_64", false},
                         {"manylinux_2_28_x86_64", "linux_x86_64", true},
                         {"linux_x86_64", "manylinux_2_40_x86_64", false},
                         {"manylinux_2_28_x86_64", "manylinux_2_28_aarch64", false},
                         {"manylinux_2_28_x86_64", "musllinux_1_2_x86_64", false},
                         {"any", "linux_x86_64", false},
                         {"linux_x86_64", "any", false}})
    EXPECT_EQ(promises_no_more(row.before, row.after), row.expected) << row.before << " " << row.after;
}

TEST(EditMetadataText, KeepsEverythingElse) {
  const std::string text = "Name: a\r\nSummary: x\n  y\nVersion: 1\n\nVersion: 2\n";
  EXPECT_EQ(edit_metadata_text(text,
                               [](std::string_view field, std::string_view value) -> std::optional<std::string> {
                                 if (field == "summary") {
                                   EXPECT_EQ(value, "x   y");
                                   return "";
                                 }
                                 if (field == "version") return "3";
                                 return std::nullopt;
                               }),
            "Name: a\r\nVersion: 3\n\nVersion: 2\n");
}

}  // namespace
}  // namespace wheelsmith::surgery
