#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "recipe/python_text.h"
#include "recipe/recipe.h"

namespace wheelsmith::recipe {
namespace {

using Names = std::vector<std::string>;

using Files = std::map<std::string, std::string>;

// Shaped like the setup.py files of torch's extensions on the package index.
constexpr const char* k_setup = R"py(#!/usr/bin/env python
"""import nothing
from nowhere import this"""
import os, sys
import os.path as osp; import numpy
from packaging.version import (
    parse,
    Version,
)
import torch
from torch.utils.cpp_extension import \
    BuildExtension, CUDAExtension
from . import local
try:
    import pkg_resources
except ImportError:
    pass
# import commented

def late():
    import psutil
    text = '''
import cmake
'''
class Command:
    import yaml
from setuptools import setup
FORCE = os.getenv("FAST_OPS_FORCE_BUILD", "FALSE") == "TRUE"
if os.getenv('FORCE_CUDA', '0') == '1' or os.environ["FORCE_ONLY_CPU"]:
    define_macros = [('WITH_CUDA', None)]
setup(name='fast_ops', version='1.0')
)py";

TEST(PythonText, SeesImportsAtTheTop) {
  const PythonText python = read_python(k_setup);
  EXPECT_EQ(python.imports, (Names{"os", "sys", "numpy", "packaging", "torch", "pkg_resources", "setuptools"}));
}

TEST(PythonText, BearsAnything) {
  for (const char* text : {"", "'", "\"\"\"", "'\\", "import", "from", "import ,,;;", "(((((", "))))", "\\\n\\\n",
                           "'a\nimport b", "\"\"\"\\\"\"\"", "#"}) {
    EXPECT_NO_THROW((void)read_python(text)) << text;
  }
  EXPECT_EQ(read_python("'a\nimport b").imports, Names{"b"}) << "a string that is not closed ends with its line";
}

SourceFacts fast_ops() {
  return read_source(
      TextTree(Files{{"fast_ops-1.0/PKG-INFO", "Name: fast_ops\nVersion: 1.0\nRequires-Python: >=3.8\n\nName: no\n"},
                     {"fast_ops-1.0/setup.py", k_setup},
                     {"fast_ops-1.0/csrc/a.cu", ""},
                     {"fast_ops-1.0/fast_ops/__init__.py", ""},
                     {"fast_ops-1.0/fast_ops.egg-info/top_level.txt", "fast_ops\ntest\nother\n../x\n"}}));
}

TEST(SourceFacts, AreSeenInAnArchivesFolder) {
  const SourceFacts facts = fast_ops();
  EXPECT_EQ(facts.name, "fast_ops");
  EXPECT_EQ(facts.version, "1.0");
  EXPECT_EQ(facts.requires_python, ">=3.8");
  EXPECT_TRUE(facts.has_setup_py && !facts.has_pyproject && facts.uses_torch && facts.uses_torch_extension);
  EXPECT_TRUE(facts.has_cuda_sources && !facts.has_hip_sources);
  EXPECT_EQ(facts.imports, Names{"fast_ops"});
  EXPECT_EQ(facts.arch_variables, (Names{"FAST_OPS_FORCE_BUILD", "FORCE_CUDA", "FORCE_ONLY_CPU"}));
}

TEST(MakeUp, AnExtensionOfTorch) {
  const Recipe recipe = infer(fast_ops());
  EXPECT_EQ(recipe.origin, "inferred");
  EXPECT_EQ(recipe.name, "fast-ops");
  EXPECT_EQ(recipe.variants(), (std::vector<Variant>{Variant::cpu, Variant::cuda, Variant::rocm}));
  EXPECT_GE(recipe.assumptions.size(), 4U);
  const Rules& cpu = recipe.rules(Variant::cpu);
  EXPECT_EQ(cpu.backend, Rules::Backend::pep517);
  EXPECT_EQ(cpu.requires_, (Names{"setuptools<81", "numpy", "packaging", "wheel", "ninja"}));
  EXPECT_TRUE(cpu.requires_versions.uses_torch);
  EXPECT_EQ(cpu.environment, (std::vector<std::pair<std::string, std::string>>{
                                 {"FAST_OPS_FORCE_BUILD", "TRUE"}, {"FORCE_CUDA", "0"}, {"FORCE_ONLY_CPU", "1"}}));
  const Rules& cuda = recipe.rules(Variant::cuda);
  EXPECT_EQ(cuda.environment,
            (std::vector<std::pair<std::string, std::string>>{{"FAST_OPS_FORCE_BUILD", "TRUE"}, {"FORCE_CUDA", "1"}}));
  EXPECT_EQ(cuda.archs.variable, "TORCH_CUDA_ARCH_LIST");
  EXPECT_EQ(cuda.tests.at(0).imports, Names{"fast_ops"});
  const Recipe again = parse_recipe(recipe.to_toml(), "again.toml");
  EXPECT_EQ(again.document, recipe.document);
  EXPECT_EQ(again.assumptions, recipe.assumptions);
}

TEST(SourceFacts, TheProjectsOwnNameIsBelievedInAnyFolder) {
  const auto imports = [](const Files& files) {
    Files all = files;
    all.emplace("pyproject.toml", "[project]\nname=\"Own-Name\"\n");
    return read_source(TextTree(all)).imports;
  };
  EXPECT_EQ(imports({{"lib/own_name/__init__.py", ""}, {"lib/other/__init__.py", ""}}), Names{"own_name"});
  EXPECT_EQ(imports({{"src/Own_Name.py", ""}, {"setup.py", ""}, {"src/other.py", ""}}), Names{"Own_Name"});
  EXPECT_EQ(imports({{"tests/own_name/__init__.py", ""}, {"a/b/own_name/__init__.py", ""}}), Names{});
  EXPECT_EQ(imports({{"tests/own_name.py", ""}, {"x/own_name/own_name.py", ""}}), Names{});
}

Rules inferred_for(const std::string& backend, const std::string& requirement) {
  return infer(read_source(TextTree(
                   Files{{"pyproject.toml", "[build-system]\nrequires=[\"" + requirement + "\"]\nbuild-backend=\"" +
                                                backend + "\"\n[project]\nname=\"demo\"\n"}})))
      .rules(Variant::cpu);
}

// A variable that a setup.py takes for granted stops the build after everything was fetched.
TEST(SourceFacts, VariablesThatMustBeSet) {
  const auto required = [](const std::string& setup) {
    return read_source(TextTree(Files{{"PKG-INFO", "Name: x\n"}, {"setup.py", setup}})).required_variables;
  };
  EXPECT_EQ(required("a = os.environ['TOOLKIT_ROOT']\n"), Names{"TOOLKIT_ROOT"});
  EXPECT_EQ(required("os.environ[\"MAX_JOBS\"] = '4'\n"), Names{});
  EXPECT_EQ(required("if 'X_Y' in os.environ:\n  a = os.environ['X_Y']\n"), Names{});
  EXPECT_EQ(required("a = os.getenv('X_Y', '')\nb = os.environ['X_Y']\n"), Names{});
  EXPECT_EQ(required("v = os.getenv(\"BUILD_VERSION_OF\")\nif not v:\n  raise ValueError(\n    \"BUILD_VERSION_OF is "
                     "not set\")\n"),
            Names{"BUILD_VERSION_OF"});
  EXPECT_EQ(required("v = os.getenv('QUIET')\n"), Names{});
  EXPECT_EQ(required("if os.environ['A_B'] == os.environ['C_D']: pass\n"), (Names{"A_B", "C_D"}));
}

// As pip does: the backend names the setup_requires, and the build has no network to fetch them itself.
TEST(MakeUp, ASetupPyAloneIsBuiltByTheBackendOfSetuptools) {
  const Recipe recipe = infer(
      read_source(TextTree(Files{{"PKG-INFO", "Name: demo\n"}, {"setup.py", "setup(setup_requires=['cramjam'])\n"}})));
  EXPECT_EQ(recipe.rules(Variant::cpu).backend, Rules::Backend::pep517);
  EXPECT_EQ(recipe.rules(Variant::cpu).requires_, (Names{"setuptools", "wheel"}));
}

TEST(MakeUp, ARustProjectNeedsCargo) {
  for (const char* requirement : {"maturin>=1,<2", "setuptools-rust"}) {
    EXPECT_EQ(inferred_for("x", requirement).requires_versions.programs, (Names{"cargo", "rustc"})) << requirement;
  }
  EXPECT_EQ(inferred_for("x", "setuptools").requires_versions.programs, Names{});
}

// The build has no network, so other package managers download before it.
TEST(MakeUp, OtherPackageManagersDownloadFirst) {
  const auto rules = [](const std::string& backend, const std::string& requirement, Files files) {
    files.emplace("pyproject.toml", "[build-system]\nrequires=[\"" + requirement + "\"]\nbuild-backend=\"" + backend +
                                        "\"\n[project]\nname=\"demo\"\n");
    return infer(read_source(TextTree(files))).rules(Variant::cpu);
  };
  const auto commands = [](const Rules& all) {
    std::string text;
    for (const Prepare& one : all.prepare) text += join(one.command, " ") + (one.network ? " (network)\n" : "\n");
    return text;
  };
  const Rules locked =
      rules("maturin", "maturin", {{"Cargo.toml", ""}, {"Cargo.lock", ""}, {"crates/a/Cargo.toml", ""}});
  EXPECT_EQ(commands(locked), "cargo --config net.offline=false fetch --locked --manifest-path Cargo.toml (network)\n");
  EXPECT_FALSE(locked.network);
  EXPECT_EQ(commands(rules("setuptools.build_meta", "setuptools-rust", {{"src/rust/Cargo.toml", ""}})),
            "cargo --config net.offline=false fetch --manifest-path src/rust/Cargo.toml (network)\n");
  EXPECT_EQ(commands(rules("maturin", "maturin", {{"Cargo.toml", ""}, {"vendor/x/Cargo.toml", ""}})),
            "cargo --config net.offline=false fetch --manifest-path Cargo.toml (network)\n");
  EXPECT_EQ(commands(rules("x", "setuptools-golang", {{"go.mod", ""}})), "go mod download (network)\n");
  EXPECT_NE(commands(rules("mesonpy", "meson-python", {{"subprojects/zlib.wrap", ""}})).find("subprojects download"),
            std::string::npos);
  EXPECT_EQ(commands(rules("mesonpy", "meson-python", {{"meson.build", ""}})), "");
  EXPECT_EQ(commands(rules("setuptools.build_meta", "setuptools", {{"Cargo.toml", ""}, {"go.mod", ""}})), "");
}

TEST(MakeUp, BackendsThatThrowTheirBuildFolderAwayKeepIt) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  for (const char* backend : {"mesonpy", "scikit_build_core.build"}) {
    EXPECT_EQ(inferred_for(backend, "x").config, (Pairs{{"build-dir", "build/wheelsmith"}})) << backend;
  }
  EXPECT_EQ(inferred_for("setuptools.build_meta", "x").config, Pairs{});
}

TEST(MakeUp, ACMakeProject) {
  const Recipe recipe = infer(read_source(
      TextTree(Files{{"pyproject.toml",
                      "[build-system]\nrequires=[\"scikit-build-core\"]\nbuild-backend=\"scikit_build_core.build\"\n"
                      "[project]\nname=\"Grid.Ops\"\nversion=\"2\"\n"},
                     {"CMakeLists.txt", "project(x LANGUAGES CUDA)"},
                     {"src/grid_ops/__init__.py", ""},
                     {"src/k.cu", ""}})));
  EXPECT_EQ(recipe.name, "grid-ops");
  EXPECT_EQ(recipe.variants(), (std::vector<Variant>{Variant::cpu, Variant::cuda}));
  const Rules& cuda = recipe.rules(Variant::cuda);
  EXPECT_EQ(cuda.config.at(1).first, "cmake.define.CMAKE_CUDA_ARCHITECTURES");
  EXPECT_EQ(spell(gpu::ArchList::parse(cuda.archs.fallback), cuda.archs), "80-real;90-real");
  EXPECT_EQ(cuda.tests.at(0).imports, Names{"grid_ops"});
  EXPECT_FALSE(cuda.requires_versions.uses_torch);
}

TEST(MakeUp, TorchPinnedByPyprojectIsALimitAndNotARequirement) {
  const Recipe recipe =
      infer(read_source(TextTree(Files{{"pyproject.toml",
                                        "[build-system]\nrequires=[\"setuptools\", \"torch==2.6.0\", \"not a b\"]\n"
                                        "build-backend=\"setuptools.build_meta\"\n[project]\nname=\"x\"\n"},
                                       {"setup.py", "import os\nA = os.getenv('X_CUDA_ARCHS', '80;90')\n"},
                                       {"k.cu", ""}})));
  const Rules& cuda = recipe.rules(Variant::cuda);
  EXPECT_EQ(cuda.requires_versions.torch, "==2.6.0");
  EXPECT_EQ(cuda.drop_requires, Names{"torch"});
  EXPECT_EQ(cuda.archs.variable, "X_CUDA_ARCHS");
  EXPECT_EQ(cuda.archs.spelling, ArchSpelling::compact);
}

TEST(MakeUp, WhatCannotBeToldIsAnError) {
  EXPECT_THROW((void)infer(read_source(TextTree(Files{}))), Error);
  EXPECT_THROW((void)infer(read_source(TextTree(Files{{"setup.py", "import os"}}))), Error);
  EXPECT_THROW((void)infer(read_source(TextTree(Files{{"PKG-INFO", "Name: x"}}))), Error);
  EXPECT_THROW((void)read_source(TextTree(Files{{"pyproject.toml", "[["}})), Error);
  EXPECT_NO_THROW((void)infer(read_source(TextTree(Files{{"setup.py", "setup(name = 'x')"}}))));
}

}  // namespace
}  // namespace wheelsmith::recipe
