#include "wheel/tags/true_tags.h"

#include <gtest/gtest.h>

#include "testing/elf_builder.h"
#include "wheel/read/scan.h"
#include "wheel/tags/stable_abi.h"

namespace wheelsmith::wheel {
namespace {

using ::wheelsmith::testing::ElfBuilder;

ElfFacts module(const std::string& path, std::initializer_list<const char*> imports = {}) {
  ElfBuilder elf;
  elf.define("PyInit_x");
  for (const char* name : imports) elf.import(name);
  return elf_facts(path, Bytes(elf.build()), {});
}

ElfFacts shared_library(const std::string& path, std::initializer_list<const char*> imports = {}) {
  ElfBuilder elf;
  for (const char* name : imports) elf.import(name);
  return elf_facts(path, Bytes(elf.build()), {});
}

std::string tags(const std::vector<ElfFacts>& files, std::string_view building, const std::string& claimed) {
  const auto name = pep::WheelName::parse("demo-1.0-" + claimed + "-linux_x86_64.whl");
  const TrueTags found = true_tags(files, building, name);
  EXPECT_FALSE(found.why.empty());
  return found.python + "-" + found.abi + (found.pure ? " pure" : "");
}

TEST(TrueTags, AreThoseOfTheBinaries) {
  const ElfFacts cp311 = module("d/x.cpython-311-x86_64-linux-gnu.so", {"_PyThreadState_GetFrame"});
  const ElfFacts cp312 = module("d/x.cpython-312-x86_64-linux-gnu.so");
  const ElfFacts abi3 = module("d/x.abi3.so", {"PyModule_Create2", "_Py_Dealloc"});
  const ElfFacts plain = module("d/x.so", {"PyModule_Create2"});
  const ElfFacts loaded = shared_library("d/libx.so", {"memcpy"});
  struct Case {
    const char* story;
    std::vector<ElfFacts> files;
    const char* building;
    const char* claimed;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"nothing compiled", {}, "cp311", "cp311-cp311", "py3-none pure"},
      {"nothing compiled, for old Pythons too", {}, "cp311", "py2.py3-none", "py2.py3-none pure"},
      {"nothing compiled, from some Python on", {}, "cp311", "py39-none", "py39-none pure"},
      {"a module of 3.11", {cp311}, "cp311", "py3-none", "cp311-cp311"},
      {"the suffix counts, not who built it", {cp311}, "cp312", "cp312-cp312", "cp311-cp311"},
      {"modules of two Pythons", {cp311, cp312}, "cp311", "cp311-cp311", "cp311.cp312-cp311.cp312"},
      {"free threads", {module("x.cpython-313t-x86_64-linux-gnu.so")}, "cp313t", "cp313-cp313t", "cp313-cp313t"},
      {"before 3.8", {module("x.cpython-37m-x86_64-linux-gnu.so")}, "cp37m", "cp37-cp37m", "cp37-cp37m"},
      {"a debug build", {module("x.cpython-311d-x86_64-linux-gnu.so")}, "cp311", "cp311-cp311d", "cp311-cp311"},
      {"PyPy", {module("x.pypy310-pp73-x86_64-linux-gnu.so")}, "pp310", "py3-none", "pp310-pypy310_pp73"},
      {"abi3 as claimed", {abi3}, "cp311", "cp38-abi3", "cp38-abi3"},
      {"abi3 that was not claimed", {abi3}, "cp311", "cp311-cp311", "cp311-abi3"},
      {"abi3, from the lowest claim on", {abi3}, "cp312", "cp310.cp39-abi3", "cp39-abi3"},
      {"abi3 with a symbol of 3.10", {module("x.abi3.so", {"PyAIter_Check"})}, "cp311", "cp38-abi3", "cp310-abi3"},
      {"abi3 by name only", {module("x.abi3.so", {"_PyDict_NewPresized"})}, "cp311", "cp38-abi3", "cp311-cp311"},
      {"abi3 beside a module of 3.11", {abi3, cp311}, "cp311", "cp38-abi3", "cp311-cp311"},
      {"a plain module", {plain}, "cp311", "py3-none", "cp311-cp311"},
      {"a plain module with free threads", {plain}, "cp313t", "cp313-cp313t", "cp313-cp313t"},
      {"a plain module that means abi3", {plain}, "cp311", "cp39-abi3", "cp39-abi3"},
      {"a plain module that does not keep to it",
       {module("x.so", {"PyFrame_New"})},
       "cp311",
       "cp39-abi3",
       "cp311-cp311"},
      {"loaded by path", {loaded}, "cp311", "cp311-cp311", "py3-none"},
      {"loaded by path, of no Python", {shared_library("d/libx.cpython-311.so")}, "cp311", "cp311-cp311", "py3-none"},
      {"a library that calls Python", {shared_library("d/l.so", {"PyFrame_New"})}, "cp311", "py3-none", "cp311-cp311"},
      {"and one that calls little of it",
       {shared_library("d/l.so", {"PyObject_Call"})},
       "cp311",
       "py3-none",
       "cp311-cp311"},
      {"the same beside abi3", {abi3, shared_library("d/l.so", {"PyObject_Call"})}, "cp311", "cp39-abi3", "cp39-abi3"},
      {"one outside the stable ABI beside abi3",
       {abi3, shared_library("d/l.so", {"PyFrame_New"})},
       "cp311",
       "cp39-abi3",
       "cp311-cp311"},
      {"a name that only looks like it",
       {shared_library("d/l.so", {"PythonMode", "Pyramid"})},
       "cp311",
       "py3-none",
       "py3-none"},
  };
  for (const Case& c : cases) EXPECT_EQ(tags(c.files, c.building, c.claimed), c.expected) << c.story;
}

TEST(TrueTags, ProgramsAndDeviceCodeBindNothing) {
  const ElfFacts program = elf_facts(
      "demo/bin/tool",
      Bytes(ElfBuilder().type(2).interpreter("/lib64/ld-linux-x86-64.so.2").import("PyFrame_New").build()), {});
  EXPECT_EQ(tags({program}, "cp311", "cp311-cp311"), "py3-none");
  const ElfFacts kernel = elf_facts("demo/k.hsaco", Bytes(ElfBuilder().machine(224).build()), {});
  EXPECT_EQ(tags({kernel}, "cp311", "cp311-cp311"), "py3-none pure");
}

TEST(TrueTags, WeakReferencesMayStayUnbound) {
  const ElfFacts weak = elf_facts(
      "d/l.so", Bytes(ElfBuilder().symbol({.name = "PyFrame_New", .binding = 2, .defined = false}).build()), {});
  ASSERT_EQ(weak.undefined.size(), 1u);
  EXPECT_EQ(tags({weak}, "cp311", "py3-none"), "py3-none");
}

TEST(TrueTags, SayWhichFileDecided) {
  const auto name = pep::WheelName::parse("demo-1.0-cp38-abi3-linux_x86_64.whl");
  EXPECT_NE(
      true_tags({module("d/x.abi3.so", {"PyFrame_New"})}, "cp311", name).why.find("d/x.abi3.so needs PyFrame_New"),
      std::string::npos);
  EXPECT_NE(true_tags({module("d/x.abi3.so", {"PyAIter_Check"})}, "cp311", name).why.find("added in Python 3.10"),
            std::string::npos);
}

TEST(StableAbi, KnowsNamesAndTheirAge) {
  EXPECT_EQ(stable_since("PyObject_Call"), 0u);
  EXPECT_EQ(stable_since("_Py_NoneStruct"), 0u);
  EXPECT_EQ(stable_since("PyModule_AddType"), 9u);
  EXPECT_EQ(stable_since("PyFrame_New"), std::nullopt);
  EXPECT_EQ(stable_since("#"), std::nullopt);
  EXPECT_TRUE(is_python_symbol("_PyObject_New"));
  EXPECT_FALSE(is_python_symbol("Py"));
}

}  // namespace
}  // namespace wheelsmith::wheel
