#include "rocm/fetch/fetch.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::rocm {
namespace {

std::vector<std::string> names_of(const std::vector<ListedFile>& files) {
  std::vector<std::string> names;
  for (const ListedFile& file : files) names.push_back(file.name);
  return names;
}

TEST(BucketPageTest, OnlyFilesOfTheRun) {
  const BucketPage page = parse_bucket_page(
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>a&amp;b=</NextContinuationToken>"
      "<Contents><Key>7-linux/a_lib_generic.tar.zst</Key><Size>12</Size></Contents>"
      "<Contents><Key>7-linux/</Key></Contents><Contents><Key>7-linux/x/y</Key></Contents>"
      "<Contents><Key>7-linux/..</Key></Contents><Contents><Key>77-linux/b</Key></Contents>"
      "<Contents><Key>7-linux/a&#x2b;b&amp;c</Key></Contents></ListBucketResult>",
      "7-linux/");
  EXPECT_EQ(names_of(page.files), (std::vector<std::string>{"a_lib_generic.tar.zst", "a+b&c"}));
  EXPECT_EQ(page.files[0].size, 12U);
  EXPECT_FALSE(page.files[1].size);
  EXPECT_EQ(page.next, "a&b=");
}

TEST(BucketPageTest, TheLastPageAndNoPage) {
  EXPECT_EQ(parse_bucket_page("<ListBucketResult><IsTruncated>false</IsTruncated>"
                              "<NextContinuationToken>x</NextContinuationToken></ListBucketResult>",
                              "")
                .next,
            "");
  EXPECT_THROW(parse_bucket_page("<html></html>", ""), Error);
  EXPECT_THROW(parse_bucket_page("<ListBucketResult><Contents><Key>x", ""), Error);
}

TEST(PlaceTest, UrlsAreEscaped) {
  EXPECT_EQ(place_of("https://x/b", "7-linux", "a_lib_gfx942:xnack+.tar.xz"),
            "https://x/b/7-linux/a_lib_gfx942%3Axnack%2B.tar.xz");
  EXPECT_EQ(place_of("/srv", "7-linux", "a b"), "/srv/7-linux/a b");
}

constexpr std::string_view k_topology = R"(
[build_stages.first]
artifact_groups = ["base"]
[build_stages.second]
artifact_groups = ["math"]
[build_stages.third]
artifact_groups = ["apps"]
[artifact_groups.base]
[artifact_groups.math]
artifact_group_deps = ["base"]
[artifact_groups.apps]
[artifacts.core]
artifact_group = "base"
[artifacts.tools]
artifact_group = "base"
disable_platforms = ["windows"]
[artifacts.blas]
artifact_group = "math"
type = "target-specific"
artifact_deps = ["core", "solver"]
[artifacts.solver]
artifact_group = "math"
artifact_deps = ["blas"]
[artifacts.app]
artifact_group = "apps"
artifact_deps = ["solver"]
)";

TEST(TopologyTest, WhatStagesNeed) {
  const Topology topology = parse_topology(k_topology, "t");
  using Names = std::set<std::string>;
  EXPECT_EQ(topology.inbound("first", "linux"), Names());
  EXPECT_EQ(topology.inbound("second", "linux"), (Names{"core", "tools"}));
  EXPECT_EQ(topology.inbound("second", "windows"), (Names{"core"}));
  EXPECT_EQ(topology.inbound("third", "linux"),
            (Names{"blas", "core", "solver"}));  // all the way, round in circles too
  EXPECT_THROW((void)topology.inbound("fourth", "linux"), Error);
  EXPECT_THROW(parse_topology("x = 1", "t"), Error);
}

std::vector<std::string> chosen(const FetchSelection& selection, const Topology* topology = nullptr) {
  const std::vector<ListedFile> files = {{"core_lib_generic.tar.xz", 1},     {"core_lib_generic.tar.zst", 2},
                                         {"core_dbg_generic.tar.zst", 3},    {"blas_lib_gfx942:xnack+.tar.xz", 4},
                                         {"blas_lib_gfx1151.tar.zst", 5},    {"core_lib_generic.tar.zst.sha256sum", 6},
                                         {"some_log_with_words.tar.zst", 7}, {"therock.tar.gz", 8}};
  std::vector<std::string> names;
  for (const ChosenFile& file : choose_files(files, selection, topology)) names.push_back(file.file);
  return names;
}

TEST(ChooseTest, Table) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(chosen({}), (Names{"blas_lib_gfx1151.tar.zst", "blas_lib_gfx942:xnack+.tar.xz", "core_dbg_generic.tar.zst",
                               "core_lib_generic.tar.zst"}));
  EXPECT_EQ(chosen({.exclude_components = {"dbg"}, .targets = {"gfx942"}}).size(), 2U);
  EXPECT_EQ(chosen({.generic_only = true}).size(), 2U);
  EXPECT_EQ(chosen({.include = {"^blas"}, .exclude = {"1151"}}), (Names{"blas_lib_gfx942:xnack+.tar.xz"}));
}

TEST(ChooseTest, WhatIsMissingIsNamed) {
  const Topology topology = parse_topology(k_topology, "t");
  const auto said = [&](const FetchSelection& selection) -> std::string {
    try {
      (void)chosen(selection, &topology);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said({.targets = {"gfx942", "gfx90a"}}), "the run does not have anything for gfx90a");
  EXPECT_EQ(said({.targets = {"gfx942"}, .artifacts = {{"core", "blas"}}}), "");
  EXPECT_EQ(said({.artifacts = {{"core", "tools"}}}), "the run does not have the artifact tools");
  EXPECT_EQ(said({.include = {"core", "none"}}), "the run does not have a file that matches none");
  EXPECT_EQ(said({.exclude = {"."}}), "the selection matches none of the run's artifacts");
}

}  // namespace
}  // namespace wheelsmith::rocm
