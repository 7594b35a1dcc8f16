#include "pep/project/project_page.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "pep/choice.h"

namespace wheelsmith::pep {
namespace {

const std::string k_hash(64, 'a');
constexpr const char* k_url = "https://index.example/simple/demo/";

std::vector<std::string> names(const ProjectPage& page) {
  std::vector<std::string> result;
  for (const ProjectFile& file : page.files) result.push_back(file.name);
  return result;
}

TEST(FileUrl, GivesItsPath) {
  EXPECT_EQ(path_of_file_url("file:///a%20b/c#sha256=1"), "/a b/c");
  EXPECT_EQ(path_of_file_url("FILE://localhost/a"), "/a");
  for (const char* url : {"", "/a", "https://host/a", "file:a", "file://host"})
    EXPECT_FALSE(path_of_file_url(url)) << url;
}

TEST(Url, ExamplesOfTheRfc) {
  struct Row {
    const char *reference, *result;
  };
  for (const Row& row : {Row{"g:h", "g:h"},
                         {"g", "http://a/b/c/g"},
                         {"./g", "http://a/b/c/g"},
                         {"g/", "http://a/b/c/g/"},
                         {"/g", "http://a/g"},
                         {"//g", "http://g"},
                         {"?y", "http://a/b/c/d;p?y"},
                         {"g?y", "http://a/b/c/g?y"},
                         {"#s", "http://a/b/c/d;p?q#s"},
                         {"g?y#s", "http://a/b/c/g?y#s"},
                         {";x", "http://a/b/c/;x"},
                         {"", "http://a/b/c/d;p?q"},
                         {".", "http://a/b/c/"},
                         {"./", "http://a/b/c/"},
                         {"..", "http://a/b/"},
                         {"../", "http://a/b/"},
                         {"../g", "http://a/b/g"},
                         {"../..", "http://a/"},
                         {"../../g", "http://a/g"},
                         {"../../../g", "http://a/g"},
                         {"../../../../g", "http://a/g"},
                         {"/./g", "http://a/g"},
                         {"/../g", "http://a/g"},
                         {"g.", "http://a/b/c/g."},
                         {"..g", "http://a/b/c/..g"},
                         {"./../g", "http://a/b/g"},
                         {"./g/.", "http://a/b/c/g/"},
                         {"g/./h", "http://a/b/c/g/h"},
                         {"g/../h", "http://a/b/c/h"},
                         {"g;x=1/../y", "http://a/b/c/y"},
                         {"g?y/../x", "http://a/b/c/g?y/../x"},
                         {"g#s/../x", "http://a/b/c/g#s/../x"}}) {
    EXPECT_EQ(resolve_url("http://a/b/c/d;p?q", row.reference), row.result) << row.reference;
  }
  EXPECT_EQ(resolve_url("http://a", "g"), "http://a/g");
  EXPECT_EQ(resolve_url("file:///x/simple/demo/index.html", "../../files/a.whl"), "file:///x/files/a.whl");
  EXPECT_EQ(resolve_url("http://a/b//c", "d"), "http://a/b//d");
  EXPECT_EQ(resolve_url("", ""), "");
}

TEST(Url, PercentSigns) {
  EXPECT_EQ(percent_decoded("torch-2.1%2Bcu118%"), "torch-2.1+cu118%");
  EXPECT_EQ(percent_decoded("%zz%4"), "%zz%4");
  EXPECT_EQ(file_url("/a b/50%#1?.whl"), "file:///a%20b/50%25%231%3F.whl");
  EXPECT_EQ(percent_encoded("a b\n\"%2B+\x7f\xc3"), "a%20b%0A%22%2B+%7F%C3");
}

TEST(ProjectHtml, AllSpellingsOfAnAnchor) {
  const ProjectPage page = parse_project_html(
      "<!DOCTYPE html><html><head><meta name='pypi:repository-version' content=1.1><!-- <a href=no.whl>no.whl</a> -->"
      "<script>'<a href=\"script.whl\">'</script></head><body><h1>3 < 4</h1>"
      "<a href=\"../../f/demo-1.0.tar.gz#sha256=" +
          k_hash +
          "\" data-requires-python=\"&gt;=3.8, &lt;4\">demo-1.0.tar.gz</a><br/>"
          "<A\nHREF='demo-2.0.tar.gz'DATA-YANKED>demo-2.0.tar.gz</A>"
          "<a data-yanked='it&#39;s &#x62;ad' href=demo-3.0.zip?x=1&amp;y=2#md5=00&sha256=" +
          k_hash +
          ">x</a>"
          "<a href=//other.example/demo-4.0-py3-none-any.whl data-core-metadata='sha256=AB'/>"
          "<a href='demo-5.0%2Bcu1.tar.gz' data-dist-info-metadata=true>"
          "<a href='https://index.example/get/17'> demo-6.0.tar.gz </a>"
          "<a name=top>demo-7.0.tar.gz</a><a href='demo-8.0.tar.gz",
      k_url);
  ASSERT_EQ(names(page),
            (std::vector<std::string>{"demo-1.0.tar.gz", "demo-2.0.tar.gz", "demo-3.0.zip", "demo-4.0-py3-none-any.whl",
                                      "demo-5.0+cu1.tar.gz", "demo-6.0.tar.gz"}));
  EXPECT_EQ(page.name, "demo");
  EXPECT_EQ(page.files[0].url, "https://index.example/f/demo-1.0.tar.gz");
  EXPECT_EQ(page.files[0].hashes.at("sha256"), k_hash);
  EXPECT_EQ(page.files[0].requires_python, ">=3.8, <4");
  EXPECT_FALSE(page.files[0].yanked);
  EXPECT_EQ(page.files[1].yanked, "");
  EXPECT_EQ(page.files[1].url, std::string(k_url) + "demo-2.0.tar.gz");
  EXPECT_EQ(page.files[2].yanked, "it's bad");
  EXPECT_EQ(page.files[2].url, std::string(k_url) + "demo-3.0.zip?x=1&y=2");
  EXPECT_EQ(page.files[2].hashes.at("sha256"), k_hash);
  EXPECT_EQ(page.files[3].url, "https://other.example/demo-4.0-py3-none-any.whl");
  EXPECT_EQ(page.files[5].url, "https://index.example/get/17");
}

TEST(ProjectHtml, TheFirstBaseCounts) {
  const ProjectPage page = parse_project_html(
      "<base target=x><base href='/files/'><base href='http://evil.example/'><a href='demo-1.0.tar.gz'>x</a>", k_url);
  ASSERT_EQ(page.files.size(), 1U);
  EXPECT_EQ(page.files[0].url, "https://index.example/files/demo-1.0.tar.gz");
}

TEST(ProjectHtml, WhatIsNotSafeIsLeftOut) {
  for (const char* link : {"x/..%2f..%2fetc%2fdemo-1.0.tar.gz", "%2e%2e", "a/", "demo%00-1.0.tar.gz",
                           "demo%0a-1.0.tar.gz", "..%5cdemo-1.0.tar.gz", "-odemo-1.0.tar.gz", ".demo-1.0.tar.gz",
                           "demo-1.0.tar.gz#sha256=12", "demo%ff-1.0.tar.gz"}) {
    EXPECT_TRUE(parse_project_html("<a href='" + std::string(link) + "'>x</a>", k_url).files.empty()) << link;
  }
  const std::string long_link = "<a href='" + std::string(9000, 'x') + "/demo-1.0.tar.gz'>x</a>";
  EXPECT_TRUE(parse_project_html(long_link, k_url).files.empty());
}

TEST(ProjectHtml, ANewMajorVersionIsRefused) {
  EXPECT_THROW(parse_project_html("<meta name='pypi:repository-version' content='2.0'>", k_url), Error);
}

// Each of these made some reader of its day quadratic or hungry.
TEST(ProjectHtml, EndlessPagesTakeOnePass) {
  for (const char* piece :
       {"<", "<a ", "<!--", "<a href='x'", "&", "<script>", "</", "<a href=", "<!", "&#", "<a/", "a=b "}) {
    std::string page = "<a ";
    while (page.size() < 2'500'000) page += piece;
    EXPECT_LE(parse_project_html(page, k_url).files.size(), 1U) << piece;
  }
  std::string dots;
  while (dots.size() < 2'500'000) dots += "x/../";
  EXPECT_EQ(resolve_url("http://a/", dots), "http://a/");
  std::string many;
  while (many.size() < 2'500'000) many += "<a href=x>";
  EXPECT_THROW(parse_project_html(many, k_url), Error);
}

TEST(ProjectJson, AllThatPep691And700Have) {
  const ProjectPage page = parse_project_json(
      R"({"meta":{"api-version":"1.1"},"name":"Demo_X","versions":["1.0"],"files":[
        {"filename":"demo_x-1.0.tar.gz","url":"../../f/1","hashes":{"sha256":")" +
          std::string(64, 'B') +
          R"(","blake2b":"c"},"requires-python":">=3.8","yanked":false,"size":123,"upload-time":"2026-01-01T00:00:00Z"},
        {"filename":"demo_x-2.0.tar.gz","url":"https://x.example/2","hashes":{},"yanked":"bad","core-metadata":{"sha256":"AA"}},
        {"filename":"demo_x-3.0.tar.gz","url":"3","hashes":{},"yanked":true,"dist-info-metadata":true,"size":-1,"requires-python":null},
        {"filename":"../demo_x-4.0.tar.gz","url":"4"}, {"filename":"demo_x-5.0.tar.gz"}, {"url":"6"}, 7, null,
        {"filename":"demo_x-8.0.tar.gz","url":"8","hashes":{"sha256":"zz"}}]})",
      k_url);
  EXPECT_EQ(page.name, "demo-x");
  ASSERT_EQ(names(page), (std::vector<std::string>{"demo_x-1.0.tar.gz", "demo_x-2.0.tar.gz", "demo_x-3.0.tar.gz"}));
  EXPECT_EQ(page.files[0].url, "https://index.example/f/1");
  EXPECT_EQ(page.files[0].hashes.at("sha256"), std::string(64, 'b'));
  EXPECT_EQ(page.files[0].size, 123U);
  EXPECT_EQ(page.files[0].requires_python, ">=3.8");
  EXPECT_EQ(page.files[0].upload_time, "2026-01-01T00:00:00Z");
  EXPECT_FALSE(page.files[0].yanked);
  EXPECT_EQ(page.files[1].yanked, "bad");
  EXPECT_EQ(page.files[2].yanked, "");
  EXPECT_FALSE(page.files[2].size);
}

TEST(ProjectJson, InvalidPages) {
  for (const char* text :
       {"", "[]", "{}", R"({"files":{}})", R"({"meta":{"api-version":"2.0"},"files":[]})", "{\"files\":["}) {
    EXPECT_THROW(parse_project_json(text, k_url), Error) << text;
  }
}

TEST(SdistVersion, OfFileNames) {
  struct Row {
    const char *file, *project, *version;
  };
  for (const Row& row : {Row{"torch_scatter-2.1.2.tar.gz", "torch-scatter", "2.1.2"},
                         {"Torch.Scatter-2.1.2.zip", "torch_scatter", "2.1.2"},
                         {"torch-scatter-2.1.2.tar.gz", "torch-scatter", "2.1.2"},
                         {"torch-scatter-2.1.2.tar.gz", "torch", ""},
                         {"flash_attn-2.8.3.post2.tar.gz", "flash-attn", "2.8.3.post2"},
                         {"demo-1.0-2.tar.gz", "demo", "1.0-2"},
                         {"demo-1.0.tar.bz2", "demo", "1.0"},
                         {"demo-1.0-py3-none-any.whl", "demo", ""},
                         {"demo-1.0", "demo", ""},
                         {"demo.tar.gz", "demo", ""},
                         {"-1.0.tar.gz", "", "1.0"}}) {
    EXPECT_EQ(sdist_version(row.file, row.project).value_or(""), row.version) << row.file;
  }
}

ProjectPage page_of(const std::vector<ProjectFile>& files) { return {.name = "demo", .files = files}; }

ProjectFile sdist(const std::string& version, const std::string& requires_python = "",
                  std::optional<std::string> yanked = std::nullopt) {
  ProjectFile file;
  file.name = "demo-" + version + ".tar.gz";
  file.requires_python = requires_python;
  file.yanked = std::move(yanked);
  return file;
}

TEST(ChooseSdist, Table) {
  ProjectFile zip = sdist("1.10");
  zip.name = "demo-1.10.zip";
  ProjectFile wheel = sdist("9.0");
  wheel.name = "demo-9.0-py3-none-any.whl";
  const ProjectPage page = page_of({sdist("1.9"), zip, sdist("1.10"), sdist("1.11", "", "broken"),
                                    sdist("1.12", ">=3.12"), sdist("2.0rc1"), sdist("1.8", "rubbish"), wheel});
  struct Row {
    const char* specifiers;
    bool prereleases;
    const char* version;
  };
  for (const Row& row : {Row{"", false, "1.10"},
                         {"", true, "2.0rc1"},
                         {"==1.11", false, "1.11"},
                         {"==1.11.*", false, ""},
                         {"<1.10", false, "1.9"},
                         {"<1.9", false, "1.8"},
                         {">=2.0rc1", false, "2.0rc1"},
                         {">1.12", false, "2.0rc1"},
                         {"==1.12", false, ""},
                         {"==7", false, ""}}) {
    const auto choice = choose_sdist(page, row.specifiers, Version::parse("3.11"), row.prereleases);
    EXPECT_EQ(choice ? choice->version : "", row.version) << row.specifiers;
    EXPECT_TRUE(!choice || choice->file.name.ends_with(".tar.gz"));
  }
  EXPECT_THROW(choose_sdist(page, "=>1", Version::parse("3.11"), false), Error);
}

TEST(ChooseSdist, SaysWhyNot) {
  const ProjectPage page = page_of({sdist("1.12", ">=3.12"), sdist("1.11", "", "broken"), sdist("1.10")});
  const auto why = [&](const char* specifiers) {
    std::vector<PassedOver> passed_over;
    EXPECT_FALSE(choose_sdist(page, specifiers, Version::parse("3.11"), false, &passed_over));
    return why_no_sdist(page, specifiers, passed_over);
  };
  EXPECT_EQ(why("==1.13"), "no sdist matches \"demo==1.13\". There are 1.12, 1.11, 1.10; the closest is 1.12");
  EXPECT_EQ(
      why(">=1.11"),
      "no sdist matches \"demo>=1.11\": 1.12 requires Python >=3.12, this is 3.11; 1.11 is yanked (broken). There are "
      "1.12, 1.11, 1.10");
  EXPECT_EQ(why_no_sdist(page_of({}), "", {}), "demo has no sdist in the index (no files at all); use another source");
}

}  // namespace
}  // namespace wheelsmith::pep
