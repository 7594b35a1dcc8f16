#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/style.h"
#include "report/versions.h"
#include "report/wheel/json.h"
#include "report/wheel/text.h"

namespace wheelsmith::report {
namespace {

using nlohmann::json;

wheel::Inspection inspected() {
  wheel::Inspection item;
  item.path = "demo-1.0-cp311-cp311-linux_x86_64.whl";
  item.name = "demo";
  item.version = "1.0";
  item.tags = {"cp311-cp311-linux_x86_64"};
  item.platform = wheel::Platform{"manylinux_2_17_x86_64", {{"manylinux_2_12", "a.so", "needs GLIBC_2.14"}}};
  item.platform_beside_others = item.platform;
  wheel::ElfFacts file;
  file.path = "demo/a.so";
  file.needed = {"libc.so.6"};
  file.versions_needed["libc.so.6"] = {"GLIBC_2.14", "GLIBC_2.9", "GLIBC_PRIVATE"};
  item.elf.push_back(file);
  gpu::CodeSum sum;
  sum.arch = {gpu::Vendor::nvidia, 90, "a", ""};
  sum.section = ".nv_fatbin";
  sum.count = 2;
  sum.bytes = 1000;
  sum.unpacked_bytes = 4000;
  item.gpu = {sum};
  return item;
}

TEST(Json, InspectKeepsTheContract) {
  const json document = json::parse(to_json(std::vector<wheel::Inspection>{inspected()}));
  EXPECT_EQ(document["schema"], 1);
  const json& item = document["items"][0];
  for (const char* key : {"path", "kind", "name", "version", "tags", "platform_tag", "elf", "gpu"}) {
    EXPECT_TRUE(item.contains(key)) << key;
  }
  EXPECT_EQ(item["kind"], "wheel");
  EXPECT_EQ(item["platform_tag"], "manylinux_2_17_x86_64");
  for (const char* key : {"path", "soname", "needed", "rpath", "runpath", "symbol_versions"}) {
    EXPECT_TRUE(item["elf"][0].contains(key)) << key;
  }
  EXPECT_EQ(item["elf"][0]["highest_versions"]["GLIBC"], "2.14");
  EXPECT_EQ(item["gpu"][0]["arch"], "sm_90a");
  EXPECT_EQ(item["gpu"][0]["kind"], "sass");
  EXPECT_EQ(item["gpu"][0]["count"], 2);
  EXPECT_EQ(item["gpu"][0]["unpacked_bytes"], 4000);
}

TEST(Json, CheckKeepsTheContract) {
  wheel::Verdict bad{"a.whl", "", {{"some-id", Severity::error, "s", "w\xff", "y", "f"}}};
  wheel::Verdict unreadable{"b.whl", "cannot open", {}};
  const json document = json::parse(to_json(std::vector<wheel::Verdict>{bad, unreadable}));
  EXPECT_EQ(document["items"][0]["verdict"], "bad");
  EXPECT_EQ(document["items"][0]["findings"][0]["severity"], "error");
  EXPECT_EQ(document["items"][0]["findings"][0]["what"], "w\xef\xbf\xbd");
  EXPECT_EQ(document["items"][1]["verdict"], "bad");
  EXPECT_EQ(document["items"][1]["error"], "cannot open");
}

TEST(Json, ErrorsAreItemsOrTheDocument) {
  wheel::Inspection item;
  item.path = "x";
  item.error = "no such file";
  EXPECT_EQ(json::parse(to_json(std::vector<wheel::Inspection>{item}))["items"][0]["error"], "no such file");
  EXPECT_EQ(json::parse(error_json("wrong"))["error"], "wrong");
  EXPECT_EQ(json::parse(error_json("wrong", "steps"))["steps"], json::array());
}

TEST(Text, NothingFromAFileReachesTheTerminalRaw) {
  wheel::Inspection item = inspected();
  item.name = "evil\x1b]0;title\x07";
  item.elf[0].path = "a\x1b[2J.so";
  for (const bool details : {false, true}) {
    const std::string text = to_text(item, Style{.details = details});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("\\x1b"), std::string::npos);
  }
  const wheel::Verdict verdict{"a.whl", "", {{"id", Severity::warning, "\x1b[1m", "\x1b", "\x1b", "\x1b"}}};
  EXPECT_EQ(to_text(verdict, Style{}).find('\x1b'), std::string::npos);
}

TEST(Text, NotesAreCountedAndShownWithAll) {
  const wheel::Verdict verdict{"a.whl", "", {{"an-id", Severity::note, "subject", "what", "why", "fix"}}};
  EXPECT_EQ(to_text(verdict, Style{}), "a.whl: good (0 errors, 0 warnings, 1 note, shown by --all)\n");
  EXPECT_NE(to_text(verdict, Style{.details = true}).find("an-id"), std::string::npos);
}

TEST(Text, FindingsOfOneIdAreAGroup) {
  wheel::Verdict verdict{"a.whl", "", {}};
  for (int i = 1; i <= 405; ++i)
    verdict.findings.push_back({"an-id", Severity::warning, "file " + std::to_string(i), "what", "the why", "the fix"});
  verdict.findings.push_back({"other-id", Severity::warning, "alone", "what", "why", "fix"});
  EXPECT_EQ(to_text(verdict, Style{}),
            "  warning 405 findings  [an-id]\n"
            "          file 1: what\n"
            "          file 2: what\n"
            "          file 3: what\n"
            "          and 402 more (--all)\n"
            "          why: the why\n"
            "          fix: the fix\n"
            "  warning alone  [other-id]\n"
            "          what\n"
            "          why: why\n"
            "          fix: fix\n"
            "a.whl: good (0 errors, 406 warnings, 0 notes)\n");
  const std::string all = to_text(verdict, Style{.details = true});
  EXPECT_NE(all.find("file 405"), std::string::npos);
  EXPECT_EQ(all.find(" findings "), std::string::npos);
  EXPECT_EQ(json::parse(to_json(std::vector<wheel::Verdict>{verdict}))["items"][0]["findings"].size(), 406U);
}

TEST(Text, APlatformTagWithoutOtherPackagesIsNotShown) {
  wheel::Inspection item = inspected();
  item.platform_beside_others = wheel::Platform{"manylinux_2_5_x86_64", {}};
  EXPECT_EQ(to_text(item, Style{}).find("()"), std::string::npos);
  item.used_packages = {"the wheel torch"};
  EXPECT_NE(to_text(item, Style{}).find("torch)"), std::string::npos);
}

TEST(Text, ColoursOnlyIfEnabled) {
  EXPECT_EQ(to_text(inspected(), Style{}).find('\x1b'), std::string::npos);
  EXPECT_NE(to_text(inspected(), Style{.colour = true}).find('\x1b'), std::string::npos);
}

TEST(Style, WrapsAndMeasures) {
  const Style narrow{.width = 30};
  EXPECT_EQ(narrow.wrap("one two three four five six", 4), "one two three four five\n    six");
  EXPECT_EQ(columns("grün"), 4U);
  EXPECT_EQ(pad_left("7", 3), "  7");
  EXPECT_EQ(Style{}.bar(0.5, 10), "#####");
  EXPECT_EQ(Style{.unicode = true}.bar(0.55, 10), "█████▌");
}

TEST(Versions, CompareByNumbers) {
  EXPECT_TRUE(is_lower_version("2.9", "2.17"));
  EXPECT_FALSE(is_lower_version("3.4.30", "3.4.9"));
}

}  // namespace
}  // namespace wheelsmith::report
