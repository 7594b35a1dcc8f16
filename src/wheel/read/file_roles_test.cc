#include "wheel/read/file_roles.h"

#include <gtest/gtest.h>

namespace wheelsmith::wheel {
namespace {

ElfFacts library(std::string path, std::vector<std::string> needed = {}) {
  ElfFacts file;
  file.path = std::move(path);
  file.machine = "x86_64";
  file.type = elf::k_type_dyn;
  file.is_dynamic = true;
  file.needed = std::move(needed);
  return file;
}

ElfFacts module(std::string path, std::vector<std::string> needed = {}) {
  ElfFacts file = library(std::move(path), std::move(needed));
  file.python_extension = true;
  return file;
}

ElfFacts program(std::string path, std::vector<std::string> needed = {}) {
  ElfFacts file = library(std::move(path), std::move(needed));
  file.type = elf::k_type_exec;
  return file;
}

TEST(FileRoles, ModulesProgramsAndWhatTheyNeedAreNeeded) {
  const std::vector<ElfFacts> all = {module("p/_x.so", {"liba.so"}),      library("p.libs/liba.so", {"libb.so"}),
                                     library("p.libs/libb.so"),           library("p/plugins/libdriver.so"),
                                     program("p/bin/tool", {"libc1.so"}), library("p/libc1.so")};
  const PythonUse nothing;
  const FileRoles roles(all, nothing);
  for (const char* needed : {"p/_x.so", "p.libs/liba.so", "p.libs/libb.so", "p/bin/tool", "p/libc1.so"})
    EXPECT_EQ(roles.of(needed), Role::needed) << needed;
  EXPECT_EQ(roles.of("p/plugins/libdriver.so"), Role::optional);
  EXPECT_FALSE(roles.why_optional("p/plugins/libdriver.so").empty());
}

TEST(FileRoles, VariantsAndGuardedModulesAreOptional) {
  // mpi4py chooses one of its variants by the MPI library it finds; numba tries its threading layers.
  const std::vector<FileTree::File> names = {{"p/MPI.mpich.cpython-311-x86_64-linux-gnu.so", 1},
                                             {"p/tbbpool.cpython-311-x86_64-linux-gnu.so", 1},
                                             {"p/main.cpython-311-x86_64-linux-gnu.so", 1}};
  PythonUse python(names);
  python.see("p/a.py", Bytes("try:\n  from p import tbbpool\nexcept ImportError:\n  pass\nfrom p import main\n"));
  std::vector<ElfFacts> all;
  for (const FileTree::File& file : names) all.push_back(module(file.name));
  const FileRoles roles(all, python);
  EXPECT_TRUE(roles.is_optional(names[0].name));
  EXPECT_TRUE(roles.is_optional(names[1].name));
  EXPECT_EQ(roles.of(names[2].name), Role::needed);
}

TEST(FileRoles, ALibraryThatPythonCodeNamesIsNeeded) {
  const std::vector<FileTree::File> names = {{"p/lib_gbm.so", 1}, {"p/libhelper.so", 1}, {"p/libdep.so", 1}};
  PythonUse python(names);
  python.see("p/basic.py", Bytes("lib = ctypes.CDLL(here / 'lib_gbm.so')\n"));
  python.finish();
  const FileRoles roles({library("p/lib_gbm.so", {"libdep.so"}), library("p/libhelper.so"), library("p/libdep.so")},
                        python);
  EXPECT_EQ(roles.of("p/lib_gbm.so"), Role::needed);
  EXPECT_EQ(roles.of("p/libdep.so"), Role::needed);
  EXPECT_EQ(roles.of("p/libhelper.so"), Role::optional);
}

TEST(FileRoles, InAWheelOfLibrariesAnyThatNothingNeedsMayBeAPlugin) {
  const PythonUse nothing;
  const FileRoles roles({library("libtbb.so.12"), library("libtbbbind.so.3", {"libtbb.so.12"})}, nothing);
  EXPECT_EQ(roles.of("libtbb.so.12"), Role::needed);
  EXPECT_FALSE(roles.may_be_plugin("libtbb.so.12"));
  EXPECT_TRUE(roles.may_be_plugin("libtbbbind.so.3"));
  EXPECT_FALSE(FileRoles({library("libone.so")}, nothing).may_be_plugin("libone.so"));
}

TEST(FileRoles, TestProgramsAreToldByNameAndFolder) {
  const std::vector<ElfFacts> all = {program("torch/test/atest"), program("torch/bin/test_api"),
                                     program("torch/bin/FileStoreTest"), program("torch/bin/protoc"),
                                     library("torch/lib/libtorch_test.so")};
  const PythonUse nothing;
  const FileRoles roles(all, nothing);
  EXPECT_TRUE(roles.is_test("torch/test/atest"));
  EXPECT_TRUE(roles.is_test("torch/bin/test_api"));
  EXPECT_TRUE(roles.is_test("torch/bin/FileStoreTest"));
  EXPECT_FALSE(roles.is_test("torch/bin/protoc"));
  EXPECT_FALSE(roles.is_test("torch/lib/libtorch_test.so"));
}

}  // namespace
}  // namespace wheelsmith::wheel
