#include "choose/source.h"

#include <gtest/gtest.h>

#include "base/request_error.h"
#include "choose/test_recipe.h"

namespace wheelsmith::choose {

namespace {

const source::PinnedRef k_record{"https://host/recorded/vision", "abc123", "related_commits:3"};
const source::PinnedRef k_pin_file{"", "def456", ".github/ci_commit_pins/vision.txt"};

struct Case {
  const char* name;
  std::string ref, origin;
  bool torch_named = false;
  std::optional<source::PinnedRef> record{};
  std::string series{};
  // wanted
  std::string url, chosen_ref, reason, patchset{};
};

SourceChoice chosen(const Case& c, const recipe::Recipe& recipe) {
  return choose_source({.recipe = recipe,
                        .variant = recipe::Variant::cuda,
                        .ref = c.ref,
                        .origin = c.origin,
                        .torch_named = c.torch_named,
                        .record = [&] { return c.record; },
                        .torch_series = [&] { return c.series; }});
}

}  // namespace

TEST(Source, IsChosenByPrecedence) {
  const recipe::Recipe recipe = vision_recipe();
  const std::string upstream = "https://host/upstream/vision", fork = "https://host/fork/vision";
  for (const Case& c : std::vector<Case>{
           {"nothing is given", "", "", false, {}, "", upstream, "main", "recipe"},
           {"--ref", "v0.1", "", false, k_record, "2.9", upstream, "v0.1", "--ref"},
           {"--ref of a family", "release/0.24", "", false, k_record, "2.9", fork, "release/0.24", "--ref", "release"},
           {"--origin alone", "", "https://me/vision", false, {}, "", "https://me/vision", "main", "recipe"},
           {"--origin beats the family",
            "release/1",
            "https://me/vision",
            false,
            {},
            "",
            "https://me/vision",
            "release/1",
            "--ref",
            "release"},
           {"a record", "", "", false, k_record, "2.9", "https://host/recorded/vision", "abc123", "related_commits:3"},
           {"a pin file names no repository", "", "", false, k_pin_file, "2.9", upstream, "def456",
            ".github/ci_commit_pins/vision.txt"},
           {"--origin beats the record's", "", "https://me/vision", false, k_record, "", "https://me/vision", "abc123",
            "related_commits:3"},
           {"the record's repository beats the family's", "", "", false,
            source::PinnedRef{"https://host/recorded/vision", "release/0.24", "related_commits:1"}, "",
            "https://host/recorded/vision", "release/0.24", "related_commits:1", "release"},
           {"a given torch beats a record", "", "", true, k_record, "2.9", upstream, "v0.24.0",
            "recipe, for torch 2.9"},
           {"torch", "", "", false, {}, "2.8", upstream, "v0.23.0", "recipe, for torch 2.8"},
       }) {
    const SourceChoice choice = chosen(c, recipe);
    EXPECT_EQ(choice.url, c.url) << c.name;
    EXPECT_EQ(choice.ref, c.chosen_ref) << c.name;
    EXPECT_EQ(reason_of(choice), c.reason) << c.name;
    EXPECT_EQ(choice.family_patchset, c.patchset) << c.name;
  }
}

TEST(Source, OfATorchWithoutAPairIsAnErrorThatNamesTheNearest) {
  const recipe::Recipe recipe = vision_recipe();
  for (const auto& [series, nearest] : std::vector<std::pair<std::string, std::string>>{
           {"2.7", "the closest are torch 2.8 (v0.23.0);"},
           {"9.9", "the closest are torch 2.10 (v0.24.0);"},
       }) {
    try {
      (void)chosen({"", "", "", false, {}, series, "", "", ""}, recipe);
      ADD_FAILURE() << series;
    } catch (const RequestError& error) {
      EXPECT_NE(std::string(error.what()).find(nearest), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(chosen({"", "v1", "", false, {}, "9.9", "", "", ""}, recipe).ref, "v1");  // --ref needs no pair
}

TEST(Source, PairsMayDifferForAVariant) {
  recipe::Recipe recipe = vision_recipe();
  recipe.source.refs_for["cuda"] = {{"2.9", "v0.24.1"}, {"2.7", "v0.22.0"}};
  EXPECT_EQ(chosen({"", "", "", false, {}, "2.9", "", "", ""}, recipe).ref, "v0.24.1");
  EXPECT_EQ(chosen({"", "", "", false, {}, "2.7", "", "", ""}, recipe).ref, "v0.22.0");
  EXPECT_EQ(chosen({"", "", "", false, {}, "2.8", "", "", ""}, recipe).ref, "v0.23.0");
}

TEST(Source, QueriesOnlyWhatIsNeeded) {
  const recipe::Recipe recipe = vision_recipe();
  const auto refuse = [](const char* what) { ADD_FAILURE() << what << " was queried"; };
  (void)choose_source({.recipe = recipe,
                       .variant = std::nullopt,
                       .ref = "v0.1",
                       .origin = "",
                       .record =
                           [&] {
                             refuse("the record");
                             return std::optional<source::PinnedRef>();
                           },
                       .torch_series =
                           [&] {
                             refuse("torch");
                             return std::string();
                           }});
}

TEST(Source, ReportsWhatItChose) {
  const recipe::Recipe recipe = vision_recipe();
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes_of(chosen({"", "", "", false, k_record, "", "", "", ""}, recipe), recipe, "pytorch"),
            Notes{"vision: abc123, pinned by related_commits:3 of pytorch"});
  EXPECT_EQ(notes_of(chosen({"", "", "", false, {}, "2.9", "", "", ""}, recipe), recipe, ""),
            Notes{"vision: v0.24.0, which matches torch 2.9"});
  EXPECT_EQ(notes_of(chosen({"", "release/1", "", false, {}, "", "", "", ""}, recipe), recipe, ""),
            Notes{"vision: the fork keeps releases"});
}

TEST(Source, TakesThePatchSetOfItsFamilyElseOfItsRef) {
  SourceChoice choice;
  choice.ref = "v0.24.0";
  choice.family_patchset = "release";
  using Names = std::vector<std::string>;
  EXPECT_EQ(choose_patchset(choice, "", Names{"other", "release", "v0.24.0"}), "release");
  EXPECT_EQ(choose_patchset(choice, "", Names{"other", "v0.24.0"}), "v0.24.0");
  EXPECT_EQ(choose_patchset(choice, "", Names{"other"}), "");
  EXPECT_EQ(choose_patchset(choice, "other", Names{}), "other");
}

TEST(Source, OptionsWithoutANameMeanTheOnlyPackage) {
  Request request;
  request.packages = {"vision"};
  request.refs = {{"", "v1"}};
  request.sources = {{"", "x", "/folder", "", "", ""}};
  EXPECT_EQ(user_ref(request, "Vision"), "v1");
  EXPECT_TRUE(source_override(request, "vision", "torchvision"));
  EXPECT_FALSE(user_ref(request, "audio"));
  request.packages = {"vision", "audio"};
  EXPECT_FALSE(user_ref(request, "vision"));
  EXPECT_FALSE(source_override(request, "vision", "torchvision"));
  request.refs = {{"vision", "v2"}};
  EXPECT_EQ(user_ref(request, "vision"), "v2");
  request.sources = {{"", "torchvision==1", "", "", "torchvision", "==1"}};
  EXPECT_TRUE(source_override(request, "vision", "torchvision"));
}

TEST(Source, VersionsAreReadFromTheFileElseFromTheTag) {
  const recipe::Recipe recipe = vision_recipe();
  EXPECT_EQ(source_version(recipe, "v0.24.0", "0.25.0a0\n"), "0.25.0a0");
  EXPECT_EQ(source_version(recipe, "v0.24.0", std::nullopt), "0.24.0");
  EXPECT_EQ(source_version(recipe, "main", std::nullopt), "");
  EXPECT_EQ(source_version(recipe, "main", "\"\"\"Vision.\"\"\"\n__version__ = '1.2'\n"), "1.2");
  EXPECT_EQ(source_version(recipe, "", "no version"), "");
}

TEST(Source, PartsOfAnyVariantAreTheirUnion) {
  const recipe::Recipe recipe = recipe::parse_recipe(R"(name = "x"
[source]
git = "https://host/x"
ref = "main"
submodules = ["common"]
[variant.cpu]
[variant.cuda]
[variant.cuda.checkout]
submodules = ["cutlass", "common"]
[variant.rocm]
[variant.rocm.checkout]
submodules = ["composable_kernel"]
hipify = "tools/hipify.py"
)",
                                                     "x.toml");
  using Names = std::vector<std::string>;
  EXPECT_EQ(choose_parts(recipe, std::nullopt, "", "main").submodules,
            (Names{"common", "composable_kernel", "cutlass"}));
  EXPECT_EQ(choose_parts(recipe, std::nullopt, "", "main").hipify, "");  // not requested for ROCm
  EXPECT_EQ(choose_parts(recipe, recipe::Variant::cpu, "", "main").submodules, Names{"common"});
  EXPECT_EQ(choose_parts(recipe, recipe::Variant::rocm, "", "main").hipify, "tools/hipify.py");
}

}  // namespace wheelsmith::choose
