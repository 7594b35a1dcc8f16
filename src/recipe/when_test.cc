#include <gtest/gtest.h>

#include "base/error.h"
#include "recipe/recipe.h"

namespace wheelsmith::recipe {
namespace {

using Names = std::vector<std::string>;

constexpr const char* k_recipe = R"toml(
name = "big"
[source]
git = "https://example.org/big.git"
ref = "main"
version-file = "version.txt"
[source.refs]
"2.13" = "v1.8.0"
[source.pinned-by]
recipe = "torch"
record = "big"
files = ["pins/big.txt"]
[[source.family]]
refs = ["release/2.*"]
git = "https://example.org/fork.git"
patchset = "release"
variants = ["rocm"]
[settings.release-type]
help = "what for"
default = "release"
[build]
requires = ["a"]
environment.FLASH = "1"
[checkout]
submodules = ["third/one"]
[[when]]
if = { ref = "release/2.7*" }
why = "2.7 has no flash attention there"
build.environment.FLASH = "0"
[[when]]
if = { version = ">=1.3", compiler = "gcc>=12,<13" }
build.more-requires = ["b"]
[[fetch]]
name = "cutlass"
git = "https://example.org/cutlass.git"
ref-file = "CMakeLists.txt"
ref-pattern = 'REVISION "([^"]+)"'
variable = "CUTLASS_DIR"
[variant.cpu]
[variant.rocm.build.environment]
A = "variant"
[[variant.rocm.when]]
if = { archs = ["gfx9*", "gfx11*"], no-archs = "gfx906", set.release-type = ["dev", "nightly"], torch = ">=2.9" }
build.environment.A = "when"
[[variant.rocm.refuse]]
archs = ["gfx115*"]
why = "no kernels for it"
override = "force"
)toml";

std::string variable(const Rules& rules, const std::string& name) {
  for (const auto& [key, value] : rules.environment) {
    if (key == name) return value;
  }
  return "none";
}

TEST(When, NothingHoldsOfWhatIsNotKnown) {
  const Recipe recipe = parse_recipe(k_recipe, "r.toml");
  std::vector<std::string> reasons;
  ASSERT_TRUE(recipe.depends_on_conditions(Variant::rocm, ""));
  const Recipe under = recipe.resolved_for(Variant::rocm, "", {}, reasons);
  EXPECT_EQ(variable(under.rules(Variant::rocm), "FLASH"), "1");
  EXPECT_EQ(variable(under.rules(Variant::rocm), "A"), "variant");
  EXPECT_EQ(under.rules(Variant::rocm).requires_, Names{"a"});
  EXPECT_TRUE(reasons.empty());
  EXPECT_EQ(under.variants(), std::vector<Variant>{Variant::rocm});
  EXPECT_FALSE(under.depends_on_conditions(Variant::rocm, ""));
}

TEST(When, EachConditionIsAsked) {
  const Recipe recipe = parse_recipe(k_recipe, "r.toml");
  Conditions now;
  now.ref = "release/2.7";
  now.version = "1.8.0";
  now.compiler_family = "gcc";
  now.compiler_version = "12.2.0";
  now.archs = {"gfx942"};
  now.settings = {{"release-type", "dev"}};
  now.torch = "2.10.0+rocm7.1";
  std::vector<std::string> reasons;
  const auto a_under = [&] {
    return variable(recipe.resolved_for(Variant::rocm, "", now, reasons).rules(Variant::rocm), "A");
  };
  const Recipe under = recipe.resolved_for(Variant::rocm, "", now, reasons);
  EXPECT_EQ(variable(under.rules(Variant::rocm), "FLASH"), "0");
  EXPECT_EQ(reasons, Names{"2.7 has no flash attention there"});
  EXPECT_EQ(under.rules(Variant::rocm).requires_, (Names{"a", "b"}));
  EXPECT_EQ(a_under(), "when");
  now.archs = {"gfx942", "gfx906"};
  EXPECT_EQ(a_under(), "variant");
  now.archs = {"gfx1030"};
  EXPECT_EQ(a_under(), "variant");
  now.archs = {"gfx1100"};
  EXPECT_EQ(a_under(), "when");
  now.settings["release-type"] = "release";
  EXPECT_EQ(a_under(), "variant");
  now.settings["release-type"] = "nightly";
  now.torch.reset();
  EXPECT_EQ(a_under(), "variant");
  now.compiler_version = "13.1";
  EXPECT_EQ(recipe.resolved_for(Variant::rocm, "", now, reasons).rules(Variant::rocm).requires_, Names{"a"});
}

TEST(When, AllOfSeveralArchitecturesMachinesAndEmptySettings) {
  const Recipe recipe = parse_recipe(R"toml(
name = "more"
[source]
sdist = "more"
[settings.root]
default = ""
[build]
environment.A = "none"
[[when]]
if = { all-archs = ["8.0", "9.0*"] }
build.environment.A = "both"
[[when]]
if = { machine = "aarch64" }
build.environment.A = "arm"
[[when]]
if = { set.root = "", machine = "s390x" }
build.environment.A = "empty"
[variant.cuda.archs]
default = "8.0"
)toml",
                                     "r.toml");
  const auto a_for = [&](std::vector<std::string> archs, const std::string& machine, const std::string& root) {
    Conditions now;
    now.archs = std::move(archs);
    now.machine = machine;
    now.settings = {{"root", root}};
    std::vector<std::string> reasons;
    return variable(recipe.resolved_for(Variant::cuda, "", now, reasons).rules(Variant::cuda), "A");
  };
  EXPECT_EQ(a_for({}, "", ""), "none");
  EXPECT_EQ(a_for({"8.0", "10.0"}, "x86_64", ""), "none");
  EXPECT_EQ(a_for({"9.0a", "8.0"}, "x86_64", ""), "both");
  EXPECT_EQ(a_for({"8.0"}, "aarch64", ""), "arm");
  EXPECT_EQ(a_for({"8.0"}, "s390x", ""), "empty");
  EXPECT_EQ(a_for({"8.0"}, "s390x", "/opt"), "none");
}

TEST(When, ARefThatIsNotAReleaseIsTheNewest) {
  const Recipe recipe = parse_recipe(k_recipe, "r.toml");
  Conditions now;
  now.ref = "main";
  now.compiler_family = "gcc";
  now.compiler_version = "12.2.0";
  std::vector<std::string> reasons;
  EXPECT_EQ(recipe.resolved_for(Variant::cpu, "", now, reasons).rules(Variant::cpu).requires_, (Names{"a", "b"}));
}

// "2.13.0a0" is what leads to 2.13, and has its rules; PEP 440 would have it in neither range.
TEST(When, APrereleaseHasTheRulesOfItsRelease) {
  const Recipe recipe = parse_recipe(R"(name = "x"
[source]
git = "https://host/x"
ref = "main"
[[when]]
if = { version = ">=2.13" }
build.more-requires = ["new"]
[[when]]
if = { version = "<2.13" }
build.more-requires = ["old"]
[variant.cpu]
)",
                                     "x.toml");
  for (const auto& [version, wanted] : std::map<std::string, Names>{
           {"2.13.0a0", {"new"}}, {"2.13.0", {"new"}}, {"2.12.1.dev5+gabc", {"old"}}, {"2.12.0.post1", {"old"}}}) {
    Conditions now;
    now.version = version;
    Names reasons;
    EXPECT_EQ(recipe.resolved_for(Variant::cpu, "", now, reasons).rules(Variant::cpu).requires_, wanted) << version;
  }
}

TEST(When, WhatWasSettledIsARecipeAgain) {
  const Recipe recipe = parse_recipe(k_recipe, "r.toml");
  std::vector<std::string> reasons;
  const Recipe under = recipe.resolved_for(Variant::rocm, "", {}, reasons);
  const Recipe again = parse_recipe(under.to_toml(), "again.toml");
  EXPECT_EQ(again.rules(Variant::rocm).checkout.submodules, Names{"third/one"});
  EXPECT_EQ(again.rules(Variant::rocm).fetches.front().ref_pattern, "REVISION \"([^\"]+)\"");
  EXPECT_EQ(again.rules(Variant::rocm).refusals.front().override_by, "force");
  EXPECT_EQ(again.source.refs.at("2.13"), "v1.8.0");
  EXPECT_EQ(again.source.pinned_by.files, Names{"pins/big.txt"});
  EXPECT_EQ(again.expanded(Variant::rocm, ""), under.expanded(Variant::rocm, ""));
}

TEST(When, FamiliesAreChosenByRefAndVariant) {
  const Recipe recipe = parse_recipe(k_recipe, "r.toml");
  ASSERT_NE(recipe.source.family("release/2.9", "rocm"), nullptr);
  EXPECT_EQ(recipe.source.family("release/2.9", "rocm")->git, "https://example.org/fork.git");
  EXPECT_EQ(recipe.source.family("release/2.9", "cuda"), nullptr);
  EXPECT_EQ(recipe.source.family("main", "rocm"), nullptr);
}

TEST(When, MistakesAreToldWithTheirLine) {
  const auto problems = [](const std::string& more) -> std::string {
    try {
      (void)parse_recipe("name = \"x\"\n[source]\nsdist = \"x\"\n[variant.cpu]\n" + more, "r.toml");
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[[when]]\nbuild.requires = []\n", "r.toml:5: [[when]] needs an if"},
      {"[[when]]\nif = { tourch = \">1\" }\n", "did you mean torch?"},
      {"[[when]]\nif = { torch = \"new\" }\n", "r.toml:6: torch"},
      {"[[when]]\nif = { compiler = \"icc>1\" }\n", "neither gcc nor clang"},
      {"[[when]]\nif = { ref = \"a\" }\nbuildx.requires = []\n", "did you mean build?"},
      {"[[fetch]]\nname = \"c\"\ngit = \"https://x\"\n", "needs a ref"},
      {"[[fetch]]\nname = \"c\"\ngit = \"https://x\"\nref-file = \"f\"\nref-pattern = \"(\"\n", "ref-pattern"},
      {"[[refuse]]\narchs = [\"gfx9*\"]\n", "needs a why"},
      {"[[needs]]\nrecipe = \"y\"\noptional = true\n", "is optional and needs a why"},
      {"[[checklist]]\nid = \"x\"\n", "has no requirement"},
      {"[build.not-from-pip]\ncmake = \"\"\n", "the reason is missing"},
      {"[build.files]\n\"../x\" = \"\"\n", "points outside its folder"},
      {"[[platform]]\nmatch = \"win_*\"\nrules = [{ id = \"a\" }]\n", "needs what"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_NE(problems(text).find(wanted), std::string::npos) << problems(text);
}

}  // namespace
}  // namespace wheelsmith::recipe
