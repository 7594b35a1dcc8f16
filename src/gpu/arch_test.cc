#include "gpu/arch.h"

#include <gtest/gtest.h>

namespace wheelsmith::gpu {
namespace {

struct FitRow {
  const char *code, *device;
  Fit expected;
};

Fit fit_of(const FitRow& row) {
  const ArchRequest code = ArchList::parse(row.code).requests.at(0);
  const CodeKind kind = code.arch.vendor == Vendor::amd ? CodeKind::hip : code.binary ? CodeKind::sass : CodeKind::ptx;
  return fit(code.arch, kind, ArchList::parse(row.device).requests.at(0).arch);
}

TEST(Fit, Nvidia) {
  for (const FitRow& row : {
           FitRow{"sm_80", "8.0", Fit::native}, {"sm_80", "8.6", Fit::native},      {"sm_80", "8.9", Fit::native},
           {"sm_86", "8.0", Fit::none},         {"sm_80", "9.0", Fit::none},        {"sm_90", "9.0", Fit::native},
           {"sm_90a", "9.0", Fit::native},      {"sm_90", "10.0", Fit::none},       {"sm_90a", "10.0", Fit::none},
           {"sm_100", "10.3", Fit::native},     {"sm_100f", "10.3", Fit::native},   {"sm_100a", "10.3", Fit::none},
           {"sm_103", "10.3", Fit::native},     {"sm_103a", "10.3", Fit::native},   {"sm_103f", "10.3", Fit::native},
           {"sm_103f", "10.0", Fit::none},      {"sm_100f", "12.0", Fit::none},     {"sm_100", "11.0", Fit::none},
           {"sm_110f", "11.0", Fit::native},    {"sm_120", "12.1", Fit::native},    {"sm_120f", "12.1", Fit::native},
           {"sm_120a", "12.1", Fit::none},      {"sm_121", "12.0", Fit::none},      {"sm_121a", "12.1", Fit::native},
           {"compute_80", "8.0", Fit::jit},     {"compute_80", "12.1", Fit::jit},   {"compute_90", "8.9", Fit::none},
           {"compute_90a", "9.0", Fit::jit},    {"compute_90a", "10.0", Fit::none}, {"compute_100f", "10.3", Fit::jit},
           {"compute_100f", "12.0", Fit::none}, {"compute_100", "12.0", Fit::jit},  {"compute_100a", "10.3", Fit::none},
           {"sm_90", "gfx942", Fit::none},
       }) {
    EXPECT_EQ(fit_of(row), row.expected) << row.code << " on " << row.device;
  }
}

TEST(Fit, TegraTakesItsOwnBinaryCodeOnly) {
  for (const FitRow& row : {
           FitRow{"sm_80", "8.7", Fit::none},
           {"sm_86", "8.7", Fit::none},
           {"sm_87", "8.7", Fit::native},
           {"sm_87", "8.9", Fit::none},
           {"sm_70", "7.2", Fit::none},
           {"sm_72", "7.5", Fit::none},
           {"sm_100f", "10.1", Fit::none},
           {"compute_80", "8.7", Fit::jit},
           {"compute_87", "8.9", Fit::jit},
       }) {
    EXPECT_EQ(fit_of(row), row.expected) << row.code << " on " << row.device;
  }
}

TEST(Fit, Amd) {
  for (const FitRow& row : {
           FitRow{"gfx942", "gfx942:sramecc+:xnack-", Fit::native},
           {"gfx942:xnack-", "gfx942:sramecc+:xnack-", Fit::native},
           {"gfx942:xnack+", "gfx942:sramecc+:xnack-", Fit::none},
           {"gfx942:xnack+", "gfx942", Fit::native},
           {"gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-", Fit::native},
           {"gfx90a:sramecc-", "gfx90a:sramecc+:xnack-", Fit::none},
           {"gfx942", "gfx950", Fit::none},
           {"gfx9-4-generic", "gfx942", Fit::native},
           {"gfx9-4-generic", "gfx950:sramecc+:xnack-", Fit::native},
           {"gfx9-4-generic:xnack+", "gfx950:sramecc+:xnack-", Fit::none},
           {"gfx9-4-generic", "gfx90a", Fit::none},
           {"gfx9-generic", "gfx906", Fit::native},
           {"gfx9-generic", "gfx908", Fit::none},
           {"gfx10-1-generic", "gfx1012", Fit::native},
           {"gfx10-3-generic", "gfx1036", Fit::native},
           {"gfx11-generic", "gfx1151", Fit::native},
           {"gfx12-generic", "gfx1201", Fit::native},
           {"gfx12-generic", "gfx1250", Fit::none},
           {"gfx1100", "gfx1101", Fit::none},
           {"amdgcnspirv", "gfx1151", Fit::jit},
           {"amdgcnspirv", "9.0", Fit::none},
       }) {
    EXPECT_EQ(fit_of(row), row.expected) << row.code << " on " << row.device;
  }
}

TEST(Fit, LtoIrAndMismatchedKindsReachNothing) {
  EXPECT_EQ(fit(nvidia_arch(90), CodeKind::ltoir, nvidia_arch(90)), Fit::none);
  EXPECT_EQ(fit(nvidia_arch(90), CodeKind::hip, nvidia_arch(90)), Fit::none);
  EXPECT_EQ(fit(amd_arch("gfx942"), CodeKind::sass, amd_arch("gfx942")), Fit::none);
  EXPECT_EQ(fit(amd_arch(""), CodeKind::hip, amd_arch("gfx942")), Fit::none);
}

TEST(Arch, Names) {
  EXPECT_EQ(display_name(nvidia_arch(90, "a"), CodeKind::sass), "sm_90a");
  EXPECT_EQ(display_name(nvidia_arch(90, "a"), CodeKind::ltoir), "sm_90a");
  EXPECT_EQ(display_name(nvidia_arch(100, "f"), CodeKind::ptx), "compute_100f");
  EXPECT_EQ(display_name(amd_arch("gfx90a:xnack-:sramecc+"), CodeKind::hip), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(to_string(CodeKind::ltoir), "ltoir");
}

}  // namespace
}  // namespace wheelsmith::gpu
