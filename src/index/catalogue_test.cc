#include "index/catalogue.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "index/indexes.h"
#include "index/pages/page_parts.h"
#include "index/variants.h"

namespace wheelsmith::index {
namespace {

TEST(FileName, TellsProjectAndVersion) {
  struct Case {
    const char *file, *project, *version;
  };
  for (const Case& item : {Case{"Torch_Vision-2.0-py3-none-any.whl", "torch-vision", "2.0"},
                           Case{"a-1.0+CU130-1-py3-none-any.whl", "a", "1.0+cu130"},
                           Case{"a-1!2.0rc1-py3-none-any-x.whl", "a", "1!2.0rc1"}, Case{"a_b-1.0.tar.gz", "a-b", "1.0"},
                           Case{"a-b-1.0.zip", "a-b", "1.0"}}) {
    const FileName name = parse_file_name(item.file);
    EXPECT_EQ(name.project, item.project);
    EXPECT_EQ(name.version, item.version);
  }
}

TEST(FileName, IsPlainOrNone) {
  for (const char* file : {"", "x", ".whl", "a-1-py3-none.whl", "<b>-1-py3-none-any.whl", "a b-1-py3-none-any.whl",
                           "../a-1.tar.gz", "a-x-py3-none-any.whl", "..-1-py3-none-any.whl", "a.tar.gz", "-1.tar.gz",
                           "a-.tar.gz", "\"-1.zip", "a-1-py3-none-\u00e4.whl", "a-1-py3-none-a&b.whl"})
    EXPECT_THROW((void)parse_file_name(file), Error) << file;
}

TEST(Filter, TakesPatternsAndRequirements) {
  const auto takes = [](std::vector<std::string> words, const char* file) {
    return Filter(words).takes(file, parse_file_name(file));
  };
  const char* file = "Torch_X-2.9+cu130-cp311-cp311-linux_x86_64.whl";
  EXPECT_TRUE(takes({}, file));
  EXPECT_TRUE(takes({"torch-x"}, file));
  EXPECT_TRUE(takes({"*-cp311-*"}, file));
  EXPECT_TRUE(takes({"other", "torch_x>=2"}, file));
  EXPECT_TRUE(takes({"!*-cp39-*"}, file));
  EXPECT_FALSE(takes({"other"}, file));
  EXPECT_FALSE(takes({"torch-x>=3"}, file));
  EXPECT_FALSE(takes({"torch-x", "!*cu130*"}, file));
  EXPECT_FALSE(takes({"!torch-x<3"}, file));
  EXPECT_THROW(Filter({"torch>="}), Error);
  EXPECT_THROW(Filter({"!"}), Error);
}

TEST(Control, SaysWhereItIsWrong) {
  for (const char* text :
       {"yanked = 1", "[yanked]\na = 1", "[upload-time]\na = \"yesterday\"", "[other]", "[project.a]",
        "[project.a]\nstatus = \"lost\"", "[project.a]\nstatus = \"active\"\nx = \"y\"", "["}) {
    try {
      (void)Control::parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("index.toml:", 0), 0U) << error.what();
    }
  }
  const Control control =
      Control::parse("[project.A_b]\nstatus = \"archived\"\n[upload-time]\nx = \"2026-01-02T03:04:05.6Z\"");
  EXPECT_EQ(control.projects.at("a-b").status, ProjectStatus::archived);
  EXPECT_EQ(control.upload_times.size(), 1U);
}

TEST(Words, OfFamiliesAndVariants) {
  EXPECT_EQ(family_word("rocm-sdk-device-gfx942"), "gfx942");
  EXPECT_EQ(family_word("rocm-sdk-libraries-gfx94x-dcgpu"), "gfx94X-dcgpu");
  EXPECT_EQ(family_word("amd-torch-device-gfx90a-tests"), "gfx90a");
  EXPECT_EQ(family_word("rocm-sdk-core"), "");
  EXPECT_EQ(family_word("my-gfx-tools"), "");
  const auto variant = [](const char* version) { return variant_word(pep::Version::parse(version)); };
  EXPECT_EQ(variant("2.10+cu130"), "cu130");
  EXPECT_EQ(variant("2.10+cu12torch2.9"), "cu12");
  EXPECT_EQ(variant("2.10+rocm7.10.0"), "rocm7.10.0");
  EXPECT_EQ(variant("2.10+rocm7.10.0.git1234"), "rocm7.10.0");
  EXPECT_EQ(variant("2.10+cpu"), "cpu");
  for (const char* other : {"2.10", "2.10+git1234", "2.10+custom", "2.10+rocm", "2.10+cpuonly"})
    EXPECT_EQ(variant(other), "") << other;
}

TEST(Words, OfPlatforms) {
  struct Case {
    const char* tags;
    std::vector<std::string> words;
  };
  for (const Case& item :
       {Case{"any", {"any"}}, Case{"linux_x86_64", {"Linux x86_64"}},
        Case{"win_amd64.win32", {"Windows amd64", "Windows x86"}},
        Case{"manylinux_2_34_x86_64.manylinux_2_28_x86_64", {"Linux x86_64, glibc ≥ 2.28"}},
        Case{"manylinux2014_aarch64.manylinux_2_17_aarch64", {"Linux aarch64, glibc ≥ 2.17"}},
        Case{"musllinux_1_2_x86_64.manylinux1_x86_64", {"Linux x86_64, musl ≥ 1.2", "Linux x86_64, glibc ≥ 2.5"}},
        Case{"macosx_11_0_arm64", {"macOS arm64, ≥ 11.0"}}, Case{"manylinux_x", {"manylinux_x"}}, Case{"win", {"win"}},
        Case{"", {""}}})
    EXPECT_EQ(platform_words(item.tags), item.words) << item.tags;
}

TEST(Escapes, LeaveNothingToMisread) {
  EXPECT_EQ(html_escaped("<a href=\"x\">'&\xff"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\xef\xbf\xbd");
  EXPECT_EQ(url_escaped("a b/c+d%#?\"\xff"), "a%20b/c%2Bd%25%23%3F%22%FF");
}

// The merged document does not depend on the order of the wheels.
TEST(Variants, Merge) {
  std::vector<File> files(3);
  const char* names[] = {"a-1-py3-none-any-x.whl", "a-1-py3-none-any-y.whl", "a-1-py3-none-linux_x86_64-x.whl"};
  const char* texts[] = {R"({"default-priorities":{"namespace":["n"]},"variants":{"x":{"n":{"f":["1"]}}}})",
                         R"({"default-priorities":{"namespace":["n","m"]},"variants":{"y":{}}})",
                         R"({"default-priorities":{"namespace":["n"]},"variants":{"x":{"n":{"f":["1"]}}}})"};
  Project project{"a", {}};
  for (std::size_t i = 0; i < 3; ++i) {
    files[i].name = names[i];
    files[i].parts = parse_file_name(names[i]);
    files[i].facts.variant = texts[i];
    project.files.push_back(&files[i]);
  }
  std::vector<Finding> findings;
  const auto made = make_variants(project, &findings);
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].name, "a-1-variants.json");
  EXPECT_EQ(
      made[0].text,
      "{\"default-priorities\":{\"namespace\":[\"n\",\"m\"]},\"variants\":{\"x\":{\"n\":{\"f\":[\"1\"]}},\"y\":{}}}\n");
  EXPECT_TRUE(findings.empty());
  std::swap(project.files[0], project.files[2]);
  EXPECT_EQ(make_variants(project, nullptr)[0].text, made[0].text);
  // One label, two meanings; priorities that are no continuation of each other.
  for (const char* other :
       {R"({"variants":{"x":{"n":{"f":["2"]}}}})", R"({"default-priorities":{"namespace":["m"]}})"}) {
    files[2].facts.variant = other;
    findings.clear();
    (void)make_variants(project, &findings);
    ASSERT_EQ(findings.size(), 1U) << other;
    EXPECT_EQ(findings[0].id, "index-variants-differ");
  }
}

}  // namespace
}  // namespace wheelsmith::index
