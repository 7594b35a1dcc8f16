#include "plan/step/actions.h"

#include <gtest/gtest.h>

#include "plan/step/key.h"

namespace wheelsmith::plan {

namespace {

struct Fixture {
  BuildSpec spec;
  recipe::Rules rules;
  Placeholders values = {{"version", "1.2"}, {"set.empty", ""}, {"fetch.cutlass", ""}};
  std::vector<FetchSource> fetches;
  PatchTexts patches;
  std::string hipify;

  [[nodiscard]] std::vector<Action> actions() const {
    return make_actions({spec, rules, values, fetches, patches, hipify});
  }
};

// One word for each action: "prepare:run-command".
std::vector<std::string> words(const std::vector<Action>& actions) {
  std::vector<std::string> result;
  for (const Action& action : actions) {
    const std::string_view kind = std::visit([](const auto& what) { return what.kind; }, action.what);
    result.push_back(std::string(to_string(action.phase)) + ":" + std::string(kind));
  }
  return result;
}

using Words = std::vector<std::string>;

}  // namespace

TEST(Actions, OfAPlainPackageAreTheTwoHooks) {
  EXPECT_EQ(words(Fixture().actions()), (Words{"prepare:call-hook", "build:call-hook"}));
}

TEST(Actions, ComeInTheOrderInWhichTheyAreDone) {
  Fixture setup;
  setup.rules.clean = {"build"};
  setup.rules.files = {{"version.txt", "{version}"}};
  setup.rules.prepare = {{{"echo", "{version}", "{set.empty}"}, ""}};
  setup.fetches = {{"cutlass", {}}};
  setup.patches.early = {{"early.patch", "a", ""}};
  setup.patches.hipified = {{"late.patch", "b", ""}};
  setup.hipify = "tools/hipify.py";
  const std::vector<Action> actions = setup.actions();
  EXPECT_EQ(words(actions), (Words{"source:apply-patch", "source:remove-files", "source:fetch-source",
                                   "prepare:write-file", "prepare:run-command", "prepare:apply-patch",
                                   "prepare:run-command", "prepare:call-hook", "build:call-hook"}));
  EXPECT_EQ(std::get<WriteFile>(actions[3].what).text, "1.2");
  EXPECT_EQ(std::get<RunCommand>(actions[4].what).argv, (Words{"${env}/bin/python", "tools/hipify.py"}));
  EXPECT_EQ(std::get<ApplyPatch>(actions[5].what).patch.name, "late.patch");
  EXPECT_EQ(std::get<RunCommand>(actions[6].what).argv, (Words{"echo", "1.2"}));  // an empty setting adds no argument
}

// Hipified patches apply to the output of hipify; otherwise script, key and provenance must not contain them.
TEST(Actions, WithoutHipifyHaveNoHipifiedPatches) {
  Fixture setup;
  setup.patches.hipified = {{"late.patch", "b", ""}};
  EXPECT_EQ(words(setup.actions()), (Words{"prepare:call-hook", "build:call-hook"}));
}

TEST(Actions, OfSetupPyAreOneCommand) {
  Fixture setup;
  setup.rules.backend = recipe::Rules::Backend::setup_py;
  setup.rules.options = {"--plat-name", "{version}", "{set.empty}"};
  const std::vector<Action> actions = setup.actions();
  ASSERT_EQ(words(actions), Words{"build:run-command"});
  EXPECT_EQ(std::get<RunCommand>(actions[0].what).argv, (Words{"${env}/bin/python", "setup.py", "bdist_wheel",
                                                               "--dist-dir", "${tree}/dist", "--plat-name", "1.2"}));
}

TEST(Actions, PassSettingsAndOptionsToBothHooks) {
  Fixture setup;
  setup.rules.config = {{"cmake.args", "-DX={version}"}, {"empty", "{set.empty}"}};
  setup.rules.options = {"--fast"};
  setup.rules.drop_requires = {"Ninja"};
  setup.rules.not_from_pip = {{"CMake", "the machine's own"}};
  const std::vector<Action> actions = setup.actions();
  const auto& asked = std::get<CallHook>(actions[0].what);
  const auto& built = std::get<CallHook>(actions[1].what);
  EXPECT_EQ(asked.config, (Pairs{{"cmake.args", "-DX=1.2"}, {"--build-option", "--fast"}}));
  EXPECT_EQ(built.config, asked.config);
  EXPECT_EQ(asked.dropped, (Words{"ninja", "cmake"}));
}

TEST(Actions, SkipCommandsForSourcesThatAreNotFetched) {
  Fixture setup;
  recipe::Fetch fetch;
  fetch.name = "cutlass";
  setup.rules.fetches = {fetch};
  setup.rules.prepare = {{{"cp", "-r", "{fetch.cutlass}", "third_party"}, ""}};
  EXPECT_EQ(words(setup.actions()), (Words{"prepare:call-hook", "build:call-hook"}));
  setup.values["fetch.cutlass"] = "${tree}/fetched/cutlass";
  EXPECT_EQ(words(setup.actions()), (Words{"prepare:run-command", "prepare:call-hook", "build:call-hook"}));
}

TEST(Actions, LoadRocmsLibrariesOnlyForRocm) {
  Fixture setup;
  setup.rules.preload.module = "torch/_rocm_init.py";
  setup.rules.preload.libraries = {"amdhip64"};
  setup.spec.tools.rocm.version = "7.1.0";
  EXPECT_EQ(setup.actions().size(), 2u);
  setup.spec.variant = recipe::Variant::rocm;
  const std::vector<Action> actions = setup.actions();
  ASSERT_EQ(actions.size(), 3u);
  const std::string& text = std::get<WriteFile>(actions[0].what).text;
  EXPECT_NE(text.find("\"amdhip64\""), text.npos);
  EXPECT_NE(text.find("check_version=\"7.1.*\""), text.npos);  // as in the requirement of the wheel
}

// The folder belongs to the user: nothing is patched, written or removed there, and only the backend runs.
TEST(Actions, OfAnEditableInstallDoNotChangeTheSource) {
  Fixture setup;
  setup.spec.editable = true;
  setup.rules.clean = {"build"};
  setup.rules.files = {{"version.txt", "{version}"}};
  setup.rules.edits = {{"CMakeLists.txt", "17", "20", "the headers need C++20", true}};
  setup.rules.prepare = {{{"python", "-c", "edit"}, "the headers need C++20"}, {{"make", "codegen"}, ""}};
  setup.fetches = {{"cutlass", {}}};
  setup.patches.early = {{"early.patch", "a", ""}};
  setup.patches.hipified = {{"late.patch", "b", ""}};
  setup.hipify = "tools/hipify.py";
  const std::vector<Action> actions = setup.actions();
  ASSERT_EQ(words(actions), (Words{"source:fetch-source", "prepare:call-hook", "build:call-hook"}));
  EXPECT_EQ(std::get<CallHook>(actions[1].what).hook, CallHook::Hook::get_requires_for_build_editable);
  EXPECT_EQ(std::get<CallHook>(actions[2].what).hook, CallHook::Hook::build_editable);
  EXPECT_EQ(skipped_in_place({setup.spec, setup.rules, setup.values, setup.fetches, setup.patches, setup.hipify}),
            (Words{"the patch early.patch", "the file version.txt", "the patch late.patch",
                   "the command python3 tools/hipify.py", "the edit of CMakeLists.txt (the headers need C++20)",
                   "the command make codegen"}));
}

TEST(Actions, OfAnEditableSetupPyAreItsHook) {
  Fixture setup;
  setup.spec.editable = true;
  setup.rules.backend = recipe::Rules::Backend::setup_py;
  setup.rules.options = {"--variant=cpu"};
  const std::vector<Action> actions = setup.actions();
  ASSERT_EQ(words(actions), Words{"build:call-hook"});
  EXPECT_EQ(std::get<CallHook>(actions[0].what).config, (Pairs{{"--build-option", "--variant=cpu"}}));
}

TEST(Actions, OfOurOwnProgram) {
  Fixture setup;
  setup.spec.source.kind = source::Pin::Kind::program;
  EXPECT_EQ(words(setup.actions()), Words{"build:pack-program"});
}

namespace {

std::string key_of(const BuildSpec& spec) { return make_manifest({.spec = spec, .recipe_digest = "r"}).key(); }

BuildSpec full_spec() {
  BuildSpec spec;
  spec.package = "demo";
  spec.source.digest = "sha256:1";
  spec.variables.fixed = {{"CFLAGS", "-O3"}, {"TOKEN", "secret"}};
  spec.variables.loose = {{"MAX_JOBS", "4"}};
  spec.actions = {{Phase::source, ApplyPatch{{"a.patch", "text", ""}}},
                  {Phase::source, RemoveFiles{{"build"}}},
                  {Phase::source, FetchSource{"cutlass", {}}},
                  {Phase::prepare, WriteFile{"version.txt", "1.0"}},
                  {Phase::prepare, RunCommand{{"python", "hipify.py"}}},
                  {Phase::build, CallHook{CallHook::Hook::build_wheel, {{"a", "b"}}, {}}}};
  return spec;
}

}  // namespace

// Every input that affects the result changes the key by itself.
TEST(Key, ChangesWithEveryInputOfTheResult) {
  const BuildSpec spec = full_spec();
  const std::string key = key_of(spec);
  const std::vector<std::pair<const char*, std::function<void(BuildSpec&)>>> changes = {
      {"package", [](BuildSpec& s) { s.package += "x"; }},
      {"variant", [](BuildSpec& s) { s.variant = recipe::Variant::cuda; }},
      {"target", [](BuildSpec& s) { s.target = "genai"; }},
      {"archs", [](BuildSpec& s) { s.archs = gpu::ArchList::parse("9.0"); }},
      {"platform", [](BuildSpec& s) { s.platform = "manylinux_2_28"; }},
      {"build type", [](BuildSpec& s) { s.build_type = "debug"; }},
      {"container", [](BuildSpec& s) { s.container.id = "sha256:1"; }},
      {"editable", [](BuildSpec& s) { s.editable = true; }},
      {"network", [](BuildSpec& s) { s.network = true; }},
      {"python", [](BuildSpec& s) { s.python.digest = "other"; }},
      {"source", [](BuildSpec& s) { s.source.digest = "sha256:2"; }},
      {"lock", [](BuildSpec& s) { s.environment.lock.wheels.push_back({"cmake", "4", "", "", "1"}); }},
      {"variable", [](BuildSpec& s) { s.variables.fixed[0].second = "-O2"; }},
      {"patch", [](BuildSpec& s) { std::get<ApplyPatch>(s.actions[0].what).patch.text += "x"; }},
      {"patched folder", [](BuildSpec& s) { std::get<ApplyPatch>(s.actions[0].what).patch.folder = "third_party"; }},
      {"clean", [](BuildSpec& s) { std::get<RemoveFiles>(s.actions[1].what).patterns = {"dist"}; }},
      {"fetch", [](BuildSpec& s) { std::get<FetchSource>(s.actions[2].what).pin.digest = "git:1"; }},
      {"file", [](BuildSpec& s) { std::get<WriteFile>(s.actions[3].what).text = "2.0"; }},
      {"command", [](BuildSpec& s) { std::get<RunCommand>(s.actions[4].what).argv = {"python hipify.py"}; }},
      {"config", [](BuildSpec& s) { std::get<CallHook>(s.actions[5].what).config[0].second = "c"; }},
      {"no action", [](BuildSpec& s) { s.actions.pop_back(); }},
  };
  for (const auto& [name, change] : changes) {
    BuildSpec other = spec;
    change(other);
    EXPECT_NE(key_of(other), key) << name;
  }
  const auto with = [&](Pairs tools, Pairs steps, std::string torch) {
    return make_manifest({.spec = spec,
                          .recipe_digest = "r",
                          .tools = std::move(tools),
                          .steps = std::move(steps),
                          .torch = std::move(torch)})
        .key();
  };
  EXPECT_EQ(with({}, {}, ""), key);
  EXPECT_NE(with({{"cc", "1"}}, {}, ""), key);
  EXPECT_NE(with({}, {{"torch", "k"}}, ""), key);
  EXPECT_NE(with({}, {}, "2.13"), key);
}

TEST(Key, DoesNotChangeWithOtherInputs) {
  const BuildSpec spec = full_spec();
  BuildSpec other = spec;
  other.variables.loose = {{"MAX_JOBS", "8"}};
  other.verbose = true;
  other.id = "another";
  other.tools.cc = "/elsewhere/gcc";  // its content matters, not its path
  EXPECT_EQ(key_of(other), key_of(spec));
}

TEST(Key, KeepsNoSecret) {
  const BuildSpec spec = full_spec();
  const KeyInputs inputs{.spec = spec, .recipe_digest = "r", .secrets = {{"TOKEN", "secret"}}};
  const store::Manifest manifest = make_manifest(inputs);
  EXPECT_EQ(manifest.inputs().at("env:TOKEN").substr(0, 7), "sha256 ");
  EXPECT_EQ(manifest.inputs().at("env:CFLAGS"), "-O3");
}

}  // namespace wheelsmith::plan
