#include "recipe/recipe.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "recipe/builtin.h"

namespace wheelsmith::recipe {
namespace {

using Names = std::vector<std::string>;

std::string error_of(auto&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string problems(const std::string& toml) {
  return error_of([&] { (void)parse_recipe(toml, "r.toml"); });
}

constexpr const char* k_small = R"(
name = "small"
[source]
sdist = "small"
[variant.cpu]
)";

TEST(Recipe, ASmallOneHasAllDefaults) {
  const Recipe recipe = parse_recipe(k_small, "r.toml");
  EXPECT_EQ(recipe.project, "small");
  EXPECT_EQ(recipe.source.kind, Source::Kind::sdist);
  EXPECT_EQ(recipe.variants(), std::vector<Variant>{Variant::cpu});
  EXPECT_EQ(recipe.targets(Variant::cpu), Names{""});
  EXPECT_EQ(recipe.rules(Variant::cpu).backend, Rules::Backend::pep517);
  EXPECT_TRUE(recipe.rules(Variant::cpu).checks.archs);
}

constexpr const char* k_layers = R"(
name = "layers"
[source]
git = "https://example.org/layers.git"
ref = "v{version}"
version = ">=1.2"
[settings.threads]
help = "of nvcc"
default = "2"
choices = ["1", "2"]
[build]
requires = ["a", "b>=2"]
environment = { A = "general", B = 7 }
clean = ["build"]
[build.config]
cmake.define.X = "{archs}"
"cmake.args" = ["-G", "Ninja"]
[[test]]
imports = ["layers"]
[known]
memory-per-job = "1.5GB"
seconds = 10
[variant.cuda.build]
more-requires = ["c"]
environment.A = "cuda"
environment.THREADS = "{set.threads}"
[variant.cuda.archs]
variable = "ARCHS"
spelling = "sm"
default = "8.0;9.0a"
[variant.cuda.target.default]
[variant.cuda.target.genai.build]
requires = ["only"]
clean = []
[[variant.cuda.target.genai.more-test]]
name = "more"
script = "a = {}"
gpu = true
[variant.cuda.target.old]
enabled = false
why = "it was removed"
[variant.cpu.check]
max-size = "250 MB"
accept = { "rpath-outside" = "because" }
)";

TEST(Recipe, LayersLieOverEachOther) {
  const Recipe recipe = parse_recipe(k_layers, "r.toml");
  EXPECT_EQ(recipe.targets(Variant::cuda), (Names{"default", "genai"}));
  const Rules& cpu = recipe.rules(Variant::cpu);
  EXPECT_EQ(cpu.requires_, (Names{"a", "b>=2"}));
  EXPECT_EQ(cpu.checks.max_size, 250'000'000U);
  EXPECT_EQ(cpu.config, (std::vector<std::pair<std::string, std::string>>{
                            {"cmake.args", "-G"}, {"cmake.args", "Ninja"}, {"cmake.define.X", "{archs}"}}));
  const Rules& cuda = recipe.rules(Variant::cuda);
  EXPECT_EQ(cuda.requires_, (Names{"a", "b>=2", "c"}));
  EXPECT_EQ(cuda.environment, (std::vector<std::pair<std::string, std::string>>{
                                  {"A", "cuda"}, {"B", "7"}, {"THREADS", "{set.threads}"}}));
  EXPECT_EQ(cuda.archs.separator, ",");
  EXPECT_EQ(cuda.tests.size(), 1U);
  EXPECT_EQ(cuda.known.memory_per_job, 1'500'000'000U);
  const Rules& genai = recipe.rules(Variant::cuda, "genai");
  EXPECT_EQ(genai.requires_, Names{"only"});
  EXPECT_TRUE(genai.clean.empty());
  ASSERT_EQ(genai.tests.size(), 2U);
  EXPECT_EQ(genai.tests[0].name, "test-1");
  EXPECT_TRUE(genai.tests[1].gpu);
}

TEST(Recipe, WhatCannotBeBuiltSaysSo) {
  const Recipe recipe = parse_recipe(k_layers, "r.toml");
  EXPECT_EQ(error_of([&] { (void)recipe.rules(Variant::rocm); }), "layers has no rocm variant; it has cpu, cuda");
  EXPECT_EQ(error_of([&] { (void)recipe.rules(Variant::cuda, "gen-ai"); }),
            "layers (cuda) has no target \"gen-ai\"; it has default, genai; did you mean genai?");
  EXPECT_EQ(error_of([&] { (void)recipe.rules(Variant::cuda, "old"); }),
            "layers (cuda) has no target \"old\": it was removed; it has default, genai");
  EXPECT_EQ(error_of([&] { (void)recipe.rules(Variant::cpu, "x"); }), "layers has no targets; remove \"x\"");
}

TEST(Recipe, ExpandedHoldsWhatDecidesTheResult) {
  const Recipe recipe = parse_recipe(k_layers, "r.toml");
  const document::Value genai = recipe.expanded(Variant::cuda, "genai");
  EXPECT_EQ(genai["build"]["requires"].texts(), Names{"only"});
  EXPECT_EQ(genai["build"]["environment"]["A"].text_or(), "cuda");
  EXPECT_EQ(genai["test"].array()->size(), 2U);
  EXPECT_TRUE(genai["known"].is_null());
  EXPECT_TRUE(genai["variant"].is_null());
  EXPECT_EQ(recipe.expanded(Variant::cuda, ""), recipe.expanded(Variant::cuda, "default"));
  EXPECT_NE(recipe.expanded(Variant::cuda, ""), genai);
  EXPECT_EQ(recipe.expanded(Variant::cuda, "")["build"]["requires"].texts(), (Names{"a", "b>=2", "c"}));
  EXPECT_THROW((void)recipe.expanded(Variant::rocm, ""), Error);
}

TEST(Recipe, WrittenOutItIsReadBackTheSame) {
  const Recipe recipe = parse_recipe(k_layers, "r.toml");
  const Recipe again = parse_recipe(recipe.to_toml(), "r.toml");
  EXPECT_EQ(again.document, recipe.document);
  EXPECT_EQ(again.to_toml(), recipe.to_toml());
}

struct Mistake {
  std::string added;  // to k_small
  std::string what;
};

TEST(Recipe, EveryMistakeIsToldWithItsLine) {
  const std::vector<Mistake> mistakes = {
      {"[build]\nbakend = \"pep517\"", "r.toml:7: unknown key bakend in [build]; did you mean backend?"},
      {"[build]\nbackend = \"pep518\"",
       "r.toml:7: backend: \"pep518\" is not one of pep517, setup.py, program; did you mean "
       "pep517?"},
      {"[build]\nrequires = \"a\"", "r.toml:7: requires must be a list of strings, but is a string"},
      {"[build]\nmore-requirs = [\"a\"]", "r.toml:7: unknown key more-requirs in [build]; did you mean more-requires?"},
      {"[build]\nnetwork = 1", "r.toml:7: network must be a boolean, but is a number"},
      {"[build]\nnetwork = true", "r.toml:7: [variant.cpu]: network = true needs a network-why"},
      {"[build]\nclean = [\"../x\"]", "r.toml:7: each of clean: \"../x\" points outside its folder"},
      {"[build]\nclean = [\"/\"]", "r.toml:7: each of clean: \"/\" must be a relative path"},
      {"[build]\nclean = [\"a[\"]", "r.toml:7: each of clean: \"a[\": unclosed ["},
      {"[build.environment]\n\"A-B\" = \"1\"", "r.toml:7: [build.environment]: \"A-B\" is not a valid variable name"},
      {"[build.environment]\nA = true", "r.toml:7: A must be a string, but is a boolean"},
      {"[build.environment]\nA = \"{arch}\"", "r.toml:7: A: unknown placeholder \"{arch}\"; did you mean archs?"},
      {"[build.environment]\nA = \"{archs\"", "r.toml:7: A: \"{archs\": unclosed {; write {{ for a literal brace"},
      {"[build.environment]\nA = \"{set.x}\"", "r.toml:7: A: unknown placeholder \"{set.x}\""},
      {"[build.config]\na.b = 1.5", "r.toml:7: config \"a.b\" must be a string, but is a number"},
      {"[build]\nbackend = \"program\"",
       "r.toml:7: [variant.cpu]: backend = \"program\" requires [source] program = true and vice versa"},
      {"[requires]\ncxx-standard = 18", "r.toml:7: cxx-standard must be one of 11, 14, 17, 20, 23, 26"},
      {"[variant.cud]", "r.toml:6: unknown key cud in [variant]; did you mean cuda?"},
      {"[variant.cuda]\nenabled = false", "r.toml:6: [variant.cuda] is not enabled and needs a why"},
      {"[variant.cuda.archs]\ndefault = \"gfx942\"",
       "r.toml:7: [variant.cuda]: gfx942 is not an architecture of this variant"},
      {"[variant.cuda.archs]\ndefault = \"7.5\"\nlegal = [\"8.0\", \"9.0\"]",
       "r.toml:7: [variant.cuda]: small cannot be built for 7.5; supported: 8.0, 9.0"},
      {"[variant.cuda.archs]\ndefault = \"8.0+PTX\"\nspelling = \"compact\"",
       "r.toml:7: [variant.cuda]: cannot build for architecture 8.0+PTX: the package's list has no notation for PTX"},
      {"[check]\nmax-size = \"1 XB\"", "r.toml:7: max-size must be a size: \"4.7GB\", \"250MB\", or a number of bytes"},
      {"[check]\nmax-size = -1", "r.toml:7: max-size must be a size: \"4.7GB\", \"250MB\", or a number of bytes"},
      {"[known]\nseconds = -1", "r.toml:7: seconds must be a non-negative number"},
      {"[known]\nseconds = nan", "r.toml:7: seconds must be a non-negative number"},
      {"[test]\nname = \"x\"", "r.toml:6: write [[test]]: it is a list of tables"},
      {"[[test]]\nname = \"x\"", "r.toml:6: [[test]] has nothing to run: add imports, a script or a command"},
      {"[[test]]\nimports = [\"a-b\"]",
       "r.toml:6: [[test]] has nothing to run: add imports, a script or a command\n"
       "r.toml:7: each of imports: \"a-b\" is not a valid module name"},
      {"[[needs]]\nrecipe = \"x\"\nrequirement = \"y\"",
       "r.toml:6: [[needs]] must name either a recipe or a requirement"},
      {"[settings.a]\ndefault = \"x\"\nchoices = [\"fast\"]",
       "r.toml:6: [settings.a]: the default \"x\" is not one of its choices"},
      {"[build]\nwrong = 1\n[known]\nalso = 2",
       "r.toml:7: unknown key wrong in [build]\nr.toml:9: unknown key also in "
       "[known]"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_EQ(problems(k_small + mistake.added), mistake.what) << mistake.added;
  }
  // What parsers of other modules complain about, in their words.
  for (const char* added : {"[build]\nrequires = [\"a b\"]", "[requires]\npython = \">=three\"",
                            "[variant.cuda.archs]\ndefault = \"sm_5x\""}) {
    const std::string problem = problems(std::string(k_small) + added);
    EXPECT_EQ(problem.rfind("r.toml:7: ", 0), 0U) << problem;
  }
}

TEST(Recipe, TheHeadIsCheckedToo) {
  EXPECT_EQ(problems("[source]\nsdist = \"x\"\n[variant.cpu]"), "r.toml: a recipe needs a name");
  EXPECT_EQ(problems("name = \"x\"\n[variant.cpu]"),
            "r.toml: a recipe needs a [source] with sdist, folder, git or program");
  EXPECT_EQ(problems("name = \"x\"\n[source]\nsdist=\"x\""),
            "r.toml: a recipe needs at least one of [variant.cpu], [variant.cuda] and [variant.rocm]");
  EXPECT_EQ(problems("name = \"x\"\n[source]\nsdist=\"x\"\nfolder=\"y\"\n[variant.cpu]"),
            "r.toml:2: [source] has both sdist and folder; choose one");
  EXPECT_EQ(problems("name = \"../x\"\n[source]\ngit=\"--upload-pack=x\"\nref=\"ext::sh\"\n[variant.cpu]"),
            "r.toml:1: name: \"../x\" is not a valid project name\n"
            "r.toml:3: git: \"--upload-pack=x\" is not a valid git argument\n"
            "r.toml:4: ref: \"ext::sh\" is not a valid git argument");
  EXPECT_EQ(problems("name = \"x\"\n[source]\nfolder=\"/etc\"\npatches=[\"a/../../b\"]\n[variant.cpu]"),
            "r.toml:3: folder: \"/etc\" must be a relative path\n"
            "r.toml:4: each of patches: \"a/../../b\" points outside its folder");
}

TEST(Expand, FillsPlaceholders) {
  const std::map<std::string, std::string> values = {{"archs", "8.0;9.0"}, {"set.x", "{archs}"}};
  EXPECT_EQ(expand("-D{archs}!", values), "-D8.0;9.0!");
  EXPECT_EQ(expand("{{archs}} }{archs}{archs}}", values), "{archs} }8.0;9.08.0;9.0}");
  EXPECT_EQ(expand("{set.x}", values), "{archs}") << "values are not expanded again";
  EXPECT_EQ(expand("", values), "");
  EXPECT_EQ(error_of([&] { (void)expand("{arch}", values); }), "unknown placeholder {arch}; did you mean archs?");
  EXPECT_EQ(error_of([&] { (void)expand("a{", values); }), "\"{\": unclosed {; write {{ for a literal brace");
}

TEST(Spell, EachPackageInItsWords) {
  struct Case {
    std::string archs;
    ArchSpelling spelling;
    std::string separator, spelled;
  };
  const std::vector<Case> cases = {
      {"80;90a+PTX", ArchSpelling::dotted, ";", "8.0;9.0a+PTX"},
      {"8.0,12.0", ArchSpelling::compact, ";", "80;120"},
      {"8.0;9.0a+PTX;compute_100", ArchSpelling::cmake, ";", "80-real;90a;100-virtual"},
      {"8.0 9.0+PTX", ArchSpelling::sm, ",", "sm_80,sm_90,compute_90"},
      {"gfx942;gfx90a:xnack-", ArchSpelling::gfx, ";", "gfx942;gfx90a:xnack-"},
      {"gfx1151", ArchSpelling::cmake, ";", "gfx1151"},
  };
  for (const Case& c : cases) {
    ArchRules rules;
    rules.spelling = c.spelling;
    rules.separator = c.separator;
    EXPECT_EQ(spell(gpu::ArchList::parse(c.archs), rules), c.spelled);
  }
  ArchRules dotted;
  EXPECT_THROW((void)spell(gpu::ArchList::parse("gfx942"), dotted), Error);
  EXPECT_THROW((void)spell(gpu::ArchList::parse("compute_90"), dotted), Error);
  dotted.ptx = false;
  EXPECT_THROW((void)spell(gpu::ArchList::parse("9.0+PTX"), dotted), Error);
}

TEST(Spell, LegalArchitectures) {
  ArchRules rules;
  rules.legal = {"8.0", "90", "gfx90a"};
  EXPECT_NO_THROW(check_legal(gpu::ArchList::parse("sm_80;9.0+PTX;gfx90a:xnack-"), rules, "p"));
  EXPECT_EQ(error_of([&] { check_legal(gpu::ArchList::parse("9.0a;8.0;gfx942"), rules, "p"); }),
            "p cannot be built for 9.0a, gfx942; supported: 8.0, 90, gfx90a");
}

TEST(Library, BuiltInRecipesAreAllGood) {
  const Library library;
  EXPECT_TRUE(library.broken().empty()) << library.broken().begin()->second;
  EXPECT_EQ(library.names(), (Names{"aiter", "fbgemm_gpu", "flash-attn", "flash-attn-rocm", "pytorch", "texture",
                                    "texture-torch", "torchaudio", "torchvision", "triton", "vllm", "wheelsmith"}));
  for (const auto& [file, text] : builtin_recipes()) {
    const Recipe* recipe = library.find(file.substr(0, file.find(".toml")));
    ASSERT_NE(recipe, nullptr) << "a file is named after its recipe: " << file;
    EXPECT_EQ(recipe->origin, "built in");
    EXPECT_FALSE(recipe->summary.empty());
    for (const auto& [key, rules] : recipe->all_rules) EXPECT_FALSE(rules.tests.empty()) << file;
  }
  const Recipe* flash = library.find("Flash_Attn");
  ASSERT_NE(flash, nullptr);
  EXPECT_EQ(error_of([&] { (void)flash->rules(Variant::cpu); }),
            "flash-attn has no cpu variant: its kernels are CUDA code, and Triton code for AMD; it has cuda, rocm");
  EXPECT_EQ(spell(gpu::ArchList::parse("9.0"), flash->rules(Variant::cuda).archs), "90");
}

TEST(Library, UsersReplaceAndExtend) {
  const Library library({
      {"a.toml",
       "name = \"texture\"\nextends = \"texture\"\n[variant.cuda.archs]\ndefault = \"12.0\"\n"
       "[build]\nmore-requires = [\"x\"]\n"},
      {"b.toml", "name = \"fast-attention\"\nextends = \"flash-attn\"\n[variant.cuda.build.environment]\nX = \"1\"\n"},
      {"c.toml", "name = \"wheelsmith\"\n[source]\nsdist = \"other\"\n[variant.cpu]\n"},
      {"d.toml", "name = \"\n"},
      {"e.toml", "name = \"e\"\nextends = \"f\"\n"},
      {"f.toml", "name = \"f\"\nextends = \"e\"\n"},
      {"g.toml", "name = \"g\"\nextends = \"flash-atn\"\n"},
      {"h.toml", "name = \"h\"\nextends = \"texture\"\n[source]\nsdist = \"h\"\n"},
      {"i.toml", "name = \"lonely\"\nextends = \"lonely\"\n"},
  });
  const Recipe* texture = library.find("texture");
  ASSERT_NE(texture, nullptr);
  EXPECT_EQ(texture->origin, "a.toml");
  EXPECT_EQ(texture->rules(Variant::cuda).archs.fallback, "12.0");
  EXPECT_EQ(texture->rules(Variant::cuda).requires_.back(), "x");
  EXPECT_EQ(texture->rules(Variant::cuda).tests.size(), 2U) << "the rest is as it was";
  const Recipe* fast = library.find("fast-attention");
  ASSERT_NE(fast, nullptr);
  EXPECT_EQ(fast->project, "flash-attn") << "what is built is what the recipe below it builds";
  EXPECT_EQ(fast->rules(Variant::cuda).environment.back().first, "X");
  EXPECT_EQ(library.find("wheelsmith")->source.project, "other");
  const auto& broken = library.broken();
  EXPECT_EQ(broken.count("d.toml"), 1U);
  EXPECT_EQ(broken.at("e"), "f.toml:2: recipes extend each other in a cycle");
  EXPECT_EQ(broken.at("g"), "g.toml:2: extends \"flash-atn\", but there is no such recipe; did you mean flash-attn?");
  EXPECT_EQ(library.find("h")->source.kind, Source::Kind::sdist) << "another kind of source replaces the first";
  EXPECT_EQ(broken.at("lonely"), "i.toml:2: extends \"lonely\", but there is no such recipe");
  EXPECT_EQ(broken.size(), 5U);
}

}  // namespace
}  // namespace wheelsmith::recipe
