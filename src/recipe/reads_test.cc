#include <gtest/gtest.h>

#include "base/error.h"
#include "recipe/recipe.h"

namespace wheelsmith::recipe {
namespace {

using Names = std::vector<std::string>;

constexpr const char* k_reading = R"toml(
name = "reads"
[source]
git = "https://example.org/reads.git"
ref = "v1.8.0"
checked = ">=1.0,<=1.8.0"
[source.refs]
"2.9" = "v1.2"
"2.11" = "v1.4"
"2.13" = "v1.8.0"
[source.refs-for.cpu]
"2.11" = "v1.3"
[requires]
cmake = ">=3.26,<4"
gcc = ">=9"
[build]
requires = ["a"]
[[build.edit]]
file = "CMakeLists.txt"
from = "set(X ${Y} 17)"
to = "set(X ${Y} 20)"
why = "the headers want 20"
[[build.prepare]]
command = ["true"]
[archs]
legal = ["gfx942"]
[[read]]
what = "archs"
file = "cmake/none.cmake"
pattern = 'NEWER "([^"]+)"'
[[read]]
what = "archs"
file = "CMakeLists.txt"
pattern = 'ARCHS "([^"]+)"'
[[read]]
what = "cmake"
file = "CMakeLists.txt"
pattern = 'VERSION ([0-9.]+)'
[[read]]
what = "gcc"
file = "CMakeLists.txt"
pattern = 'GCC ([0-9.]+)'
[[read]]
what = "torch"
file = "CMakeLists.txt"
pattern = 'TORCH "([0-9.]+)"'
[[read]]
what = "cxx-standard"
file = "CMakeLists.txt"
pattern = 'STANDARD ([0-9]+)'
[preload]
module = "x/_init.py"
libraries = ["amdhip64", "rccl", "hipfile"]
names-file = "rocm_sdk/_dist_info.py"
names-pattern = 'Entry\(\s*"([^"]+)"'
[variant.cpu]
[variant.rocm]
)toml";

std::string error_of_reading(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Reads, WhatTheSourceSaysReplacesTheRecipe) {
  Rules rules = parse_recipe(k_reading, "r.toml").rules(Variant::rocm);
  Names notes;
  const auto text_of = [](const std::string& path) -> std::optional<std::string> {
    if (path != "CMakeLists.txt") return std::nullopt;
    return "minimum(VERSION 3.26)\nset(ARCHS \"gfx942;gfx950;gfx942\")\nGCC 12.3\nTORCH \"2.13.0\"\nSTANDARD 20\n";
  };
  apply_reads(rules, text_of, notes);
  EXPECT_EQ(rules.archs.legal, (Names{"gfx942", "gfx950"}));
  EXPECT_EQ(rules.requires_versions.cmake, ">=3.26,<4") << "the recipe says the same and more";
  EXPECT_EQ(rules.requires_versions.gcc, ">=12.3");
  EXPECT_EQ(rules.requires_versions.torch_series, "2.13");
  EXPECT_EQ(rules.requires_versions.cxx_standard, 20);
  EXPECT_EQ(notes, (Names{"architectures gfx942;gfx950 from CMakeLists.txt; the recipe has gfx942",
                          "GCC >=12.3 from CMakeLists.txt; the recipe has >=9"}));
}

// A step's process and the doctor get the recipe as a text, so what was read must be in it.
TEST(Reads, ValuesThatWereReadAreInTheRecipe) {
  Names notes;
  const Recipe resolved = parse_recipe(k_reading, "r.toml").resolved_for(Variant::rocm, "", {}, notes);
  const Recipe read = resolved.with_reads(
      Variant::rocm, "",
      [](const std::string&) {
        return std::optional<std::string>("VERSION 3.30 ARCHS \"gfx950\" GCC 12.3 TORCH \"2.13.0\" STANDARD 20");
      },
      notes);
  EXPECT_EQ(read.rules(Variant::rocm).requires_versions.torch_series, "2.13");
  for (const Recipe& recipe : {read, parse_recipe(read.to_toml(), "again.toml")}) {
    const Rules& rules = recipe.rules(Variant::rocm);
    EXPECT_EQ(rules.archs.legal, Names{"gfx950"});
    EXPECT_EQ(rules.requires_versions.gcc, ">=12.3");
    EXPECT_EQ(rules.requires_versions.cmake, ">=3.30");
    EXPECT_EQ(rules.requires_versions.cxx_standard, 20);
    EXPECT_EQ(rules.requires_, Names{"a"});  // the rest is as it was
  }
}

TEST(Reads, WhatIsNotFoundIsTold) {
  Rules rules = parse_recipe(k_reading, "r.toml").rules(Variant::rocm);
  Names notes;
  apply_reads(rules, [](const std::string&) { return std::optional<std::string>("STANDARD 20"); }, notes);
  EXPECT_EQ(rules.archs.legal, Names{"gfx942"});
  ASSERT_EQ(notes.size(), 4U) << "once for architectures, CMake, GCC and torch";
  EXPECT_EQ(notes[0],
            "cmake/none.cmake does not contain the value that the recipe reads from it; using the recipe's own value, "
            "which may not match this version");
}

TEST(Reads, OnlyWhatTheSdkKnowsIsPreloaded) {
  const Preload preload = parse_recipe(k_reading, "r.toml").rules(Variant::rocm).preload;
  Names notes;
  EXPECT_EQ(known_to_sdk(preload, "Entry(\n  \"amdhip64\", 1)\nEntry(\"rccl\")\n", notes), (Names{"amdhip64", "rccl"}));
  EXPECT_EQ(notes, Names{"unknown to the ROCm SDK and not preloaded: hipfile"});
  notes.clear();
  EXPECT_EQ(known_to_sdk(preload, "nothing", notes), preload.libraries);
  EXPECT_EQ(notes.size(), 1U);
}

TEST(Edits, BecomeCommandsInFrontOfTheOthers) {
  const Rules rules = parse_recipe(k_reading, "r.toml").rules(Variant::cpu);
  ASSERT_EQ(rules.edits.size(), 1U);
  ASSERT_EQ(rules.prepare.size(), 2U);
  EXPECT_EQ(rules.prepare[1].command, Names{"true"});
  EXPECT_EQ(rules.prepare[0].why, "the headers want 20");
  Names words;
  for (const std::string& word : rules.prepare[0].command) words.push_back(expand(word, {{"python", "/bin/python"}}));
  ASSERT_EQ(words.size(), 7U);
  EXPECT_EQ(words[0], "/bin/python");
  EXPECT_EQ(Names(words.begin() + 3, words.end()),
            (Names{"CMakeLists.txt", "set(X ${Y} 17)", "set(X ${Y} 20)", "error"}));
}

TEST(Edits, OneThatChangesNothingIsAProblem) {
  const Edit edit = parse_recipe(k_reading, "r.toml").rules(Variant::cpu).edits.front();
  EXPECT_EQ(edit_problem(edit, "a\nset(X ${Y} 17)\n"), "");
  EXPECT_EQ(edit_problem(edit, "a\nset(X ${Y} 20)\n"), "") << "it has been made";
  EXPECT_EQ(edit_problem(edit, "set(X 17)"),
            "CMakeLists.txt does not contain \"set(X ${Y} 17)\", which the recipe replaces: the headers want 20");
  EXPECT_EQ(edit_problem(edit, std::nullopt),
            "CMakeLists.txt does not exist in this source, but the recipe edits it: the headers want 20");
}

TEST(Refs, APairIsFoundOrTheNearestAreNamed) {
  const Recipe recipe = parse_recipe(k_reading, "r.toml");
  EXPECT_EQ(ref_for_torch(recipe, Variant::rocm, "2.11"), "v1.4");
  EXPECT_EQ(ref_for_torch(recipe, Variant::cpu, "2.11"), "v1.3");
  EXPECT_EQ(ref_for_torch(recipe, Variant::cpu, "2.13"), "v1.8.0");
  const std::string words = "; choose another torch with --torch, or a release with --ref";
  EXPECT_EQ(
      error_of_reading([&] { (void)ref_for_torch(recipe, Variant::cpu, "2.12"); }),
      "reads: no release is known for torch 2.12; the closest are torch 2.11 (v1.3) and torch 2.13 (v1.8.0)" + words);
  EXPECT_EQ(
      error_of_reading([&] { (void)ref_for_torch(recipe, Variant::cpu, "2.10"); }),
      "reads: no release is known for torch 2.10; the closest are torch 2.9 (v1.2) and torch 2.11 (v1.3)" + words);
  EXPECT_EQ(error_of_reading([&] { (void)ref_for_torch(recipe, Variant::cpu, "2.15"); }),
            "reads: no release is known for torch 2.15; the closest are torch 2.13 (v1.8.0)" + words);
  EXPECT_EQ(error_of_reading([&] { (void)ref_for_torch(recipe, Variant::cpu, ""); }),
            "reads: no release is known for torch " + words);
}

TEST(Refs, TheTorchOfARefIsThatOfItsPairOrOfItsMinorVersion) {
  const Recipe recipe = parse_recipe(k_reading, "r.toml");
  EXPECT_EQ(torch_for_ref(recipe, Variant::rocm, "v1.4"), "2.11");
  EXPECT_EQ(torch_for_ref(recipe, Variant::rocm, "v1.4.2"), "2.11");
  EXPECT_EQ(torch_for_ref(recipe, Variant::cpu, "v1.3"), "2.11");
  EXPECT_EQ(torch_for_ref(recipe, Variant::cpu, "v1.4"), "");
  EXPECT_EQ(torch_for_ref(recipe, std::nullopt, "1.8.1.dev3+gabc"), "2.13");
  EXPECT_EQ(torch_for_ref(recipe, Variant::cpu, "main"), "");
}

TEST(Refs, VersionsOutsideTheCheckedRangeAreReported) {
  const Recipe recipe = parse_recipe(k_reading, "r.toml");
  EXPECT_EQ(unchecked_reason(recipe, "1.8.0"), "");
  EXPECT_EQ(
      unchecked_reason(recipe, "1.9.0"),
      "reads 1.9.0 is outside the versions that its recipe was verified for (>=1.0,<=1.8.0); its rules may not match");
  EXPECT_NE(unchecked_reason(recipe, "0.9"), "");
  EXPECT_EQ(unchecked_reason(recipe, ""),
            "reads: the source is not a release; its recipe was verified for >=1.0,<=1.8.0 and may not match");
}

TEST(Reads, MistakesAreToldWithTheirLine) {
  const auto problem = [](const std::string& more) {
    return error_of_reading(
        [&] { (void)parse_recipe("name = \"x\"\n[source]\nsdist = \"x\"\n[variant.cpu]\n" + more, "r.toml"); });
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[[read]]\nfile = \"x\"\npattern = \"(a)\"\n", "r.toml:5: [[read]] needs what"},
      {"[[read]]\nwhat = \"archs\"\nfile = \"x\"\npattern = \"a\"\n", "needs exactly one capturing group"},
      {"[[build.edit]]\nfile = \"x\"\nfrom = \"a\"\n", "needs a file, from and a why"},
      {"[[build.edit]]\nfile = \"x\"\nfrom = \"a\"\nto = \"a\"\nwhy = \"b\"\n", "changes nothing"},
      {"[[build.edit]]\nfile = \"../x\"\nfrom = \"a\"\nwhy = \"b\"\n", "points outside its folder"},
      {"[preload]\nnames-file = \"x\"\n", "vice versa"},
      {"[archs]\nfeatures = \"no\"\n", "is not one of accepted, refused, wanted"},
      {"[archs]\nsuffixes = [\"b\"]\n", "is neither \"a\" nor \"f\""},
      {"[[check.code]]\nmust = \"each\"\n", "needs a library"},
      {"[[check.code]]\nlibrary = \"x\"\nmust = \"all\"\n", "must: \"all\" is not one of"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_NE(problem(text).find(wanted), std::string::npos) << problem(text);
  EXPECT_NE(problem("").find("no error"), std::string::npos);
  EXPECT_NE(error_of_reading([&] {
              (void)parse_recipe(
                  "name = \"x\"\n[source]\ngit = \"https://x\"\nchecked = \"new\"\n[source.refs-for.gpu]\n"
                  "\"2.9\" = \"v1\"\n[variant.cpu]\n",
                  "r.toml");
            }).find("is not a variant"),
            std::string::npos);
}

}  // namespace
}  // namespace wheelsmith::recipe
