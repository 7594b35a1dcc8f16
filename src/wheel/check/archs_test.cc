#include "wheel/check/archs.h"

#include <gtest/gtest.h>

namespace wheelsmith::wheel {
namespace {

ElfFacts library(const std::string& path, const std::vector<std::pair<const char*, gpu::CodeKind>>& code) {
  ElfFacts facts;
  facts.path = path;
  for (const auto& [arch, kind] : code) {
    gpu::CodeSum sum;
    sum.arch = gpu::ArchList::parse(arch).requests.at(0).arch;
    sum.kind = kind;
    facts.device_code.sums.push_back(sum);
  }
  return facts;
}

// "error arch-missing" for each finding.
std::vector<std::string> judged(const std::vector<ElfFacts>& files, const std::string& archs,
                                const std::vector<std::string>& devices = {}) {
  std::optional<gpu::ArchList> wanted;
  if (!archs.empty()) wanted = gpu::ArchList::parse(archs);
  std::vector<gpu::Device> found;
  for (const std::string& name : devices) found.push_back(gpu::find_device(name));
  std::vector<std::string> result;
  for (const Finding& finding : check_archs(files, {}, wanted, found, "demo.whl")) {
    result.push_back(std::string(to_string(finding.severity)) + " " + finding.id);
  }
  return result;
}

using Rows = std::vector<std::string>;
constexpr auto k_sass = gpu::CodeKind::sass;
constexpr auto k_ptx = gpu::CodeKind::ptx;
constexpr auto k_hip = gpu::CodeKind::hip;

TEST(CheckArchs, TheListThatWasAskedFor) {
  const std::vector<ElfFacts> files = {library("a.so", {{"sm_80", k_sass}, {"sm_90a", k_sass}, {"sm_90", k_ptx}})};
  EXPECT_EQ(judged(files, ""), Rows());
  EXPECT_EQ(judged(files, "8.0"), (Rows{"warning arch-unasked"}));
  EXPECT_EQ(judged(files, "8.0;9.0a"), (Rows{"warning arch-unasked"}));  // the PTX
  EXPECT_EQ(judged(files, "8.6;8.0;9.0a"), (Rows{"note arch-compatible", "warning arch-unasked"}));
  EXPECT_EQ(judged(files, "8.0;9.0a;7.5")[0], "error arch-missing");
  EXPECT_EQ(judged(files, "8.0;9.0a;12.0")[0], "warning arch-jit-only");
  EXPECT_EQ(judged({library("a.so", {{"sm_90", k_sass}})}, "9.0a")[0], "error arch-missing");
  EXPECT_EQ(judged({}, "9.0")[0], "error arch-missing");
}

TEST(CheckArchs, DevicesByName) {
  const std::vector<ElfFacts> files = {library("a.so", {{"sm_80", k_sass}})};
  EXPECT_EQ(judged(files, "", {"A100"}), Rows());
  EXPECT_EQ(judged(files, "", {"RTX 4090"}), (Rows{"note arch-compatible"}));
  EXPECT_EQ(judged(files, "", {"H100"}), (Rows{"error arch-missing"}));
  EXPECT_EQ(judged({library("a.so", {{"gfx942", k_hip}})}, "", {"MI300X"}), Rows());
}

TEST(CheckArchs, ALibraryThatLacksWhatItsSiblingsHave) {
  const std::vector<ElfFacts> files = {library("a.so", {{"sm_80", k_sass}, {"sm_90", k_sass}}),
                                       library("b.so", {{"sm_80", k_sass}}), library("host.so", {})};
  EXPECT_EQ(judged(files, "8.0;9.0"), (Rows{"warning arch-missing-in-file"}));
}

}  // namespace
}  // namespace wheelsmith::wheel
