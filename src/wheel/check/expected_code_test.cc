#include "wheel/check/expected_code.h"

#include <gtest/gtest.h>

namespace wheelsmith::wheel {
namespace {

// "sm_80 sm_90a compute_90 gfx942": what a library holds.
ElfFacts library_with(const std::string& path, const std::vector<std::string>& code) {
  ElfFacts facts;
  facts.path = path;
  for (const std::string& name : code) {
    const gpu::ArchRequest request = gpu::ArchList::parse(name).requests.at(0);
    gpu::CodeSum sum;
    sum.arch = request.arch;
    sum.kind = request.arch.vendor == gpu::Vendor::amd ? gpu::CodeKind::hip
               : request.binary                        ? gpu::CodeKind::sass
                                                       : gpu::CodeKind::ptx;
    facts.device_code.sums.push_back(sum);
  }
  return facts;
}

struct Row {
  gpu::ExpectedCode expected;
  std::string asked;
  std::vector<std::string> code;
  std::vector<std::string>
      findings;  // "error arch-missing-in-file has no device code for 9.0; ..." without the part after ';'
};

std::vector<std::string> found_in(const Row& row) {
  std::vector<std::string> result;
  const std::vector<ElfFacts> files = {library_with("p/lib.so", row.code)};
  for (const Finding& one : check_expected_code(files, gpu::ArchList::parse(row.asked), {row.expected})) {
    const bool missing = one.id == "arch-missing-in-file";
    result.push_back(std::string(to_string(one.severity)) + " " + one.id + " " +
                     (missing ? one.what.substr(0, one.what.find(';')) : one.what));
  }
  return result;
}

gpu::ExpectedCode expect(gpu::ExpectedCode::Must must, std::vector<std::string> only = {},
                         std::vector<std::string> may = {}, std::vector<std::string> must_not = {}) {
  gpu::ExpectedCode expected;
  expected.library = "p/lib*";
  expected.must = must;
  expected.only = std::move(only);
  expected.may = std::move(may);
  expected.must_not = std::move(must_not);
  return expected;
}

TEST(ExpectedCode, MustMayAndMustNot) {
  using Must = gpu::ExpectedCode::Must;
  const std::string lacks = "error arch-missing-in-file has no device code for ";
  const std::string unasked = "warning arch-unasked contains device code that was not requested: ";
  const std::vector<Row> rows = {
      // Each: its own code, where the a variant of what was asked for counts, and nothing besides.
      {expect(Must::each), "8.0;9.0", {"sm_80", "sm_90"}, {}},
      {expect(Must::each), "8.0;9.0", {"sm_80", "sm_90a"}, {}},
      {expect(Must::each), "8.0;9.0a", {"sm_80", "sm_90"}, {lacks + "9.0a"}},
      {expect(Must::each), "8.0;8.6", {"sm_80"}, {lacks + "8.6"}},
      {expect(Must::each), "8.0", {"sm_80", "sm_90"}, {unasked + "9.0"}},
      {expect(Must::each, {}, {"9.0*"}), "8.0", {"sm_80", "sm_90", "sm_90a"}, {}},
      {expect(Must::each), "8.0;9.0+PTX", {"sm_80", "sm_90", "compute_90"}, {}},
      {expect(Must::each), "8.0", {}, {lacks + "8.0"}},
      {expect(Must::each), "8.0", {"compute_80"}, {lacks + "8.0"}},
      // All or none: host code alone is right too.
      {expect(Must::all_or_none), "8.0;9.0", {}, {}},
      {expect(Must::all_or_none), "8.0;9.0", {"sm_80", "sm_90"}, {}},
      {expect(Must::all_or_none), "8.0;9.0", {"sm_80"}, {lacks + "9.0"}},
      // Served: sm_80 runs on 8.6 and 8.9, but not on 9.0 nor on a Tegra.
      {expect(Must::served), "8.6;8.9", {"sm_80"}, {}},
      {expect(Must::served), "8.6;9.0", {"sm_80"}, {lacks + "9.0"}},
      {expect(Must::served), "8.7", {"sm_80"}, {lacks + "8.7", unasked + "8.0"}},
      {expect(Must::served), "10.3", {"sm_100f"}, {}},
      // Some: kernels for part of the list.
      {expect(Must::some, {"9.0*", "10.0*"}), "8.0;9.0;10.0", {"sm_90a"}, {}},
      {expect(Must::some, {"9.0*", "10.0*"}), "8.0;9.0;10.0", {}, {lacks + "any of 9.0, 10.0"}},
      {expect(Must::some, {"9.0*", "10.0*"}), "8.0", {}, {}},
      {expect(Must::nothing), "8.0;9.0", {}, {}},
      {expect(Must::nothing), "9.0", {"sm_80"}, {unasked + "8.0"}},
      // What does not work is an error, asked for or not.
      {expect(Must::each, {}, {}, {"8.0"}),
       "8.0;9.0a",
       {"sm_80", "sm_90a"},
       {"error arch-unexpected contains device code for 8.0, which the recipe excludes"}},
      // AMD: features that the code fixes are of the same processor.
      {expect(Must::each), "gfx942;gfx90a", {"gfx942", "gfx90a:xnack-"}, {}},
      {expect(Must::each), "gfx942;gfx1151", {"gfx942"}, {lacks + "gfx1151"}},
      {expect(Must::each), "gfx942", {"gfx942", "gfx950"}, {unasked + "gfx950"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(found_in(row), row.findings)
        << "asked for " << row.asked << ", found " << ::testing::PrintToString(row.code);
  }
}

TEST(ExpectedCode, TheFirstThatFitsHoldsAndOthersAreOnlyWarnedAbout) {
  gpu::ExpectedCode special = expect(gpu::ExpectedCode::Must::nothing);
  special.library = "p/special*.so";
  gpu::ExpectedCode all = expect(gpu::ExpectedCode::Must::each);
  all.library = "p/*.so";
  const std::vector<ElfFacts> files = {library_with("p/special_9.so", {}), library_with("p/main.so", {"sm_80"}),
                                       library_with("q/other.so", {"sm_80"}), library_with("q/host.so", {})};
  std::vector<std::string> found;
  for (const Finding& one : check_expected_code(files, gpu::ArchList::parse("8.0;9.0"), {special, all}))
    found.push_back(std::string(to_string(one.severity)) + " " + one.subject);
  EXPECT_EQ(found, (std::vector<std::string>{"error p/main.so", "warning q/other.so"}));
}

}  // namespace
}  // namespace wheelsmith::wheel
