#include "report/plan/doctor_text.h"

#include <gtest/gtest.h>

#include <set>

#include "diagnose/knowledge.h"
#include "doctor/test_facts.h"

namespace wheelsmith::report {
namespace {

using doctor::Check;
using doctor::State;

std::vector<Check> some() {
  return {{.id = "python", .found = "3.11.2", .wanted = "Python 3", .package = "demo", .step = "demo-cpu-cp311"},
          {.id = "compiler",
           .state = State::bad,
           .found = "none\x1b[31m",
           .wanted = "a C++ compiler",
           .why = "it is compiled",
           .fix = "apt-get install build-essential",
           .package = "demo",
           .step = "demo-cpu-cp311"},
          {.id = "recipe", .state = State::unknown, .found = "none\xff", .package = "other"}};
}

TEST(DoctorText, OneBlockPerStepWithFixes) {
  EXPECT_EQ(doctor_text(some(), {}),
            "demo-cpu-cp311\n"
            "  good     python                3.11.2\n"
            "  bad      compiler              none\\x1b[31m\n"
            "                                 wanted: a C++ compiler\n"
            "                                 it is compiled\n"
            "                                 fix: apt-get install build-essential\n"
            "\n"
            "other\n"
            "  unknown  recipe                none\\xff\n"
            "1 good, 1 bad, 1 unknown\n");
}

TEST(DoctorText, JsonHasEveryKeyAndIsUtf8) {
  const std::string json = doctor_json(some());
  for (const char* key : {"\"schema\": 1", "\"checks\"", "\"id\": \"compiler\"", "\"state\": \"bad\"", "\"found\"",
                          "\"wanted\"", "\"why\"", "\"fix\"", "\"package\": \"demo\"", "\"step\": \"demo-cpu-cp311\""})
    EXPECT_NE(json.find(key), std::string::npos) << key;
  EXPECT_EQ(json.find('\xff'), std::string::npos);
}

// Every check that a diagnose pattern names as its predictor is really made by doctor.
TEST(Doctor, MakesTheChecksThatDiagnosePatternsName) {
  std::set<std::string> made;
  for (const char* platform : {"", "manylinux_2_28", "manylinux_9_9"}) {
    for (const recipe::Variant variant : {recipe::Variant::cpu, recipe::Variant::cuda, recipe::Variant::rocm}) {
      doctor::Patient patient;
      patient.recipe +=
          "[requires]\ntorch = \">=2\"\ncmake = \">=3\"\ncuda = \">=11\"\nrocm = \">=6\"\ngcc = \">=9\"\ncxx-standard "
          "= 20\n"
          "libraries = [\"cudnn\", \"nccl\", \"nvml\"]\nprograms = [\"git\", \"ninja\"]\n[known]\nmemory-per-job = "
          "\"4GB\"\ndisk = \"1GB\"\n";
      patient.variant = variant;
      patient.archs = variant == recipe::Variant::cuda ? "9.0" : variant == recipe::Variant::rocm ? "gfx942" : "";
      patient.facts.platform = platform;
      patient.facts.compiler->runtime = "shared";
      if (variant == recipe::Variant::rocm) patient.facts.torch = doctor::torch_of("2.13.0", "", "7.1");
      for (const Check& check : patient.all()) made.insert(check.id);
    }
  }
  for (const diagnose::Pattern& pattern : diagnose::builtin_knowledge().patterns()) {
    if (pattern.check.empty()) continue;
    EXPECT_TRUE(made.contains(pattern.check)) << pattern.id << ": " << pattern.check;
  }
}

TEST(Doctor, SaysWhichFailuresABadCheckPrevents) {
  const std::string json = doctor_json({{.id = "host-compiler", .state = State::bad}, {.id = "cuda"}});
  EXPECT_NE(json.find("\"nvcc-gcc-too-new\""), std::string::npos) << json;
  EXPECT_EQ(json.find("\"nvcc-not-found\""), std::string::npos) << json;
}

}  // namespace
}  // namespace wheelsmith::report
