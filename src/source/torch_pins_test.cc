#include "source/torch_pins.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"

namespace wheelsmith::source {
namespace {

const std::string k_a(40, 'a');
const std::string k_b(40, 'b');

FileReader files(std::map<std::string, std::string> texts) {
  return [texts = std::move(texts)](const std::string& path) -> std::optional<std::string> {
    const auto found = texts.find(path);
    if (found == texts.end()) return {};
    return found->second;
  };
}

std::string record(const std::string& os, const std::string& project, const std::string& commit,
                   const std::string& url = "https://example.org/audio") {
  return os + "|pytorch|" + project + "|release/2.10|" + commit + "|" + url + "\n";
}

TEST(RelatedCommits, ParseWithLineNumbers) {
  const auto found =
      parse_related_commits("# made by hand\n\n ubuntu | pytorch | torchaudio | release/2.10 | " + k_a +
                                " | https://example.org/audio \r\n" + record("centos", "torchaudio", k_a),
                            "related_commits");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].project, "torchaudio");
  EXPECT_EQ(found[0].commit, k_a);
  EXPECT_EQ(found[0].url, "https://example.org/audio");
  EXPECT_EQ(found[0].branch, "release/2.10");
  EXPECT_EQ(found[0].line, 3U);
  EXPECT_EQ(found[1].os, "centos");
}

TEST(RelatedCommits, RejectMalformedLines) {
  const struct {
    std::string text, message;
  } table[] = {
      {"ubuntu|pytorch|torchaudio|x|" + k_a + "\n", "f:1: 5 fields instead of six"},
      {"\n" + record("ubuntu", "x", k_a) + "a|b|c|d|" + k_a + "|u|v\n", "f:3: 7 fields instead of six"},
      {"just words\n", "f:1: 1 field instead of six"},
      {record("ubuntu", "x", "v1.2"), "f:1: \"v1.2\" is not a commit"},
      {record("ubuntu", "x", std::string(40, 'A')), "is not a commit"},
      {record("ubuntu", "x", k_a, ""), "f:1: \"\" is not a URL"},
      {record("ubuntu", "x", k_a, "--upload-pack=x"), "is not a URL"},
      {record("", "x", k_a), "f:1: no system or no project"},
      {record("ubuntu", "x", k_a) + record("ubuntu", "x", k_b),
       "f:2: x on ubuntu is bbbbbbbbbbbb here but aaaaaaaaaaaa"},
      {record("ubuntu", "x", k_a) + record("ubuntu", "x", k_a, "https://example.org/y"), "in line 1"},
  };
  for (const auto& row : table) {
    try {
      (void)parse_related_commits(row.text, "f");
      ADD_FAILURE() << row.text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << error.what();
    }
  }
  // Repeating the same is not a contradiction, nor is another system's commit.
  EXPECT_EQ(
      parse_related_commits(record("ubuntu", "x", k_a) + record("ubuntu", "x", k_a) + record("centos", "x", k_b), "f")
          .size(),
      3U);
}

TEST(TorchPins, PreferTheRecordToFiles) {
  const std::string records = record("centos", "torchaudio", k_b) + record("ubuntu", "torchaudio", k_a);
  const struct {
    std::string name;
    std::map<std::string, std::string> texts;
    std::string url, ref, where;
  } table[] = {
      {"record",
       {{"related_commits", records}, {"pin.txt", k_b}},
       "https://example.org/audio",
       k_a,
       "related_commits:2"},
      {"one system",
       {{"related_commits", record("centos", "torchaudio", k_b)}},
       "https://example.org/audio",
       k_b,
       "related_commits:1"},
      {"other project",
       {{"related_commits", record("ubuntu", "apex", k_b)}, {"pin.txt", k_a + "\n"}},
       "",
       k_a,
       "pin.txt"},
      {"file", {{"pin.txt", " " + k_a + " \n\n"}}, "", k_a, "pin.txt"},
      {"tag", {{"second.txt", "v0.25.0-rc1\n"}}, "", "v0.25.0-rc1", "second.txt"},
      {"version", {{".ci/docker/triton_version.txt", "3.5.1\n"}}, "", "release/3.5.x", ".ci/docker/triton_version.txt"},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.name);
    const auto pin =
        pinned_by("torchaudio", {"pin.txt", "second.txt", ".ci/docker/triton_version.txt"}, files(row.texts));
    ASSERT_TRUE(pin);
    EXPECT_EQ(pin->url, row.url);
    EXPECT_EQ(pin->ref, row.ref);
    EXPECT_EQ(pin->where, row.where);
  }
  EXPECT_FALSE(pinned_by("torchaudio", {"pin.txt"}, files({})));
  EXPECT_FALSE(pinned_by("", {}, files({{"related_commits", records}})));
}

TEST(TorchPins, RejectInvalidPins) {
  const std::map<std::string, std::string> table = {
      {"", "must contain a commit or tag"},
      {"a b\n", "must contain a commit or tag"},
      {"--upload-pack=x\n", "must contain a commit"},
      {k_a + "\n" + k_b + "\n", "more than one line"},
      {"../x\n", "must contain a commit"},
  };
  for (const auto& [text, message] : table) {
    try {
      (void)pinned_by("", {"pin.txt"}, files({{"pin.txt", text}}));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW((void)pinned_by("", {"triton_version.txt"}, files({{"triton_version.txt", "three"}})), Error);
  EXPECT_THROW(
      (void)pinned_by("x", {}, files({{"related_commits", record("centos", "x", k_a) + record("win", "x", k_b)}})),
      Error);
}

}  // namespace
}  // namespace wheelsmith::source
