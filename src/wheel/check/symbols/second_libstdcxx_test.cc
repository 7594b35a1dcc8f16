#include <gtest/gtest.h>

#include "testing/elf_builder.h"
#include "wheel/check/symbols/symbols.h"
#include "wheel/read/scan.h"

namespace wheelsmith::wheel {
namespace {

using namespace std::string_literals;
using ::wheelsmith::testing::ElfBuilder;

const std::string k_handler_text = "terminate called after throwing an instance of '\0'\n"s;

// A library with libstdc++ linked into it: the text of its handler, and the symbols unless they were hidden.
ElfBuilder with_libstdcxx(bool visible = true) {
  ElfBuilder builder;
  builder.needed("libc.so.6").section({.name = ".rodata", .contents = k_handler_text});
  if (visible) builder.define("__cxa_throw").define("__gxx_personality_v0");
  return builder;
}

ElfBuilder with_shared_libstdcxx() {
  return ElfBuilder()
      .needed("libstdc++.so.6")
      .needed("libc.so.6")
      .import("__cxa_throw", "libstdc++.so.6", "CXXABI_1.3")
      .import("__gxx_personality_v0", "libstdc++.so.6", "CXXABI_1.3");
}

struct NamedFile {
  std::string path;
  ElfBuilder builder;
};

// "error a.so" for each file that is told of.
std::vector<std::string> told(const std::vector<NamedFile>& files, const std::vector<Provider>& against = {}) {
  std::vector<ElfFacts> own;
  for (const NamedFile& file : files) {
    const std::string bytes = file.builder.build();
    own.push_back(elf_facts(file.path, Bytes(bytes), {.exported = true}));
  }
  std::vector<std::string> result;
  for (const Finding& finding : check_second_libstdcxx(own, {against, {}, {}})) {
    EXPECT_EQ(finding.id, "symbol-second-libstdcxx");
    result.push_back(std::string(to_string(finding.severity)) + " " + finding.subject);
  }
  return result;
}

using Told = std::vector<std::string>;

TEST(SecondLibstdcxx, TwoRuntimesWithCxxBetweenThem) {
  const NamedFile a{"liba.so", with_shared_libstdcxx().soname("liba.so").define("_Z6a_worki")};
  EXPECT_EQ(told({a, {"b.so", with_libstdcxx().needed("liba.so").import("_Z6a_worki")}}), Told{"error b.so"});
  // Those who hide their copy may know what they do: cuDNN's parts.
  EXPECT_EQ(told({a, {"b.so", with_libstdcxx(false).needed("liba.so").import("_Z6a_worki")}}), Told{"warning b.so"});
}

TEST(SecondLibstdcxx, TorchThrows) {
  const std::string torch_name = "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringE";
  for (const bool visible : {true, false}) {
    EXPECT_EQ(told({{"ext.so", with_libstdcxx(visible).needed("libc10.so").import(torch_name)}}), Told{"error ext.so"});
  }
  EXPECT_EQ(told({{"ext.so", with_shared_libstdcxx().needed("libc10.so").import(torch_name)}}), Told());
}

TEST(SecondLibstdcxx, HealthyOnes) {
  const NamedFile a{"liba.so", with_shared_libstdcxx().soname("liba.so").define("a_work").define("_Z6a_worki")};
  // Only C between them.
  EXPECT_EQ(told({a, {"b.so", with_libstdcxx().needed("liba.so").import("a_work")}}), Told());
  // A static copy, but no other C++ library to exchange objects with.
  EXPECT_EQ(told({{"b.so", with_libstdcxx().import("malloc", "libc.so.6", "GLIBC_2.2.5")}}), Told());
  // A toolset's libstdc++_nonshared.a puts newer parts into each file; exceptions are the system's.
  const NamedFile toolset{
      "b.so", with_shared_libstdcxx()
                  .needed("liba.so")
                  .import("_Z6a_worki")
                  .define("_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1Ev")
                  .define("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EE")};
  EXPECT_EQ(told({a, toolset}), Told());
  // The text in an example of the documentation.
  const NamedFile quoting{"b.so", with_shared_libstdcxx()
                                      .needed("liba.so")
                                      .import("_Z6a_worki")
                                      .section({.name = ".rodata", .contents = k_handler_text})};
  EXPECT_EQ(told({a, quoting}), Told());
  // Both sides share no libstdc++ at all: the other is linked statically too and exports C++ names of its own.
  const NamedFile alone{"liba.so", with_libstdcxx().soname("liba.so").define("_Z6a_worki")};
  EXPECT_EQ(told({alone, {"b.so", with_libstdcxx().needed("liba.so").import("_Z6a_worki")}}), Told());
}

TEST(SecondLibstdcxx, WithoutSectionHeadersTheSegmentsAreRead) {
  const NamedFile a{"liba.so", with_shared_libstdcxx().soname("liba.so").define("_Z6a_worki")};
  EXPECT_EQ(told({a, {"b.so", with_libstdcxx().without_section_headers().needed("liba.so").import("_Z6a_worki")}}),
            Told{"error b.so"});
}

}  // namespace
}  // namespace wheelsmith::wheel
