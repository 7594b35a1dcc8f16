#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "plan/render/render.h"
#include "sys/process/process.h"

namespace wheelsmith::plan {

namespace {

constexpr const char* k_hostile = "a'b\"c$(touch x)`touch y`\\ \n#;&|>${HOME} *";

Step demo() {
  Step step;
  BuildSpec& spec = step.spec;
  spec.id = spec.identity = "demo-cpu-cp311";
  spec.package = spec.project = "demo";
  spec.version = "1.0";
  spec.python.executable = "/usr/bin/python3";
  spec.python.version = "3.11.2";
  spec.python.tag = spec.python.abi = "cp311";
  spec.python.platform = "linux_x86_64";
  spec.python.has_ensurepip = true;
  spec.source.kind = source::Pin::Kind::folder;
  spec.source.folder = "/sources/demo";
  spec.tools.cc = "/usr/bin/gcc";
  spec.tools.cxx = "/usr/bin/g++";
  spec.tools.compiler_family = "gcc";
  spec.variables.fixed = {{"CFLAGS", "-ffile-prefix-map=${tree}=."}};
  spec.actions = {{Phase::source, RemoveFiles{{"build/*"}}},
                  {Phase::prepare, CallHook{CallHook::Hook::get_requires_for_build_wheel, {}, {}}},
                  {Phase::build, CallHook{CallHook::Hook::build_wheel, {}, {}}}};
  return step;
}

Step from_archive() {
  Step step = demo();
  source::Pin& source = step.spec.source;
  source.kind = source::Pin::Kind::archive;
  source.url = "https://example.org/demo-1.0.tar.gz";
  source.file_name = "demo-1.0.tar.gz";
  source.sha256 = std::string(64, 'a');
  return step;
}

std::string script_of(const Plan& plan) { return to_script(plan); }
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

TEST(Script, QuotedWordsKeepTheirMeaning) {
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

TEST(Script, IsValidBashForAnyPlan) {
  Step step = demo();
  BuildSpec& spec = step.spec;
  spec.id = spec.identity = spec.subfolder = k_hostile;
  spec.python.executable = std::string("/") + k_hostile;
  spec.source.folder = std::string("/") + k_hostile;
  spec.tools.cc = spec.tools.cxx = k_hostile;
  spec.tools.programs = {{"cmake", k_hostile}};
  spec.variables.fixed = {{"A", k_hostile}, {"-u", k_hostile}};
  spec.variables.loose = {{"B", k_hostile}};
  spec.environment.requirements = {k_hostile};
  spec.manifest.set("source:END_OF_TEXT", "x");
  spec.environment.torch.index_urls = {k_hostile};
  spec.environment.torch.wheelhouses = {k_hostile};
  source::Pin fetched;
  fetched.git_url = fetched.git_commit = fetched.git_tag = k_hostile;
  spec.actions = {
      {Phase::source, ApplyPatch{{k_hostile, "END_OF_TEXT\n$(touch z)\nEND_OF_TEXT_", k_hostile}}},
      {Phase::source, RemoveFiles{{k_hostile}}},
      {Phase::source, FetchSource{"name", fetched}},
      {Phase::prepare, WriteFile{k_hostile, k_hostile}},
      {Phase::prepare, RunCommand{{k_hostile, k_hostile}}},
      {Phase::prepare, ApplyPatch{{k_hostile, "END_OF_TEXT\n", ""}}},
      {Phase::prepare, CallHook{CallHook::Hook::get_requires_for_build_wheel, {{k_hostile, k_hostile}}, {k_hostile}}},
      {Phase::build, CallHook{CallHook::Hook::build_wheel, {{k_hostile, k_hostile}}, {}}},
      {Phase::build, PackProgram{}}};
  for (const auto kind : {choose::TorchChoice::Kind::none, choose::TorchChoice::Kind::environment}) {
    spec.environment.torch.kind = kind;
    spec.environment.torch.python = k_hostile;
    EXPECT_EQ(syntax_errors(script_of(step)), "");
    Step archive = step;
    source::Pin& source = archive.spec.source;
    source = from_archive().spec.source;
    source.url = source.file_name = k_hostile;
    EXPECT_EQ(syntax_errors(script_of(archive)), "");
    source.kind = source::Pin::Kind::git;
    source.git_url = source.git_commit = k_hostile;
    source.submodules = std::vector<std::string>{k_hostile, "b"};
    source.git_tag = k_hostile;
    EXPECT_EQ(syntax_errors(script_of(archive)), "");
  }
}

// A value with spaces stays one word.
TEST(Script, LinksTheGivenCompilers) {
  const std::string script = script_of(demo());
  const std::string function = script.substr(script.find("\nstep_1() {"));
  const std::string helpers =
      "WORK=$(mktemp -d) JOBS=1 DIST=$WORK BUILD_CC='/my gcc/*'\n"
      "copy_folder() { :; }; clean() { :; }; make_environment() { :; }; ln() { printf '%s\\n' \"$2\"; }\n"
      "read_backend() { rm -rf \"$WORK\"; exit; }\n";
  EXPECT_EQ(bash(helpers + function), "== demo-cpu-cp311\n/my gcc/*\n/my gcc/*\n/usr/bin/g++\n/usr/bin/g++\n");
}

// Defines only the step's function, with helpers replaced by functions that print their arguments.
TEST(Script, HostileValuesReachCommandsWhole) {
  Step step = demo();
  step.spec.source.kind = source::Pin::Kind::git;
  step.spec.source.git_url = "https://example.org/r";
  step.spec.source.git_commit = k_hostile;
  step.spec.python.executable = std::string("/") + k_hostile;
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
  step.spec.source.url = "https://me:secret@example.org/demo-1.0.tar.gz";
  step.spec.environment.torch.index_urls = {"https://me:secret@example.org/simple"};
  EXPECT_FALSE(has(script_of(step), "secret"));
  EXPECT_TRUE(has(script_of(step), "fetch '' demo-1.0.tar.gz"));
  step.spec.source.kind = source::Pin::Kind::git;
  step.spec.source.git_url = "https://me:secret@example.org/demo.git";
  EXPECT_FALSE(has(script_of(step), "secret"));
}

TEST(Script, InstallsTheLockedWheelsOnly) {
  Step step = demo();
  step.spec.environment.lock.wheels = {
      {"setuptools", "80.0", "setuptools-80.0-py3-none-any.whl", "https://example.org/s.whl", "0123"}};
  const std::string script = script_of(step);
  EXPECT_TRUE(has(script, "install --no-deps --require-hashes -r /dev/stdin"));
  EXPECT_TRUE(has(script, "setuptools==80.0 --hash=sha256:0123\n"));
  EXPECT_FALSE(has(script, "s.whl"));
}

TEST(Script, UsesTheWheelsOfEarlierSteps) {
  Step first = demo(), second = demo();
  second.spec.id = second.spec.identity = "second";
  second.needs = {{.kind = Edge::Kind::environment, .step = first.id()}};
  second.spec.environment.requirements = {"setuptools"};
  second.spec.environment.resolve_late = true;
  const std::string script = script_of(Plan{{first, second}, {}});
  EXPECT_TRUE(has(script, "--find-links \"$DIST\" -- setuptools demo==1.0"));
  EXPECT_LT(script.rfind("step_1\n"), script.rfind("step_2\n"));
}

// A script removes only its own folders.
TEST(Script, OfAnEditableInstallBuildsInTheFolder) {
  Step step = demo();
  step.spec.editable = true;
  step.spec.python.executable = "/env/bin/python";
  step.spec.actions = {{Phase::prepare, CallHook{CallHook::Hook::get_requires_for_build_editable, {}, {}}},
                       {Phase::build, CallHook{CallHook::Hook::build_editable, {{"a", "b"}}, {}}}};
  for (const bool isolated : {true, false}) {
    step.spec.environment.isolated = isolated;
    const std::string script = script_of(step);
    EXPECT_EQ(syntax_errors(script), "");
    const std::string steps = script.substr(script.find("step_1() {"));
    EXPECT_TRUE(has(steps, "source=${SOURCE_DEMO:-/sources/demo}\n")) << steps;
    EXPECT_TRUE(has(steps, "hook build_editable \"$tree/dist\" a b\n  install_editable\n")) << steps;
    EXPECT_FALSE(has(steps, "copy_folder")) << steps;
    EXPECT_FALSE(has(steps, "remove_pip")) << steps;
    EXPECT_EQ(has(steps, "sys.prefix"), !isolated);
    EXPECT_EQ(steps.find("rm -rf"), steps.rfind("rm -rf"));
    EXPECT_LT(steps.find("rm -rf"), steps.find("source=${SOURCE_DEMO"));
    EXPECT_LT(steps.find("rm -rf"), steps.find("env=$("));  // npos if the build is isolated
  }
}

TEST(Script, OfAProgramThatPacksItself) {
  Step step = demo();
  step.spec.source.kind = source::Pin::Kind::program;
  EXPECT_EQ(syntax_errors(script_of(step)), "");
  EXPECT_FALSE(has(script_of(step), "\n  make_environment\n"));
}

TEST(Dot, EscapesAndColours) {
  Step first = demo(), second = demo();
  first.decision.cached = true;
  second.spec.id = "b\"]; x [label=\"\\N\n";
  second.decision.reason = "it has never been built here";
  second.needs = {{.kind = Edge::Kind::environment, .step = first.id()}};
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
           {"3.11.2", "", "fedora:41", "FROM fedora:41 AS build", "dnf install -y --allowerasing curl g"},
           {"3.11.2", "", "ubuntu:24.04", "FROM ubuntu:24.04 AS build", "python3.11-venv"},
       }) {
    Step step = demo();
    step.spec.python.version = c.python;
    step.spec.platform = c.platform;
    const std::string text = to_containerfile(Plan{{step}, {}}, c.image);
    EXPECT_TRUE(has(text, c.wanted_from)) << text;
    EXPECT_TRUE(has(text, c.wanted_install)) << text;
  }
}

// Tags used in public Containerfiles.
TEST(Containerfile, ChoosesAnImageWithTheToolkit) {
  struct Case {
    std::string python, platform, cuda, rocm, wanted;
  };
  for (const Case& c : std::vector<Case>{
           {"3.10.12", "", "12.8", "", "nvidia/cuda:12.8.1-devel-ubuntu22.04"},
           {"3.12.3", "", "13.0", "", "nvidia/cuda:13.0.2-devel-ubuntu24.04"},
           {"3.12.3", "", "12.4", "", "nvidia/cuda:12.4.1-devel-rockylinux9"},
           {"3.11.2", "", "11.8", "", "nvidia/cuda:11.8.0-devel-rockylinux9"},
           {"3.13.1", "", "12.9", "", "pytorch/manylinux2_28-builder:cuda12.9"},
           {"3.12.3", "manylinux_2_28", "12.8", "", "pytorch/manylinux2_28-builder:cuda12.8"},
           {"3.12.3", "", "", "6.4.2", "rocm/dev-ubuntu-24.04:6.4.2-complete"},
           {"3.10.12", "", "", "7.0", "rocm/dev-ubuntu-22.04:7.0-complete"},
           {"3.13.1", "", "", "7.2.4", "pytorch/manylinux2_28-builder:rocm7.2"},
       }) {
    Step step = demo();
    step.spec.python.version = c.python;
    step.spec.platform = c.platform;
    if (!c.cuda.empty()) step.spec.tools.cuda = {.root = "/opt/cuda", .index_version = {}, .version = c.cuda};
    step.spec.tools.rocm.version = c.rocm;
    if (!c.rocm.empty()) step.spec.tools.rocm.root = "/opt/rocm-x";
    const std::string text = to_containerfile(Plan{{step}, {}}, "");
    EXPECT_TRUE(has(text, "\nFROM " + c.wanted + " AS build\n")) << c.wanted << "\n" << text;
    EXPECT_TRUE(has(text, c.cuda.empty() ? "ENV BUILD_ROCM=\"/opt/rocm\"" : "ENV BUILD_CUDA=\"/usr/local/cuda\""))
        << text;
  }
}

TEST(Containerfile, CopiesFoldersAndSetsPaths) {
  Step step = demo();
  step.spec.tools.cuda.root = "/usr/local/cuda-13.0";
  step.spec.tools.cuda.version = "13.0";
  step.spec.variant = recipe::Variant::cuda;
  const std::string text = to_containerfile(Plan{{step}, {}}, "");
  EXPECT_TRUE(has(text, "--build-context source-demo=/sources/demo"));
  EXPECT_TRUE(has(text, "COPY --from=source-demo . /source-demo\n"));
  EXPECT_TRUE(has(text, "ENV SOURCE_DEMO=\"/source-demo\"\n"));
  EXPECT_TRUE(has(text, "ENV PYTHON_CP311=\"/usr/bin/python3.11\"\n"));
  EXPECT_TRUE(has(text, "devel"));
  EXPECT_THROW(to_containerfile(Plan{{step}, {}}, "a\nRUN b"), Error);
}

}  // namespace wheelsmith::plan
