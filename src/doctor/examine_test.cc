#include <gtest/gtest.h>

#include <set>

#include "doctor/test_facts.h"

namespace wheelsmith::doctor {
namespace {

using recipe::Variant;

TEST(Examine, AGoodMachineHasNoBadChecksAndNoFixes) {
  for (const Variant variant : {Variant::cpu, Variant::cuda, Variant::rocm}) {
    Patient patient;
    patient.variant = variant;
    patient.archs = variant == Variant::cuda ? "9.0" : variant == Variant::rocm ? "gfx942" : "";
    if (variant == Variant::rocm) patient.facts.gpus.push_back({"MI300X", gpu::amd_arch("gfx942"), 0, ""});
    std::set<std::string> ids;
    for (const Check& check : patient.all()) {
      EXPECT_EQ(check.state, State::good) << check.id << ": " << check.found << "; " << check.why;
      EXPECT_EQ(check.fix, "") << check.id;
      EXPECT_EQ(check.package, "demo");
      EXPECT_FALSE(check.found.empty()) << check.id;
      EXPECT_FALSE(check.wanted.empty()) << check.id;
      EXPECT_TRUE(ids.insert(check.id).second) << check.id << " twice";
    }
    EXPECT_GE(ids.size(), 9U);
  }
}

TEST(Examine, AnEmptyMachineGetsTheSameReportWithoutExceptions) {
  for (const Variant variant : {Variant::cpu, Variant::cuda, Variant::rocm}) {
    Patient patient;
    patient.variant = variant;
    patient.python = {};
    patient.facts = {};
    patient.recipe += "[requires]\ntorch = \">=2\"\ncmake = \">=3\"\nlibraries = [\"cudnn\"]\nprograms = [\"git\"]\n";
    const std::vector<Check> checks = patient.all();
    EXPECT_TRUE(any_bad(checks));
    for (const Check& check : checks) {
      if (check.state == State::bad) {
        EXPECT_FALSE(check.fix.empty()) << check.id;
      }
      if (check.state != State::good) {
        EXPECT_FALSE(check.why.empty()) << check.id;
      }
    }
  }
}

TEST(Examine, AnIllegalVariantIsABadCheck) {
  Patient patient;
  patient.recipe = "name = \"demo\"\n[source]\nsdist = \"demo\"\n[variant.cpu]\n";
  patient.variant = Variant::cuda;
  EXPECT_EQ(patient.state("variant"), "bad");
  patient.variant = Variant::cpu;
  patient.target = "nonsense";
  EXPECT_EQ(patient.state("variant"), "bad");
}

TEST(Examine, APackagedProgramNeedsNoCompiler) {
  Patient patient;
  patient.recipe = "name = \"demo\"\n[source]\nprogram = true\n[build]\nbackend = \"program\"\n[variant.cpu]\n";
  patient.facts.compiler.reset();
  EXPECT_FALSE(any_bad(patient.all()));
  EXPECT_EQ(patient.state("compiler"), "none");
  EXPECT_EQ(patient.state("disk-store"), "good");
}

TEST(Python, VersionHeadersVenvPip) {
  Patient patient;
  patient.recipe += "[requires]\npython = \">=3.9,<3.11\"\n";
  EXPECT_EQ(patient.find("python").fix, "pip install uv && uv python install 3.10, then --python 3.10");
  patient.python.version = "3.10.1";
  EXPECT_EQ(patient.state("python"), "good");

  patient.python = good_python();
  patient.python.has_headers = patient.python.has_venv = false;
  EXPECT_EQ(patient.find("python-headers").fix, "apt-get install python3.11-dev");
  EXPECT_EQ(patient.find("python-venv").fix, "apt-get install python3.11-venv");
  patient.python.has_pip = false;
  EXPECT_EQ(patient.state("python-pip"), "unknown");
  patient.python.has_ensurepip = false;
  EXPECT_EQ(patient.find("python-pip").fix, "apt-get install python3-pip");
  patient.facts.programs.emplace("uv", program("uv", "0.9"));
  EXPECT_EQ(patient.state("python-venv"), "good");
  EXPECT_EQ(patient.state("python-pip"), "good");
  patient.python.base_prefix = "/home/me/.pyenv/versions/3.11.2";
  EXPECT_EQ(patient.find("python-headers").fix, "uv python install 3.11, then --python 3.11");

  patient.python = {};
  patient.facts.python_problem = "no Python 3.10: tried PATH";
  EXPECT_EQ(patient.state("python"), "bad");
  EXPECT_EQ(patient.find("python").found, "no Python 3.10: tried PATH");
  EXPECT_EQ(patient.state("python-headers"), "none");
}

TEST(Compiler, AbsentOrForCOnly) {
  Patient patient;
  patient.facts.compiler->standard_library.clear();
  EXPECT_EQ(patient.find("compiler").fix, "apt-get install g++");
  patient.facts.compiler->family = "clang";
  EXPECT_EQ(patient.find("compiler").fix, "apt-get install libstdc++-12-dev");
  patient.facts.compiler.reset();
  EXPECT_EQ(patient.find("compiler").fix, "apt-get install build-essential");
  patient.facts.compiler_problem = "there is no gcc-99";
  EXPECT_EQ(patient.find("compiler").found, "there is no gcc-99");
  EXPECT_NE(patient.find("compiler").fix.find("--cc"), std::string::npos);
}

TEST(Compiler, StandardAndVersions) {
  struct Row {
    const char* limits;
    const char* family;
    const char* version;
    int newest;
    const char* id;
    const char* state;
    const char* fix;
  };
  const Row rows[] = {
      {"cxx-standard = 20", "gcc", "12.2.0", 23, "cxx-standard", "good", ""},
      {"cxx-standard = 20", "gcc", "9.4.0", 17, "cxx-standard", "bad",
       "apt-get install gcc-12 g++-12, then --cc gcc-12 --cxx g++-12"},
      {"cxx-standard = 23", "clang", "14.0.6", 20, "cxx-standard", "bad",
       "apt-get install clang-19, then --cc clang-19 --cxx clang++-19"},
      {"cxx-standard = 20", "gcc", "12.2.0", 0, "cxx-standard", "unknown", ""},
      {"", "gcc", "9.4.0", 17, "cxx-standard", "none", ""},
      {"gcc = \">=9,<12\"", "gcc", "12.2.0", 23, "compiler-version", "bad",
       "apt-get install gcc-11 g++-11, then --cc gcc-11 --cxx g++-11"},
      {"gcc = \">=9,<12\"", "gcc", "11.4.0", 23, "compiler-version", "good", ""},
      {"gcc = \">=9,<12\"", "clang", "14.0.6", 20, "compiler-version", "none", ""},
      {"gcc = \">=99\"", "gcc", "12.2.0", 23, "compiler-version", "bad",
       "install a supported compiler and give it with --cc and --cxx"},
      {"gcc = \">=9\"", "gcc", "rubbish", 23, "compiler-version", "unknown", ""},
  };
  for (const Row& row : rows) {
    Patient patient;
    patient.recipe += std::string("[requires]\n") + row.limits + "\n";
    patient.facts.compiler->family = row.family;
    patient.facts.compiler->version = row.version;
    patient.facts.compiler->newest_standard = row.newest;
    EXPECT_EQ(patient.state(row.id), row.state) << row.limits << " " << row.version;
    EXPECT_EQ(patient.find(row.id).fix, row.fix) << row.limits << " " << row.version;
  }
}

TEST(Programs, CmakeShadowedByPip) {
  Patient patient;
  patient.recipe += "[requires]\ncmake = \">=3.20,<4\"\n";
  EXPECT_EQ(patient.state("cmake"), "good");
  toolchain::Program shim = program("cmake", "4.1.0");
  shim.path = "/venv/bin/cmake";
  shim.origin = toolchain::Origin::pip;
  patient.facts.shadowed.emplace("cmake", program("cmake", "3.25.1"));
  patient.facts.programs["cmake"] = shim;
  const Check check = patient.find("cmake");
  EXPECT_EQ(check.state, State::bad);
  EXPECT_EQ(check.found,
            "cmake 4.1.0 (/venv/bin/cmake, installed by pip), which shadows cmake 3.25.1 (/usr/bin/cmake)");
  EXPECT_EQ(check.fix, "pip uninstall cmake");
  patient.facts.shadowed.clear();
  EXPECT_EQ(patient.find("cmake").fix, "pip install \"cmake>=3.20,<4\"");
  patient.facts.programs.erase("cmake");
  EXPECT_EQ(patient.state("cmake"), "bad");
  patient.recipe += "[build]\nrequires = [\"CMake>=3.25\"]\n";
  EXPECT_EQ(patient.state("cmake"), "good") << "it is installed into the build environment";
}

TEST(Programs, ThoseInTheRecipe) {
  Patient patient;
  patient.recipe += "[requires]\nprograms = [\"ninja\", \"swig\", \"frobnicate\"]\n";
  EXPECT_EQ(patient.state("ninja"), "good");
  EXPECT_EQ(patient.find("swig").fix, "apt-get install swig");
  EXPECT_EQ(patient.find("frobnicate").fix, "install frobnicate and add it to PATH");
  patient.facts.programs.clear();
  EXPECT_EQ(patient.find("ninja").fix, "apt-get install ninja-build");
  EXPECT_EQ(patient.find("curl").fix, "apt-get install curl");
  EXPECT_EQ(patient.state("git"), "none");
  patient.facts.offline = true;
  EXPECT_EQ(patient.state("curl"), "none");
  patient.recipe = "name = \"demo\"\n[source]\ngit = \"https://example.org/demo\"\nref = \"v1\"\n[variant.cpu]\n";
  EXPECT_EQ(patient.find("git").fix, "apt-get install git");
}

}  // namespace
}  // namespace wheelsmith::doctor
