#include "wheel/tags/variant_properties.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace wheelsmith::wheel {
namespace {

using gpu::CodeKind;

struct Code {
  gpu::Arch arch;
  CodeKind kind = CodeKind::sass;
};

Code sm(std::uint32_t number, const char* suffix = "") { return {gpu::nvidia_arch(number, suffix), CodeKind::sass}; }
Code ptx(std::uint32_t number) { return {gpu::nvidia_arch(number), CodeKind::ptx}; }
Code gfx(const char* target) { return {gpu::amd_arch(target), CodeKind::hip}; }

Scan scanned(const std::vector<Code>& codes, std::vector<std::string> needed = {}, std::uint32_t isa = 0) {
  ElfFacts file;
  file.path = "demo/lib.so";
  file.needed = std::move(needed);
  file.x86_isa_needed = isa;
  for (const Code& code : codes) {
    gpu::CodeSum sum;
    sum.arch = code.arch;
    sum.kind = code.kind;
    file.device_code.sums.push_back(sum);
  }
  Scan scan;
  scan.elf.push_back(std::move(file));
  return scan;
}

Distribution distribution(const std::string& version, const std::vector<std::string>& requirements = {}) {
  std::string text = "Metadata-Version: 2.1\nName: demo\nVersion: " + version + "\n";
  for (const std::string& one : requirements) text += "Requires-Dist: " + one + "\n";
  Distribution result;
  result.metadata = pep::Headers::parse(Bytes(text));
  return result;
}

std::string found(const Scan& scan, const Distribution& from = distribution("1.0")) {
  return join(pep::to_strings(find_variant_properties(scan, from).properties), ", ");
}

TEST(VariantProperties, AreThoseOfTheBinaries) {
  const std::string real = "nvidia :: sm_arch :: ";
  EXPECT_EQ(found(scanned({})), "");
  EXPECT_EQ(found(scanned({sm(80), sm(86), sm(90)})), real + "80_real, " + real + "86_real, " + real + "90_real");
  EXPECT_EQ(found(scanned({sm(80), ptx(80)})), real + "80_real, " + real + "80_virtual");
  // No GPU is a 9.1, so that sm_90a serves all that "90_real" promises; a 10.3 exists.
  EXPECT_EQ(found(scanned({sm(90, "a")})), real + "90_real");
  EXPECT_EQ(found(scanned({sm(100, "a")})), "");
  EXPECT_EQ(found(scanned({sm(100, "f")})), real + "100_real");
  EXPECT_EQ(found(scanned({sm(100, "a"), sm(103, "a")})), real + "100_real, " + real + "103_real");
  EXPECT_EQ(found(scanned({gfx("gfx90a:xnack-"), gfx("gfx942")})),
            "amd :: gfx_arch :: gfx90a, amd :: gfx_arch :: gfx942");
  EXPECT_EQ(found(scanned({}, {}, 1 | 2 | 4)), "x86_64 :: level :: v3");
  EXPECT_EQ(found(scanned({}, {}, 1)), "");
}

TEST(VariantProperties, FindTheVersions) {
  const std::string bound = "nvidia :: cuda_version_lower_bound :: ";
  EXPECT_EQ(found(scanned({}, {"libc.so.6", "libcudart.so.13"})), bound + "13.0");
  EXPECT_EQ(found(scanned({}, {"libcudart-1b6b9b1f.so.12.8.90"})), bound + "12.0");
  EXPECT_EQ(found(scanned({}, {"libcudart.so.11.0"})), bound + "11.0");
  EXPECT_EQ(found(scanned({}, {"libcudnn.so.9", "libcufft.so.11"})), "");
  const std::string both = bound + "12.0, nvidia :: sm_arch :: 90_real";
  EXPECT_EQ(found(scanned({sm(90)}), distribution("1.0", {"nvidia-cuda-runtime-cu12==12.8.90"})), both);
  EXPECT_EQ(found(scanned({sm(90)}), distribution("1.0", {"nvidia-cuda-runtime~=12.8"})), both);
  EXPECT_EQ(found(scanned({sm(90)}), distribution("1.0+cu128")), both);
  const std::string rocm = "amd :: gfx_arch :: gfx942, amd :: rocm_version :: ";
  EXPECT_EQ(found(scanned({gfx("gfx942")}), distribution("1.0", {"rocm[libraries]==7.10.0"})), rocm + "7.10");
  EXPECT_EQ(found(scanned({gfx("gfx942")}), distribution("1.0+rocm7.1.1")), rocm + "7.1");
}

std::string ids(const char* properties, const Scan& scan) {
  pep::VariantProperties declared;
  for (const std::string_view one : split(std::string_view(properties), ',')) pep::add_property(declared, one);
  std::string result;
  for (const Finding& finding : check_variant_properties(declared, scan, distribution("1.0"), "demo"))
    result += (result.empty() ? "" : " ") + finding.id.substr(8);
  return result;
}

TEST(VariantProperties, AreComparedWithTheBinaries) {
  EXPECT_EQ(ids("nvidia::sm_arch::80_real,nvidia::sm_arch::90_real", scanned({sm(80), sm(90)})), "");
  EXPECT_EQ(ids("nvidia::sm_arch::90_real", scanned({sm(80)})), "property-false property-missing");
  EXPECT_EQ(ids("nvidia::sm_arch::80_real", scanned({sm(86)})), "property-false");
  // sm_80 runs on a 8.6; "86_real" is true, and the 8.0 is not reached.
  EXPECT_EQ(ids("nvidia::sm_arch::86_real", scanned({sm(80)})), "property-missing");
  EXPECT_EQ(ids("nvidia::sm_arch::100_real", scanned({sm(100, "a")})), "property-false");
  EXPECT_EQ(ids("nvidia::sm_arch::90a_real", scanned({sm(90, "a")})), "value-unknown property-missing");
  EXPECT_EQ(ids("nvidia::sm_arch::90_virtual", scanned({ptx(80)})), "");
  EXPECT_EQ(ids("amd::gfx_arch::gfx942", scanned({gfx("gfx942"), gfx("gfx90a")})), "property-missing");
  EXPECT_EQ(ids("amd::gfx_arch::gfx1100", scanned({gfx("gfx942")})), "property-false property-missing");
  EXPECT_EQ(ids("amd::gfx_arch::gfx115x", scanned({gfx("gfx1151")})), "");
  EXPECT_EQ(ids("nvidia::cuda_version_lower_bound::12.6", scanned({}, {"libcudart.so.13"})), "property-false");
  EXPECT_EQ(ids("nvidia::cuda_version_lower_bound::13.2", scanned({}, {"libcudart.so.13"})), "");
  EXPECT_EQ(ids("x86_64::level::v2", scanned({}, {}, 8)), "property-false");
}

}  // namespace
}  // namespace wheelsmith::wheel
