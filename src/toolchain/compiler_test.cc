#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "toolchain/ask.h"
#include "toolchain/compiler_choice.h"
#include "toolchain/test_machine.h"

namespace wheelsmith::toolchain {
namespace {

namespace fs = std::filesystem;

TEST(CompilerNames, HaveCounterparts) {
  for (const auto& [cc, cxx] : std::initializer_list<std::pair<std::string, std::string>>{
           {"gcc", "g++"},
           {"gcc-13", "g++-13"},
           {"clang", "clang++"},
           {"clang-19", "clang++-19"},
           {"cc", "c++"},
           {"x86_64-conda-linux-gnu-cc", "x86_64-conda-linux-gnu-c++"},
           {"x86_64-linux-gnu-gcc-12", "x86_64-linux-gnu-g++-12"}}) {
    EXPECT_EQ(cxx_name_of(cc), cxx);
    EXPECT_EQ(cc_name_of(cxx), cc);
  }
  for (const char* name : {"icx", "occ", "gccgo", "", "tcc"}) EXPECT_EQ(cxx_name_of(name), "") << name;
}

TEST(ChooseCompiler, SkipsWrappers) {
  TestMachine machine;
  machine.script("real/ccache", "");
  machine.link("mask/g++", machine.root() / "real/ccache");
  machine.script("mask/c++", "exec ccache c++ \"$@\"");
  machine.script("bin/g++", "");
  machine.script("bin/gcc", "");
  machine.where.environment["PATH"] = (machine.root() / "mask").string() + ":" + (machine.root() / "bin").string();
  std::optional<CompilerChoice> choice = choose_compiler(machine.where);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->cxx, machine.root() / "bin/g++");
  EXPECT_EQ(choice->cc, machine.root() / "bin/gcc");
  EXPECT_EQ(choice->origin, Origin::system);
  machine.where.environment["CXX"] = "ccache " + (machine.root() / "mask/g++").string() + " -m64";
  choice = choose_compiler(machine.where);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->cxx, machine.root() / "bin/g++");
  EXPECT_EQ(choice->origin, Origin::setting);
}

TEST(ChooseCompiler, UsesTheSettingAndItsCounterpart) {
  TestMachine machine;
  machine.only_own_path();
  for (const char* name : {"c++", "cc", "clang-19", "clang++-19", "g++-13", "gcc-13"})
    machine.script(std::string("bin/") + name, "");
  machine.where.environment["CC"] = "gcc-13";
  machine.where.environment["CXX"] = "g++-13";
  machine.where.cc = "clang-19";
  const std::optional<CompilerChoice> choice = choose_compiler(machine.where);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->cxx.filename(), "clang++-19");
  machine.where.cc = "gcc-99";
  EXPECT_THROW(choose_compiler(machine.where), Error);
  machine.where.cc.clear();
  EXPECT_EQ(choose_compiler(machine.where)->cxx.filename(), "g++-13");
}

TEST(ChooseCompiler, UsesCondaWhenItIsTheToolchain) {
  TestMachine machine;
  machine.only_own_path();
  machine.script("bin/c++", "");
  machine.where.environment["CONDA_PREFIX"] = (machine.root() / "conda").string();
  machine.where.use_conda = true;
  EXPECT_THROW(choose_compiler(machine.where), Error);
  machine.script("conda/bin/x86_64-conda-linux-gnu-c++", "");
  machine.script("conda/bin/x86_64-conda-linux-gnu-cc", "");
  const std::optional<CompilerChoice> choice = choose_compiler(machine.where);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->cc.filename(), "x86_64-conda-linux-gnu-cc");
  EXPECT_EQ(choice->origin, Origin::conda);
  machine.where.use_conda = false;
  EXPECT_EQ(choose_compiler(machine.where)->origin, Origin::system);
}

TEST(ChooseCompiler, FallsBackToAVersionedCompiler) {
  TestMachine machine;
  machine.only_own_path();
  EXPECT_FALSE(choose_compiler(machine.where));
  machine.script("bin/clang++-9", "");
  machine.script("bin/clang++-19", "");
  machine.script("bin/clang-19", "");
  EXPECT_EQ(choose_compiler(machine.where)->cc.filename(), "clang-19");
}

TEST(FindCompiler, RejectsInvalidOutput) {
  TestMachine machine;
  machine.only_own_path();
  for (const char* body : {"exit 1", "echo rubbish", "printf '\\377#define __GNUC__'", "kill -11 $$"}) {
    machine.script("bin/c++", body);
    EXPECT_FALSE(find_compiler(machine.where)) << body;
  }
  machine.where.cxx = "c++";
  EXPECT_THROW(find_compiler(machine.where), Error);
}

TEST(FindCompiler, QueriesOnce) {
  TestMachine machine;
  machine.only_own_path();
  machine.script("bin/as", "");
  const std::string body =
      "case \"$*\" in *-dM*) echo '#define __GNUC__ 13'; echo '#define __GNUC_MINOR__ 2';; "
      "*-std=c++20*) ;; *-std=*) exit 1;; *name=as) echo as;; *dumpmachine) echo x86_64-linux-gnu;; esac";
  machine.script("bin/c++", body);
  const std::optional<Compiler> compiler = find_compiler(machine.where);
  ASSERT_TRUE(compiler);
  EXPECT_EQ(compiler->version, "13.2.0");
  EXPECT_EQ(compiler->newest_standard, 20);
  EXPECT_EQ(compiler->standard_library, "");
  const std::size_t starts = machine.starts();
  EXPECT_GT(starts, 5U);
  EXPECT_EQ(find_compiler(machine.where)->digests, compiler->digests);
  EXPECT_EQ(machine.starts(), starts);
  machine.script("bin/as", "# another one");
  EXPECT_NE(find_compiler(machine.where)->digests, compiler->digests);
  machine.script("bin/c++", body + " # edited");
  EXPECT_TRUE(find_compiler(machine.where));
  EXPECT_GT(machine.starts(), starts);
}

std::vector<std::string> names_of(const Compiler& compiler) {
  std::vector<std::string> names;
  for (const auto& [name, digest] : compiler.digests) names.push_back(name);
  return names;
}

bool has(const std::vector<std::string>& names, std::string_view prefix) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name.starts_with(prefix); });
}

TEST(RealCompiler, Gcc) {
  Host where;
  where.environment = sys::current_environment();
  where.environment.erase("CC");
  where.environment.erase("CXX");
  where.cxx = "g++";
  if (programs_in_path("g++", where).empty()) GTEST_SKIP() << "no g++ here";
  const std::optional<Compiler> compiler = find_compiler(where);
  ASSERT_TRUE(compiler);
  EXPECT_EQ(compiler->family, "gcc");
  EXPECT_GE(compiler->newest_standard, 17);
  EXPECT_EQ(compiler->standard_library, "libstdc++");
  EXPECT_TRUE(compiler->glibcxx.starts_with("3.4.")) << compiler->glibcxx;
  EXPECT_TRUE(compiler->glibc.starts_with("2.")) << compiler->glibc;
  EXPECT_NE(compiler->target.find("linux"), std::string::npos);
  for (const char* name : {"cc", "cxx", "cc/cc1plus", "cc/as", "cc/ld", "cc/collect2"}) {
    EXPECT_TRUE(has(names_of(*compiler), name)) << name;
  }
}

TEST(RealCompiler, Clang) {
  Host where;
  where.environment = sys::current_environment();
  where.cxx = "clang++-19";
  if (programs_in_path("clang++-19", where).empty()) GTEST_SKIP() << "no clang++-19 here";
  const std::optional<Compiler> compiler = find_compiler(where);
  ASSERT_TRUE(compiler);
  EXPECT_EQ(compiler->family, "clang");
  EXPECT_TRUE(compiler->version.starts_with("19."));
  EXPECT_EQ(compiler->cc.filename(), "clang-19");
}

}  // namespace
}  // namespace wheelsmith::toolchain
