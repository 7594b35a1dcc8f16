#include "plan/script.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "sys/process.h"

namespace wheelsmith::plan {

namespace {

constexpr const char* k_recipe = R"(name = "demo"
[source]
folder = "demo"
[build]
clean = ["build/*"]
[variant.cpu]
[variant.cuda]
)";

constexpr const char* k_hostile = "a'b\"c$(touch x)`touch y`\\ \n#;&|>${HOME} *";

Step demo() {
  Step step;
  step.id = step.identity = "demo-cpu-cp311";
  step.package = step.project = "demo";
  step.version = "1.0";
  step.recipe_text = k_recipe;
  step.recipe_origin = "demo.toml";
  step.python.executable = "/usr/bin/python3";
  step.python.version = "3.11.2";
  step.python.tag = step.python.abi = "cp311";
  step.python.platform = "linux_x86_64";
  step.python.has_ensurepip = true;
  step.source.kind = source::Pin::Kind::folder;
  step.source.folder = "/sources/demo";
  step.cc = "/usr/bin/gcc";
  step.cxx = "/usr/bin/g++";
  step.compiler_family = "gcc";
  step.environment = {{"CFLAGS", "-ffile-prefix-map=${tree}=."}};
  return step;
}

Step from_archive() {
  Step step = demo();
  step.source.kind = source::Pin::Kind::archive;
  step.source.url = "https://example.org/demo-1.0.tar.gz";
  step.source.file_name = "demo-1.0.tar.gz";
  step.source.sha256 = std::string(64, 'a');
  return step;
}

std::string script_of(const Plan& plan) { return to_script(plan, store::Store(testing::TempDir() + "/script-store")); }
std::string script_of(const Step& step) { return script_of(Plan{{step}, {}}); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

std::string bash(const std::string& script) {
  sys::Command command{.argv = {"bash"}, .input = script};
  const sys::Captured result = sys::capture(command);
  return result.exit.good() ? result.output : "failed: " + result.errors;
}

std::string syntax_errors(const std::string& script) {
  return sys::capture({.argv = {"bash", "-n"}, .input = script}).errors;
}

}  // namespace

TEST(Script, WordsMeanWhatTheyMeantBefore) {
  struct Case {
    std::string text, wanted;
  };
  for (const Case& c : std::vector<Case>{
           {"", ""},
           {"plain", "plain"},
           {"${tree}/bin:${env}/bin", "/T T/bin:/E/bin"},
           {"-I${toolkit}/include -j${jobs}", "-I/K/include -j3"},
           {"${store}", "/W"},
           {"${HOME}$tree${tree", "${HOME}$tree${tree"},
           {k_hostile, k_hostile},
           {std::string(k_hostile) + "${tree}" + k_hostile, std::string(k_hostile) + "/T T" + k_hostile},
       }) {
    EXPECT_EQ(bash("tree='/T T' env=/E toolkit=/K WORK=/W JOBS=3\nprintf '%s' " + script_word(c.text)), c.wanted);
  }
}

TEST(Script, NamesOfVariables) {
  EXPECT_EQ(script_variable("PYTHON", "cp313t"), "PYTHON_CP313T");
  EXPECT_EQ(script_variable("SOURCE", "texture-torch.x"), "SOURCE_TEXTURE_TORCH_X");
}

TEST(Script, IsBashWhateverThePlanHolds) {
  Step step = demo();
  step.id = step.identity = k_hostile;
  step.python.executable = std::string("/") + k_hostile;
  step.source.folder = std::string("/") + k_hostile;
  step.cc = step.cxx = k_hostile;
  step.programs = {{"cmake", k_hostile}};
  step.environment = {{"A", k_hostile}, {"-u", k_hostile}};
  step.volatile_environment = {{"B", k_hostile}};
  step.config = {{k_hostile, k_hostile}};
  step.options = {k_hostile};
  step.requirements = {k_hostile};
  step.patches = {{k_hostile, "END_OF_TEXT\n$(touch z)\nEND_OF_TEXT_"}};
  step.manifest.set("source:END_OF_TEXT", "x");
  step.torch.index_urls = {k_hostile};
  step.torch.wheelhouses = {k_hostile};
  for (const auto kind : {TorchChoice::Kind::none, TorchChoice::Kind::environment}) {
    step.torch.kind = kind;
    step.torch.python = k_hostile;
    EXPECT_EQ(syntax_errors(script_of(step)), "");
    Step archive = step;
    archive.source = from_archive().source;
    archive.source.url = archive.source.file_name = k_hostile;
    EXPECT_EQ(syntax_errors(script_of(archive)), "");
    archive.source.kind = source::Pin::Kind::git;
    archive.source.git_url = archive.source.git_commit = k_hostile;
    archive.source.submodules = std::vector<std::string>{k_hostile, "b"};
    archive.source.git_tag = k_hostile;
    EXPECT_EQ(syntax_errors(script_of(archive)), "");
  }
}

// A value that has blanks stays one word, whoever set it.
TEST(Script, LinksTheCompilersThatAreNamed) {
  const std::string script = script_of(demo());
  const std::string function = script.substr(script.find("\nstep_1() {"));
  const std::string helpers =
      "WORK=$(mktemp -d) JOBS=1 DIST=$WORK BUILD_CC='/my gcc/*'\n"
      "copy_folder() { :; }; clean() { :; }; make_environment() { :; }; ln() { printf '%s\\n' \"$2\"; }\n"
      "read_backend() { rm -rf \"$WORK\"; exit; }\n";
  EXPECT_EQ(bash(helpers + function), "== demo-cpu-cp311\n/my gcc/*\n/my gcc/*\n/usr/bin/g++\n/usr/bin/g++\n");
}

// Defines the step's function and no more, with the helpers replaced by ones that print their words.
TEST(Script, HostileValuesReachCommandsWhole) {
  Step step = demo();
  step.source.kind = source::Pin::Kind::git;
  step.source.git_url = "https://example.org/r";
  step.source.git_commit = k_hostile;
  step.python.executable = std::string("/") + k_hostile;
  const std::string script = script_of(step);
  const std::string function = script.substr(script.find("\nstep_1() {"));
  const std::string helpers =
      "WORK=$(mktemp -d) JOBS=1 DIST=$WORK\n"
      "clone() { printf '%s|%s' \"$python\" \"$2\"; rm -rf \"$WORK\"; exit; }\n";
  EXPECT_EQ(bash(helpers + function), std::string("== demo-cpu-cp311\n/") + k_hostile + "|" + k_hostile);
}

TEST(Script, FetchesByHashAndHidesPasswords) {
  EXPECT_TRUE(has(script_of(from_archive()),
                  "fetch https://example.org/demo-1.0.tar.gz demo-1.0.tar.gz " + std::string(64, 'a')));
  Step step = from_archive();
  step.source.url = "https://me:secret@example.org/demo-1.0.tar.gz";
  step.torch.index_urls = {"https://me:secret@example.org/simple"};
  EXPECT_FALSE(has(script_of(step), "secret"));
  EXPECT_TRUE(has(script_of(step), "fetch '' demo-1.0.tar.gz"));
  step.source.kind = source::Pin::Kind::git;
  step.source.git_url = "https://me:secret@example.org/demo.git";
  EXPECT_FALSE(has(script_of(step), "secret"));
}

TEST(Script, InstallsTheLockedWheelsOnly) {
  Step step = demo();
  step.lock.wheels = {{"setuptools", "80.0", "setuptools-80.0-py3-none-any.whl", "https://example.org/s.whl", "0123"}};
  const std::string script = script_of(step);
  EXPECT_TRUE(has(script, "install --no-deps --require-hashes -r /dev/stdin"));
  EXPECT_TRUE(has(script, "setuptools==80.0 --hash=sha256:0123\n"));
  EXPECT_FALSE(has(script, "s.whl"));
}

TEST(Script, TakesTheWheelsOfStepsBefore) {
  Step first = demo(), second = demo();
  second.id = second.identity = "second";
  second.needs = {first.id};
  second.requirements = {"setuptools"};
  const std::string script = script_of(Plan{{first, second}, {}});
  EXPECT_TRUE(has(script, "--find-links \"$DIST\" -- setuptools demo==1.0"));
  EXPECT_LT(script.rfind("step_1\n"), script.rfind("step_2\n"));
}

TEST(Script, OfAProgramThatPacksItself) {
  Step step = demo();
  step.source.kind = source::Pin::Kind::program;
  EXPECT_EQ(syntax_errors(script_of(step)), "");
  EXPECT_FALSE(has(script_of(step), "\n  make_environment\n"));
}

TEST(Dot, EscapesAndColours) {
  Step first = demo(), second = demo();
  first.cached = true;
  second.id = "b\"]; x [label=\"\\N\n";
  second.reason = "it has never been built here";
  second.needs = {first.id};
  const std::string dot = to_dot(Plan{{first, second}, {}});
  EXPECT_TRUE(has(dot, "\"demo-cpu-cp311\" [label=\"demo-cpu-cp311\\ncached\", fillcolor=\"#d5e8d4\"];"));
  EXPECT_TRUE(has(dot, "\"demo-cpu-cp311\" -> \"b\\\"]; x [label=\\\"\\\\N"));
  EXPECT_TRUE(has(dot, "fillcolor=\"#ffe6cc\""));
  EXPECT_EQ(lines(dot).size(), 3U + 2 + 1 + 1);
}

TEST(Containerfile, ChoosesAnImageThatFits) {
  struct Case {
    std::string python, platform, image, wanted_from, wanted_install;
  };
  for (const Case& c : std::vector<Case>{
           {"3.11.2", "", "", "FROM debian:12-slim AS build", "apt-get install"},
           {"3.13.1", "", "", "FROM python:3.13-slim-bookworm AS build", "apt-get install"},
           {"3.11.2", "manylinux_2_28", "", "/manylinux_2_28_x86_64 AS build", "dnf install"},
           {"3.11.2", "manylinux_2_34_x86_64", "", "/manylinux_2_34_x86_64 AS build", "dnf install"},
           {"3.11.2", "", "fedora:41", "FROM fedora:41 AS build", "dnf install -y curl g"},
           {"3.11.2", "", "ubuntu:24.04", "FROM ubuntu:24.04 AS build", "python3.11-venv"},
       }) {
    Step step = demo();
    step.python.version = c.python;
    step.platform = c.platform;
    const std::string text = to_containerfile(Plan{{step}, {}}, c.image);
    EXPECT_TRUE(has(text, c.wanted_from)) << text;
    EXPECT_TRUE(has(text, c.wanted_install)) << text;
  }
}

TEST(Containerfile, BringsFoldersAndNamesPlaces) {
  Step step = demo();
  step.cuda_root = "/usr/local/cuda-13.0";
  step.cuda_version = "13.0";
  step.variant = recipe::Variant::cuda;
  const std::string text = to_containerfile(Plan{{step}, {}}, "");
  EXPECT_TRUE(has(text, "--build-context source-demo=/sources/demo"));
  EXPECT_TRUE(has(text, "COPY --from=source-demo . /source-demo\n"));
  EXPECT_TRUE(has(text, "ENV SOURCE_DEMO=\"/source-demo\"\n"));
  EXPECT_TRUE(has(text, "ENV PYTHON_CP311=\"/usr/bin/python3.11\"\n"));
  EXPECT_TRUE(has(text, "devel"));
  EXPECT_THROW(to_containerfile(Plan{{step}, {}}, "a\nRUN b"), Error);
}

}  // namespace wheelsmith::plan
