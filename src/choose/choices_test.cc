#include <gtest/gtest.h>

#include "base/request_error.h"
#include "base/text.h"
#include "choose/recipe.h"
#include "choose/test_recipe.h"
#include "choose/toolkit.h"
#include "choose/torch.h"
#include "choose/variants.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::choose {

namespace {

using recipe::Variant;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

toolchain::Gpu gpu_of(const char* name, const char* arch) {
  return {name, gpu::ArchList::parse(arch).requests.front().arch, 0, ""};
}

Words texts(const std::vector<gpu::ArchList>& lists) {
  Words result;
  for (const gpu::ArchList& list : lists) result.push_back(list.to_string());
  return result;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Variants, AreTheRequestedOnesElseTheGpusElseCpu) {
  const recipe::Recipe recipe = vision_recipe();
  Request request;
  EXPECT_EQ(choose_variants(request, recipe, {}).what, std::vector{Variant::cpu});
  EXPECT_EQ(choose_variants(request, recipe, {gpu_of("H100", "9.0")}).what, std::vector{Variant::cuda});
  EXPECT_EQ(choose_variants(request, recipe, {gpu_of("Strix Halo", "gfx1151")}).what, std::vector{Variant::rocm});
  EXPECT_FALSE(choose_variants(request, recipe, {}).notes.empty());
  // A package with one variant leaves no choice to mention.
  const recipe::Recipe only = recipe::parse_recipe("name = \"x\"\n[source]\nsdist = \"x\"\n[variant.cpu]\n", "x.toml");
  EXPECT_TRUE(choose_variants(request, only, {}).notes.empty());
  request.variants = {Variant::rocm, Variant::cpu};
  EXPECT_EQ(choose_variants(request, recipe, {gpu_of("H100", "9.0")}).what, request.variants);
  EXPECT_TRUE(choose_variants(request, recipe, {}).notes.empty());
}

TEST(Variants, AreImpliedByArchsAndDevices) {
  const recipe::Recipe recipe = vision_recipe();
  const recipe::Recipe plain = recipe::parse_recipe("name = \"x\"\n[source]\nsdist = \"x\"\n[variant.cpu]\n", "x.toml");
  struct Row {
    const char *archs, *device;
    std::vector<Variant> asked, wanted;  // wanted: empty for an error
    const char* error = "";
  };
  const std::vector<Variant> both = {Variant::cuda, Variant::rocm};
  for (const Row& row : std::vector<Row>{
           {"9.0", "", {}, {Variant::cuda}},
           {"sm_90a", "", {}, {Variant::cuda}},
           {"gfx942", "", {}, {Variant::rocm}},
           {"", "H100", {}, {Variant::cuda}},
           {"", "MI300X", {}, {Variant::rocm}},
           {"9.0", "H100", {}, {Variant::cuda}},
           {"9.0;gfx942", "", {}, {}, "--variant cuda,rocm"},
           {"9.0", "MI300X", {}, {}, "--variant cuda,rocm"},
           {"9.0;gfx942", "", both, both},
           {"", "H100", {Variant::cpu}, {}, "--variant cpu excludes"},
           {"9.0", "", {Variant::rocm}, {}, "--variant rocm excludes"},
           {"9.0;gfx942", "", {Variant::cuda}, {}, "--arch gfx942 needs variant rocm"},
           {"9.0", "", {Variant::cpu, Variant::cuda}, {Variant::cpu, Variant::cuda}},
       }) {
    SCOPED_TRACE(std::string(row.archs) + " " + row.device);
    Request request;
    request.packages = {"vision"};
    request.variants = row.asked;
    if (*row.archs != '\0') request.archs = {gpu::ArchList::parse(row.archs)};
    if (*row.device != '\0') request.devices = {gpu::find_device(row.device)};
    std::vector<Variant> chosen;
    const std::string error = error_of([&] { chosen = choose_variants(request, recipe, {}).what; });
    EXPECT_EQ(chosen, row.wanted) << error;
    EXPECT_NE(error.find(row.error), std::string::npos) << error;
    EXPECT_EQ(error.empty(), !row.wanted.empty());
  }
  Request request;
  request.packages = {"x"};
  request.devices = {gpu::find_device("H100")};
  EXPECT_THROW(choose_variants(request, plain, {}), RequestError);
  request.packages = {"x", "vision"};  // the other one is for the GPU
  EXPECT_EQ(choose_variants(request, plain, {}).what, std::vector{Variant::cpu});
}

TEST(Variants, ADependencyWithoutGpuVariantIsBuiltForTheCpu) {
  const recipe::Recipe plain = recipe::parse_recipe("name = \"x\"\n[source]\nsdist = \"x\"\n[variant.cpu]\n", "x.toml");
  EXPECT_EQ(dependency_variant(plain, Variant::cuda), Variant::cpu);
  EXPECT_EQ(dependency_variant(vision_recipe(), Variant::cuda), Variant::cuda);
}

TEST(Archs, AreTheRequestedOnesElseTheGpusElseTheRecipes) {
  const recipe::Recipe recipe = vision_recipe();
  Request request;
  const auto archs = [&](Variant variant, const std::vector<toolchain::Gpu>& gpus, const sys::Environment& variables) {
    return texts(choose_archs(request, recipe, variant, gpus, variables).what);
  };
  const std::vector<toolchain::Gpu> two = {gpu_of("A", "9.0"), gpu_of("B", "9.0"), gpu_of("C", "10.0")};
  EXPECT_EQ(archs(Variant::cpu, two, {}), Words{""});
  EXPECT_EQ(archs(Variant::cuda, {}, {}), Words{"8.0;9.0"});
  EXPECT_EQ(archs(Variant::cuda, two, {}), Words{"9.0;10.0"});
  EXPECT_EQ(archs(Variant::rocm, {gpu_of("A", "gfx1151")}, {{"ROCM_SDK_TARGET_FAMILY", "gfx942"}}), Words{"gfx942"});
  request.archs = {gpu::ArchList::parse("8.0"), gpu::ArchList::parse("9.0;gfx942")};
  EXPECT_EQ(archs(Variant::cuda, two, {}), (Words{"8.0", "9.0"}));
  EXPECT_EQ(archs(Variant::rocm, two, {}), Words{"gfx942"});
  request.archs = {gpu::ArchList::parse("gfx942")};
  EXPECT_THROW(archs(Variant::cuda, two, {}), RequestError);
  request.archs = {gpu::ArchList::parse("7.5")};
  EXPECT_NE(error_of([&] { archs(Variant::cuda, {}, {}); }), "");  // the package cannot be built for it
}

// Packages compare names exactly, so the features of a device are included only if requested; a device without its own
// code uses the newest code that runs on it.
TEST(Archs, OfDevicesAreThoseThatRunOnThem) {
  struct Row {
    const char* what;
    std::vector<const char*> devices;
    std::vector<const char*> legal;
    recipe::ArchFeatures features = recipe::ArchFeatures::accepted;
    const char *archs = "", *fixed = "", *wanted = "", *error = "", *note = "";
  };
  using enum recipe::ArchFeatures;
  for (const Row& row : std::vector<Row>{
           {.what = "plain", .devices = {"MI300X"}, .legal = {}, .wanted = "gfx942"},
           {.what = "refused", .devices = {"MI300X"}, .legal = {"gfx942"}, .features = refused, .wanted = "gfx942"},
           {.what = "wanted",
            .devices = {"MI300X"},
            .legal = {},
            .features = wanted,
            .wanted = "gfx942:sramecc+:xnack-"},
           {.what = "two", .devices = {"MI250X", "MI350X"}, .legal = {}, .wanted = "gfx90a;gfx950"},
           {.what = "added to a list",
            .devices = {"MI300X"},
            .legal = {},
            .archs = "gfx1100",
            .wanted = "gfx1100;gfx942"},
           {.what = "named twice", .devices = {"MI300X"}, .legal = {}, .archs = "gfx942", .wanted = "gfx942"},
           {.what = "unserved",
            .devices = {"Strix Halo"},
            .legal = {"gfx942"},
            .error = "cannot be built for Radeon 8060S (gfx1151)"},
           {.what = "features by hand",
            .devices = {},
            .legal = {"gfx942"},
            .features = refused,
            .archs = "gfx942:xnack-",
            .error = "does not accept target features; use gfx942"},
           {.what = "fixed",
            .devices = {},
            .legal = {},
            .archs = "gfx942",
            .fixed = "gfx90a;gfx942",
            .wanted = "gfx90a;gfx942",
            .note = "always compiles for gfx90a;gfx942"},
           {.what = "not in the fixed list",
            .devices = {},
            .legal = {},
            .archs = "gfx1100",
            .fixed = "gfx90a",
            .error = "this version always compiles for gfx90a"},
       }) {
    recipe::Recipe recipe = vision_recipe();
    recipe::ArchRules& rules = recipe.all_rules.at({Variant::rocm, ""}).archs;
    rules.spelling = recipe::ArchSpelling::gfx;
    rules.legal.assign(row.legal.begin(), row.legal.end());
    rules.features = row.features;
    rules.fixed = row.fixed;
    Request request;
    for (const char* name : row.devices) request.devices.push_back(gpu::find_device(name));
    if (*row.archs != '\0') request.archs = {gpu::ArchList::parse(row.archs)};
    Chosen<std::vector<gpu::ArchList>> chosen;
    const std::string error = error_of([&] { chosen = choose_archs(request, recipe, Variant::rocm, {}, {}); });
    if (*row.error != '\0') {
      EXPECT_NE(error.find(row.error), error.npos) << row.what << ": " << error;
      continue;
    }
    EXPECT_EQ(error, "") << row.what;
    EXPECT_EQ(texts(chosen.what), Words{row.wanted}) << row.what;
    const std::string notes = join(chosen.notes, "\n");
    EXPECT_NE(notes.find(row.note), notes.npos) << row.what << ": " << notes;
  }
  recipe::Recipe recipe = vision_recipe();
  Request request;
  request.devices = {gpu::find_device("RTX 3090")};
  EXPECT_EQ(texts(choose_archs(request, recipe, Variant::cuda, {}, {}).what), Words{"8.0"});
  EXPECT_THROW(choose_archs(request, recipe, Variant::rocm, {}, {}), RequestError);  // not a device of the variant
}

namespace {

constexpr const char* k_node = R"(name = "node"
platform = "linux_x86_64"
[[python]]
path = "/usr/bin/python3.12"
version = "3.12.3"
[[python]]
path = "/opt/venv/bin/python"
version = "3.12.3"
[python.torch]
version = "2.9.1+cu130"
cuda = "13.0"
)";

Chosen<TorchChoice> torch(const std::string& text, const std::string& python, const std::string& ref = "main",
                          const std::string& index = "") {
  Request request;
  request.packages = {"vision"};
  request.torch = text;
  request.torch_index = index;
  if (!ref.empty()) request.refs = {{"", ref}};
  const recipe::Recipe recipe = vision_recipe();
  const toolchain::Host host = described_host(k_node);
  return choose_torch(request, recipe, recipe.rules(Variant::cuda), Variant::cuda, toolchain::find_python(python, host),
                      host);
}

}  // namespace

// Another user may control the current folder, so a version never means a folder of that name.
TEST(Torch, AVersionAndAChannelAreNeverFolders) {
  const sys::TempDir folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const recipe::Recipe recipe = vision_recipe();
  const auto chosen = [&](const std::string& text) {
    Request request;
    request.torch = text;
    request.torch_index = "https://x/{channel}/{variant}";
    sys::make_folders(folder.path() / text / "bin");
    sys::write_file(folder.path() / text / "bin" / "python", "#!/bin/sh\n");
    return choose_torch(request, recipe, recipe.rules(Variant::cuda), Variant::cuda, {}, {}).what;
  };
  EXPECT_EQ(chosen("2.13.0").requirement, "torch==2.13.0");
  EXPECT_EQ(chosen(">=2.8").requirement, "torch>=2.8");
  EXPECT_EQ(chosen("nightly/cu130").index_urls, Words{"https://x/nightly/cu130"});
  EXPECT_EQ(chosen("./2.13.0").kind, TorchChoice::Kind::environment);
  EXPECT_EQ(chosen("env").kind, TorchChoice::Kind::environment);
  fs::current_path(before);
}

TEST(Torch, IsTheGivenOneElseTheInterpretersElseTheRefsElseTheNewest) {
  using Kind = TorchChoice::Kind;
  const std::string plain = "/usr/bin/python3.12", with = "/opt/venv/bin/python";
  EXPECT_EQ(torch("2.13.0", plain).what.requirement, "torch==2.13.0");
  EXPECT_EQ(torch(">=2.8,<3", plain).what.requirement, "torch>=2.8,<3");
  EXPECT_EQ(torch("2.13.0", with).what.requirement, "torch==2.13.0");
  EXPECT_EQ(torch("", with).what.kind, Kind::environment);
  EXPECT_EQ(torch("", with).what.python, with);
  EXPECT_EQ(torch(with, plain).what.kind, Kind::environment);
  EXPECT_EQ(torch("", plain, "v0.24.0").what.requirement, "torch==2.10.*");  // the newest one that matches it
  EXPECT_EQ(torch("", plain, "main").what.requirement, "torch>=2.8");
  EXPECT_EQ(torch("nightly/cu130", plain, "", "https://x/{channel}/{variant}").what.index_urls,
            Words{"https://x/nightly/cu130"});
  EXPECT_EQ(torch("release/cu130", plain, "", "https://x/{channel}/{variant}").what.index_urls,
            Words{"https://x//cu130"});
  EXPECT_THROW(torch("nightly/cu130", plain), RequestError);  // no index of channels is set
  EXPECT_THROW(torch("nightly", plain, "", "https://x/{channel}/{variant}"), RequestError);  // for which CUDA?
  EXPECT_THROW(torch("what?", plain), RequestError);
}

TEST(Torch, SeriesAndBuilds) {
  EXPECT_EQ(torch_series("2.13.0+cu130"), "2.13");
  EXPECT_EQ(torch_series("nightly"), "");
  EXPECT_EQ(torch_series("nightly/cu13.0"), "");
  TorchChoice choice;
  choice.kind = TorchChoice::Kind::requirement;
  choice.requirement = "torch==2.10.*";
  EXPECT_EQ(torch_series(choice), "2.10");
  choice.requirement = "torch>=2.8";
  EXPECT_EQ(torch_series(choice), "");
  EXPECT_EQ(torch_of_version("2.13.0+cu130").cuda, "13.0");
  EXPECT_EQ(torch_of_version("2.13.0+rocm7.1").hip, "7.1");
  EXPECT_EQ(torch_of_version("2.13.0+cpu").cuda, "");
  env::Lock lock;
  lock.wheels = {{"nvidia-cuda-runtime-cu12", "12.8.90", "", "", ""}, {"torch", "2.9.1", "", "", ""}};
  EXPECT_EQ(locked_torch(lock).cuda, "12.8");
  lock.wheels = {{"nvidia-cuda-runtime-cu12", "12.8.90", "", "", ""}, {"torch", "2.9.1+cpu", "", "", ""}};
  EXPECT_EQ(locked_torch(lock).cuda, "");  // its own metadata takes precedence
}

TEST(Cuda, IsTheMachinesIfItFits) {
  toolchain::Cuda here;
  here.version = "13.0";
  here.has_cublas = here.has_cusparse = true;
  toolchain::Cuda bare = here;
  bare.has_cublas = false;
  struct Case {
    const char* name;
    CudaQuestion question;
    bool machine;
    std::string version;
  };
  for (const Case& c : std::vector<Case>{
           {"torch was built with it", {here, false, true, "13.0", ""}, true, "13.0"},
           {"torch was built with another", {here, false, true, "12.8", ""}, false, "12.8"},
           {"the user gives it anyway", {here, true, true, "12.8", ""}, true, "13.0"},
           {"torch's headers need more than a compiler", {bare, false, true, "13.0", ""}, false, "13.0"},
           {"without torch a compiler is enough", {bare, false, false, "", ""}, true, "13.0"},
           {"the recipe requires another", {here, false, false, "", "<13"}, false, ""},
           {"there is none", {std::nullopt, false, true, "13.0", ""}, false, "13.0"},
       }) {
    const CudaChoice choice = choose_cuda(c.question);
    EXPECT_EQ(choice.machine, c.machine) << c.name;
    EXPECT_EQ(choice.version, c.version) << c.name;
    EXPECT_EQ(choice.why.empty(), c.machine) << c.name;
  }
}

TEST(Rocm, IsTheMachinesElseFromAnIndex) {
  toolchain::Rocm here;
  here.version = "7.0.0";
  EXPECT_EQ(choose_rocm({.here = here}), RocmChoice::machine);
  EXPECT_EQ(choose_rocm({.here = here, .specifiers = ">=7.1"}), RocmChoice::machine);  // there is no alternative
  EXPECT_EQ(choose_rocm({.here = here, .has_index = true, .specifiers = ">=7.1"}), RocmChoice::index);
  EXPECT_EQ(choose_rocm({.here = here, .named = true, .has_index = true, .specifiers = ">=7.1"}), RocmChoice::machine);
  EXPECT_EQ(choose_rocm({.here = {}, .has_index = true}), RocmChoice::index);
  EXPECT_EQ(choose_rocm({.here = {}, .has_index = true, .may_ask = false}), RocmChoice::missing);
  EXPECT_EQ(choose_rocm({.here = {}}), RocmChoice::missing);
  EXPECT_EQ(choose_rocm({.here = {}, .build_needs = false}), RocmChoice::unneeded);
}

TEST(Recipes, AreFoundElseInferredElseRejected) {
  const recipe::Library library(
      {{"mine.toml", "name = \"mine\"\n[source]\nsdist = \"mine\"\n[variant.cpu]\n"}, {"bad.toml", "name = "}});
  EXPECT_EQ(find_recipe(library, "Mine")->name, "mine");
  EXPECT_EQ(find_recipe(library, "unheard-of"), nullptr);
  EXPECT_THROW((void)find_recipe(library, "bad"), RequestError);
  EXPECT_THROW((void)find_recipe(library, "../mine"), RequestError);
  EXPECT_NE(error_of([&] { (void)recipe_named(library, "mines"); }).find("did you mean mine?"), std::string::npos);
}

TEST(Recipes, RejectWhatTheyCannotBuild) {
  const recipe::Recipe recipe = recipe::parse_recipe(R"(name = "x"
[source]
sdist = "x"
[settings.experimental]
help = "try it anyway"
default = ""
[variant.rocm]
[[variant.rocm.refuse]]
archs = ["gfx11*"]
why = "its kernels do not compile"
override = "experimental"
)",
                                                     "x.toml");
  const recipe::Rules& rules = recipe.rules(Variant::rocm);
  const auto refusal = [&](const char* archs, const char* experimental) {
    return find_refusal(recipe, rules, gpu::ArchList::parse(archs), {{"experimental", experimental}});
  };
  EXPECT_FALSE(refusal("gfx942", "").what);
  EXPECT_NE(refusal("gfx1151", "").what->find("its kernels do not compile"), std::string::npos);
  EXPECT_FALSE(refusal("gfx1151", "1").what);
  EXPECT_EQ(refusal("gfx1151", "1").notes.size(), 1u);
}

TEST(Typos, AreErrorsAndOtherUnusedNamesAreNotes) {
  const recipe::Library library(
      std::vector<recipe::Library::File>{{"vision.toml",
                                          "name = \"vision\"\n[source]\nsdist = \"v\"\n[settings.video]\nhelp = "
                                          "\"x\"\ndefault = \"\"\n[variant.cpu]\n"}});
  const std::vector<const recipe::Recipe*> built = {library.find("vision")};
  Request request;
  request.packages = {"vision"};
  request.sources = {{"visoin", "x", "/x", "", "", ""}};
  EXPECT_THROW((void)reject_typos(request, built, library), RequestError);
  request.sources = {{"audio", "x", "/x", "", "", ""}};
  EXPECT_EQ(reject_typos(request, built, library).size(), 1u);
  request.sources.clear();
  request.set = {{"vidoe", "1"}};
  EXPECT_THROW((void)reject_typos(request, built, library), RequestError);
  request.set = {{"video", "1"}};
  EXPECT_TRUE(reject_typos(request, built, library).empty());
}

}  // namespace wheelsmith::choose
