#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "doctor/test_facts.h"
#include "sys/file.h"
#include "toolchain/test_machine.h"

// Memory, disks, platform tags, the machine report, and surveys of simulated machines.

namespace wheelsmith::doctor {
namespace {

constexpr std::uint64_t k_gigabyte = 1'000'000'000;

const Check* find(const std::vector<Check>& checks, std::string_view id) {
  for (const Check& check : checks) {
    if (check.id == id) return &check;
  }
  return nullptr;
}

TEST(Memory, PerJob) {
  struct Row {
    std::uint64_t total, available;
    unsigned jobs;
    const char* state;
    const char* fix;
  };
  const Row rows[] = {
      {64, 60, 0, "good", ""},
      {64, 60, 9, "good", ""},
      {64, 60, 10, "bad", "--jobs 9"},
      {64, 60, 4'000'000'000U, "bad", "--jobs 9"},
      {8, 7, 0, "good", ""},
      {8, 5, 0, "unknown", "stop other programs, or wait for them"},
      {6, 6, 0, "bad", "fallocate -l 16G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile"},
  };
  for (const Row& row : rows) {
    Patient patient;
    patient.recipe += "[known]\nmemory-per-job = \"6.5GB\"\n";
    patient.facts.memory = {row.total * k_gigabyte, row.available * k_gigabyte};
    patient.facts.jobs = row.jobs;
    EXPECT_EQ(patient.state("memory"), row.state) << row.total << " " << row.available << " " << row.jobs;
    EXPECT_EQ(patient.find("memory").fix, row.fix) << row.total << " " << row.available << " " << row.jobs;
  }
  EXPECT_EQ(Patient().state("memory"), "none") << "the recipe has no estimate";
}

TEST(Disk, WhatTheRecipeKnows) {
  Patient patient = cuda_patient("[requires]\ntorch = true\n[known]\ndisk = \"3GB\"\nwheel-size = \"110MB\"\n");
  EXPECT_EQ(patient.state("disk-store"), "good");
  patient.facts.places[0].free = 5 * k_gigabyte;
  EXPECT_EQ(patient.state("disk-store"), "unknown") << "torch may already be in the store";
  patient.facts.places[0].free = 3 * k_gigabyte;
  EXPECT_EQ(patient.state("disk-store"), "bad");
  EXPECT_NE(patient.find("disk-store").fix.find("--store"), std::string::npos);
  patient.facts.places[1].free = 1000;
  EXPECT_NE(patient.find("disk-temporary").fix.find("TMPDIR"), std::string::npos);
  patient.facts.places[2].free = 100'000'000;
  EXPECT_EQ(patient.state("disk-out"), "bad");
  patient.facts.places[2].problem = "its disk is mounted read-only";
  EXPECT_EQ(patient.find("disk-out").fix, "--out DIR");
}

TEST(Isolation, ForbiddenIsNotBad) {
  Patient patient;
  patient.facts.isolates_network = false;
  EXPECT_EQ(patient.state("isolation"), "unknown");
  patient.recipe += "[build]\nnetwork = true\nnetwork-why = \"it fetches\"\n";
  EXPECT_EQ(patient.state("isolation"), "none");
}

TEST(Sandbox, AbsentIsReported) {
  Patient patient;
  EXPECT_EQ(patient.state("sandbox"), "none");
  patient.facts.sandbox_problem = "cannot create the sandbox: the system call filter: Invalid argument";
  EXPECT_EQ(patient.state("sandbox"), "unknown");
  EXPECT_NE(patient.find("sandbox").fix.find("--sandbox off"), std::string::npos);
}

TEST(Compiler, ACopyOfLibstdcxxIsBadWithTorch) {
  struct Row {
    const char* runtime;
    bool torch;
    const char* other;
    const char* state;
    const char* fix;
  };
  const Row rows[] = {
      {"shared", true, "", "good", ""},
      {"", true, "", "none", ""},
      {"static", true, "/usr/bin/g++", "bad", "--cxx /usr/bin/g++"},
      {"static", true, "", "bad", "apt-get install g++, then --cxx /usr/bin/g++"},
      {"static", false, "/usr/bin/g++", "unknown", "--cxx /usr/bin/g++"},
  };
  for (const Row& row : rows) {
    Patient patient;
    if (row.torch) patient.recipe += "[requires]\ntorch = \">=2.0\"\n";
    patient.facts.compiler->runtime = row.runtime;
    patient.facts.compiler->other_cxx = row.other;
    EXPECT_EQ(patient.state("compiler-runtime"), row.state) << row.runtime;
    EXPECT_EQ(patient.find("compiler-runtime").fix, row.fix) << row.runtime;
  }
}

TEST(Platform, GlibcAndLibstdcxx) {
  struct Row {
    const char* platform;
    const char* glibc;
    const char* glibcxx;
    const char* state;
    const char* of_glibcxx;
  };
  const Row rows[] = {
      {"manylinux_2_28", "2.36", "3.4.30", "unknown", "unknown"},
      {"manylinux_2_28", "2.28", "3.4.24", "good", "good"},
      {"manylinux_2_28", "2.17", "3.4.19", "good", "good"},
      {"manylinux_2_28_x86_64", "2.36", "3.4.24", "unknown", "good"},
      {"manylinux2014", "2.17", "3.4.30", "good", "unknown"},
      {"manylinux_2_36", "2.36", "3.4.30", "good", "good"},
      {"manylinux_2_28", "", "", "unknown", "unknown"},
      {"linux", "2.36", "3.4.30", "none", "none"},
      {"", "2.36", "3.4.30", "none", "none"},
      {"manylinux_2_5x", "2.36", "3.4.30", "none", "none"},
      {"musllinux_1_2", "2.36", "3.4.30", "none", "none"},
  };
  for (const Row& row : rows) {
    Patient patient;
    patient.facts.platform = row.platform;
    patient.facts.compiler->glibc = row.glibc;
    patient.facts.compiler->glibcxx = row.glibcxx;
    EXPECT_EQ(patient.state("platform-glibc"), row.state) << row.platform << " " << row.glibc;
    EXPECT_EQ(patient.state("platform-libstdc++"), row.of_glibcxx) << row.platform << " " << row.glibcxx;
  }
  for (const char* platform : {"manylinux_2_5x", "musllinux_1_2", "windows", "macosx_11_0_arm64"}) {
    Patient patient;
    patient.facts.platform = platform;
    EXPECT_EQ(patient.state("platform"), "bad") << platform;
  }
}

TEST(Survey, OnlyWhatEveryBuildNeedsIsBad) {
  EXPECT_FALSE(any_bad(survey({good_python()}, good_facts())));
  Facts facts;
  std::vector<std::string> bad;
  for (const Check& check : survey({}, facts)) {
    if (check.state != State::bad) continue;
    bad.push_back(check.id);
    EXPECT_FALSE(check.fix.empty()) << check.id;
  }
  EXPECT_EQ(bad, (std::vector<std::string>{"python", "compiler", "curl"}));

  toolchain::Python bare = good_python();
  bare.has_headers = false;
  const std::vector<Check> checks = survey({bare}, good_facts());
  EXPECT_EQ(find(checks, "python-3.11")->state, State::unknown);
  EXPECT_EQ(find(checks, "python-3.11")->fix, "apt-get install python3.11-dev python3.11-venv python3-pip");
}

TEST(CollectFacts, AnEmptyMachine) {
  toolchain::TestMachine machine;
  machine.only_own_path();
  const std::filesystem::path store = machine.root() / "a/store";
  const Facts facts = collect_facts(machine.where, {.store = store, .temporary = "", .out = machine.root()}, {"swig"});
  EXPECT_FALSE(facts.compiler || facts.cuda || facts.rocm || facts.torch);
  EXPECT_TRUE(facts.programs.empty());
  EXPECT_TRUE(facts.gpus.empty());
  EXPECT_GT(facts.memory.total, 0U);
  ASSERT_EQ(facts.places.size(), 2U);
  EXPECT_EQ(facts.places[0].problem, "");
  EXPECT_GT(facts.places[0].free, 0U);
  EXPECT_FALSE(std::filesystem::exists(machine.root() / "a")) << "a survey must not change anything";
  for (const auto& entry : std::filesystem::directory_iterator(machine.root()))
    EXPECT_EQ(entry.path().filename().string().find("probe"), std::string::npos) << entry.path();
}

TEST(CollectFacts, MissingPathsOfTheUserAreProblemsNotExceptions) {
  toolchain::TestMachine machine;
  machine.only_own_path();
  machine.where.cc = "gcc-99";
  machine.where.cuda = machine.root() / "none";
  machine.where.rocm = machine.root() / "none";
  const Facts facts = collect_facts(machine.where, {});
  EXPECT_NE(facts.compiler_problem, "");
  EXPECT_NE(facts.cuda_problem, "");
  EXPECT_NE(facts.rocm_problem, "");
  EXPECT_TRUE(facts.cuda_named);
}

TEST(CollectFacts, AProgramOfPipAndTheOneItShadows) {
  toolchain::TestMachine machine;
  machine.file("venv/pyvenv.cfg");
  machine.script("venv/bin/cmake", "echo cmake version 4.1.0");
  machine.script("bin/cmake", "echo cmake version 3.20.0");
  machine.script("bin/swig", "echo SWIG Version 4.1.1");
  machine.where.environment["PATH"] = (machine.root() / "venv/bin").string() + ":" + (machine.root() / "bin").string();
  const Facts facts = collect_facts(machine.where, {}, {"swig", "cmake"});
  ASSERT_TRUE(facts.programs.contains("cmake"));
  EXPECT_EQ(facts.programs.at("cmake").version, "4.1.0");
  ASSERT_TRUE(facts.shadowed.contains("cmake"));
  EXPECT_EQ(facts.shadowed.at("cmake").version, "3.20.0");
  EXPECT_FALSE(facts.shadowed.contains("swig"));
  EXPECT_TRUE(facts.programs.contains("swig"));
}

TEST(CollectFacts, AFileWhereAFolderShouldBe) {
  toolchain::TestMachine machine;
  machine.only_own_path();
  const Facts facts =
      collect_facts(machine.where, {.store = machine.file("plain") / "store", .temporary = {}, .out = {}});
  ASSERT_EQ(facts.places.size(), 1U);
  EXPECT_NE(facts.places[0].problem, "");
}

}  // namespace
}  // namespace wheelsmith::doctor
