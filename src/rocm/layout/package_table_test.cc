#include "rocm/layout/package_table.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::rocm {
namespace {

TEST(PathMatches, FollowsTheArtifactsPatternLanguage) {
  struct Case {
    const char* pattern;
    const char* path;
    bool matches;
  };
  const Case cases[] = {
      {"**/cmake/**", "lib/cmake/hip/hip-config.cmake", true},
      {"**/cmake/**", "cmake/x", true},
      {"**/cmake/**", "lib/cmake", true},  // the folder itself
      {"**/cmake/**", "lib/cmake.txt", false},
      {"**/cmake/**", "lib/xcmake/y", false},
      {"bin/rocprof-*", "bin/rocprof-sys-run", true},
      {"bin/rocprof-*", "bin/rocprof-x/y", false},
      {"bin/rocprof-*", "bin/rocprofv3", false},
      {"share/**/rocprofiler-systems/**", "share/rocprofiler-systems/a/b", true},
      {"share/**/rocprofiler-systems/**", "share/doc/x/rocprofiler-systems/a", true},
      {"lib/a?.so", "lib/ab.so", true},
      {"lib/a?.so", "lib/a.so", false},  // exactly one character
      {"lib/a?.so", "lib/abc.so", false},
      {"lib/*.so.*", "lib/libx.so.1.2", true},
      {"lib/*.so.*", "lib/libx.so", false},
      {"*a*b*c", "xaybzc", true},
      {"*a*b*c", "xaybz", false},
      {"**", "any/thing", true},
      {"lib/**", "lib", true},
      {"lib/**", "library/x", false},
  };
  for (const Case& one : cases)
    EXPECT_EQ(path_matches(one.pattern, one.path), one.matches) << one.pattern << " " << one.path;
}

const PackageRow& row(const std::vector<PackageRow>& table, const std::string& name) {
  for (const PackageRow& one : table) {
    if (one.name == name) return one;
  }
  throw Error("no row " + name);
}

TEST(PackageTable, SaysWhereEachArtifactGoes) {
  const std::vector<PackageRow> kpack = package_table(true), family = package_table(false);
  const auto takes = [](const std::vector<PackageRow>& table, const char* package, const char* artifact,
                        const char* own) { return row(table, package).takes(*parse_artifact_name(artifact), own); };
  EXPECT_TRUE(takes(kpack, "core", "core-hip_lib_generic", ""));
  EXPECT_TRUE(takes(kpack, "core", "core-hip_dev_generic", ""));
  EXPECT_FALSE(takes(kpack, "core", "amd-llvm_dev_generic", ""));
  EXPECT_TRUE(takes(kpack, "libraries", "blas_lib_generic", ""));
  EXPECT_FALSE(takes(kpack, "libraries", "blas_lib_gfx942", ""));
  EXPECT_TRUE(takes(family, "libraries", "blas_lib_gfx94X-dcgpu", "gfx94X-dcgpu"));
  EXPECT_FALSE(takes(family, "libraries", "blas_lib_gfx94X-dcgpu", "gfx120X-all"));
  EXPECT_TRUE(takes(kpack, "device", "blas_lib_gfx942:xnack+", "gfx942"));
  EXPECT_FALSE(takes(kpack, "device", "rpp_lib_gfx942", "gfx942"));
  EXPECT_FALSE(takes(kpack, "device", "blas_lib_generic", "gfx942"));
  // The rest of what runtime packages take from, without tests, profilers and device code.
  EXPECT_TRUE(takes(kpack, "devel", "blas_dev_generic", ""));
  EXPECT_TRUE(takes(kpack, "devel", "prim_dev_generic", ""));
  EXPECT_FALSE(takes(kpack, "devel", "blas_test_generic", ""));
  EXPECT_TRUE(takes(family, "devel", "blas_test_generic", "gfx942"));
  EXPECT_FALSE(takes(kpack, "devel", "rocprofiler-systems_lib_generic", ""));
  EXPECT_FALSE(takes(kpack, "devel", "blas_lib_gfx942", ""));
  EXPECT_FALSE(row(kpack, "core").holds("lib/cmake/hip/hip-config.cmake"));
  EXPECT_TRUE(row(kpack, "core").holds("bin/rocprofv3"));
  EXPECT_TRUE(row(kpack, "core").holds("bin/rocprof-attach"));
  EXPECT_TRUE(takes(kpack, "core", "rocprofiler-sdk_run_generic", ""));
  EXPECT_FALSE(row(kpack, "core").holds("bin/rocprof-sys-run"));
  EXPECT_FALSE(row(kpack, "core").holds("bin/rocprof-compute"));
  EXPECT_FALSE(row(kpack, "profiler").holds("bin/rocprofv3"));
  EXPECT_TRUE(row(kpack, "profiler").holds("bin/rocprof-sys-run"));
}

TEST(PackageTable, SaysWhoYieldsInAConflict) {
  const std::vector<ConflictRule> rules = conflict_rules();
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].yields, "base");
  EXPECT_TRUE(path_matches(rules[0].paths.at(0), "lib/cmake/amd_comgr/amd_comgr-config.cmake"));
  EXPECT_THROW((void)conflict_rules("[[conflict]]\npaths = [\"a\"]\n", "t.toml"), Error);
  EXPECT_THROW((void)conflict_rules("[[conflict]]\npath = [\"a\"]\nyields = \"b\"\n", "t.toml"), Error);
}

TEST(PackageTable, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(package_table("[[package]]\nname = \"x\"\nkinds = \"runtime\"\n", "t.toml", true), Error);
  EXPECT_THROW(package_table("[[package]]\nname = \"x\"\nkind = \"odd\"\n", "t.toml", true), Error);
  EXPECT_THROW(package_table("[[package]]\nname = \"x\"\nonly = [\"/etc/*\"]\n", "t.toml", true), Error);
}

TEST(ArtifactName, HasThreeWords) {
  const auto name = parse_artifact_name("blas_lib_gfx942:xnack+.tar.zst");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->name, "blas");
  EXPECT_EQ(name->component, "lib");
  EXPECT_EQ(name->target, "gfx942:xnack+");
  EXPECT_EQ(name->base_target(), "gfx942");
  EXPECT_EQ(parse_artifact_name("core-hip_dev_generic.tar.xz")->target, "generic");
  EXPECT_FALSE(parse_artifact_name("blas_lib"));
  EXPECT_FALSE(parse_artifact_name("a_b_c_d"));
  EXPECT_FALSE(parse_artifact_name("__"));
  EXPECT_THROW(parse_artifact_name("a_b_gfx\"; import os"), Error);
}

}  // namespace
}  // namespace wheelsmith::rocm
