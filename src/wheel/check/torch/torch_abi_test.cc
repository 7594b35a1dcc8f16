#include "wheel/check/torch/torch_abi.h"

#include <gtest/gtest.h>

#include "wheel/check/torch/torch_names.h"

namespace wheelsmith::wheel {
namespace {

constexpr const char* k_check_old = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs";
constexpr const char* k_check_new =
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
constexpr const char* k_check_plain = "_ZN3c106detail14torchCheckFailEPKcS2_jS2_";

ElfFacts library(std::string path, std::vector<std::string> exported = {}) {
  ElfFacts file;
  file.path = std::move(path);
  file.machine = "x86_64";
  file.type = elf::k_type_dyn;
  file.is_dynamic = true;
  file.exported = std::move(exported);
  return file;
}

ElfFacts extension(std::string path, const std::vector<std::string>& undefined, std::vector<std::string> needed = {}) {
  ElfFacts file = library(std::move(path));
  file.needed = std::move(needed);
  for (const std::string& name : undefined) file.undefined.push_back({name, "", "", false});
  return file;
}

std::vector<Provider> torch(std::vector<std::string> exported, const std::vector<std::string>& more_libraries = {}) {
  Provider provider{"dist/torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl",
                    {library("torch/lib/libc10.so", std::move(exported))}};
  for (const std::string& name : more_libraries) provider.files.push_back(library("torch/lib/" + name));
  return {provider};
}

std::vector<std::string> verdicts(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    lines.push_back(std::string(to_string(finding.severity)) + " " + finding.id + " " + finding.subject);
    EXPECT_FALSE(finding.what.empty() || finding.why.empty() || finding.fix.empty()) << finding.id;
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(TorchNames, AreToldByTheirNamespace) {
  for (const char* name : {"_ZN3c105ErrorD1Ev", "_ZNK2at6Tensor3addEv", "_ZTVN5torch3jit5GraphE", "_ZGVZN2at3fooEvE1x",
                           "_ZNKR3c106IValue8toTensorEv", "_ZN6caffe28TypeMeta3idEv", "THPVariableClass",
                           "aoti_torch_zeros", "torch_call_dispatcher"}) {
    EXPECT_TRUE(is_torch_name(name)) << name;
  }
  for (const char* name : {"_ZN4atom3fooEv", "_ZN3c1O3fooEv", "_ZSt4sortIN2at6TensorEEvv", "_Z3foov", "_Z", "_ZN",
                           "_ZNK", "_ZTV", "", "at", "THC_x"}) {
    EXPECT_FALSE(is_torch_name(name)) << name;
  }
}

TEST(TorchNames, PathsIgnoreParametersAndAbiTags) {
  EXPECT_EQ(torch_path(k_check_old), "3c106detail14torchCheckFail");
  EXPECT_EQ(torch_path(k_check_old), torch_path(k_check_new));
  EXPECT_EQ(torch_path("_ZN2at4nameB5cxx11Ei"), torch_path("_ZN2at4nameEi"));
  EXPECT_EQ(torch_path("_ZTVN2at6TensorE"), "TV2at6Tensor");
  EXPECT_EQ(torch_path("_ZN3c10999999999999x"), "3c10");
  EXPECT_EQ(torch_path("printf"), "");
}

TEST(TorchNames, TheAbiShowsInTypesNotInIdentifiers) {
  EXPECT_EQ(abi_of(k_check_old), Cxx11Abi::old_abi);
  EXPECT_EQ(abi_of(k_check_new), Cxx11Abi::new_abi);
  EXPECT_EQ(abi_of(k_check_plain), Cxx11Abi::unused);
  EXPECT_EQ(abi_of("_ZN2at4nameB5cxx11Ei"), Cxx11Abi::new_abi);
  EXPECT_EQ(abi_of("_ZN2at7ClassSsEi"), Cxx11Abi::unused);
  EXPECT_EQ(abi_of("_ZN2at3fooESt17basic_string_viewIcSt11char_traitsIcEESt6vectorIiSaIiEE"), Cxx11Abi::unused);
  EXPECT_EQ(abi_of("_ZN2at3fooESt4listIiSaIiEE"), Cxx11Abi::old_abi);
}

TEST(TorchNames, QualifiedNamesEndBeforeTheParameters) {
  EXPECT_EQ(qualified_name("a::b<c (*)(d)>::e(int)"), "a::b<c (*)(d)>::e");
  EXPECT_EQ(qualified_name("a::operator()(int)"), "a::operator()");
  EXPECT_EQ(qualified_name("a::operator<<(int)"), "a::operator<<");
  EXPECT_EQ(qualified_name("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(qualified_name("vtable for at::Tensor"), "vtable for at::Tensor");
  EXPECT_EQ(qualified_name("x::operator"), "x::operator");
  EXPECT_EQ(qualified_name(""), "");
}

TEST(TorchAbi, NamesTheFlagOfEachSide) {
  const std::vector<Finding> findings = check_torch_abi({extension("ext.so", {k_check_old, "_ZN2at4nameEi"})},
                                                        torch({k_check_new, k_check_plain, "_ZN2at4nameB5cxx11Ei"}));
  ASSERT_EQ(verdicts(findings), Lines{"error torch-cxx11-abi ext.so"});
  EXPECT_EQ(findings[0].what,
            std::string("was built with _GLIBCXX_USE_CXX11_ABI=0, torch 2.13.0+cpu with 1: it references ") +
                k_check_old + ", which exists as " + k_check_new + " (and 1 more such symbol)");
}

TEST(TorchAbi, TheOtherWayRoundToo) {
  const std::vector<Finding> findings = check_torch_abi({extension("ext.so", {k_check_new})}, torch({k_check_old}));
  ASSERT_EQ(verdicts(findings), Lines{"error torch-cxx11-abi ext.so"});
  EXPECT_TRUE(findings[0].what.starts_with("was built with _GLIBCXX_USE_CXX11_ABI=1, torch 2.13.0+cpu with 0"));
}

TEST(TorchAbi, OtherParametersMeanAnotherVersion) {
  const std::vector<Finding> findings =
      check_torch_abi({extension("ext.so", {"_ZN2at5emptyEil", "_ZN2at8vanishedEv"})},
                      torch({"_ZN2at5emptyEd", "_ZN2at5emptyEii", "_ZN2at6empty2Eil"}));
  ASSERT_EQ(verdicts(findings), Lines{"error torch-version ext.so"});
  EXPECT_EQ(
      findings[0].what,
      "was built for another torch version: 2 symbols it references are not in torch 2.13.0+cpu: at::empty(int, long) "
      "(it has at::empty(int, int)); at::vanished() (no such name)");
}

TEST(TorchAbi, AnotherConstructorIsNoAbiMismatch) {
  EXPECT_EQ(verdicts(check_torch_abi({extension("ext.so", {"_ZN3c105ErrorC1Ei"})}, torch({"_ZN3c105ErrorC2Ei"}))),
            Lines{"error torch-version ext.so"});
}

TEST(TorchAbi, AnotherAccelerator) {
  const ElfFacts cuda =
      extension("ext.so", {"_ZN3c104cuda14current_streamEa", "_ZN2at6native9cuda_onlyEv"}, {"libc10.so"});
  const std::vector<Finding> findings = check_torch_abi({cuda}, torch({}, {"libtorch_hip.so", "libc10_hip.so"}));
  ASSERT_EQ(verdicts(findings), Lines{"error torch-accelerator ext.so"});
  EXPECT_EQ(findings[0].what,
            "was built for a torch with CUDA (it needs c10::cuda::current_stream(signed char)); torch 2.13.0+cpu is a "
            "ROCm build");
  // NEEDED alone tells too, and a CUDA torch without the name is only another version.
  EXPECT_EQ(verdicts(check_torch_abi({extension("e.so", {k_check_plain}, {"libc10_cuda.so"})}, torch({k_check_plain}))),
            Lines{"error torch-accelerator e.so"});
  EXPECT_EQ(verdicts(check_torch_abi({cuda}, torch({}, {"libtorch_cuda.so"}))), Lines{"error torch-version ext.so"});
}

TEST(TorchAbi, WhatFitsIsOneNoteForAllFiles) {
  const std::vector<Finding> findings = check_torch_abi(
      {extension("a.so", {k_check_new}), extension("b.so", {k_check_new, "printf"}), extension("c.so", {"printf"})},
      torch({k_check_new}));
  ASSERT_EQ(verdicts(findings), Lines{"note torch-abi-fits a.so and 1 other file"});
  EXPECT_EQ(findings[0].what, "no link-level mismatch with torch 2.13.0+cpu; 1 symbol found");
}

TEST(TorchAbi, OwnFilesMayDefineNamesInTorchsNamespaces) {
  EXPECT_EQ(verdicts(check_torch_abi({extension("a.so", {"_ZN2at4mineEv"}), library("libb.so", {"_ZN2at4mineEv"})},
                                     torch({}))),
            Lines{});
}

TEST(TorchAbi, TheStableInterfaceFitsAnyTorchThatHasIt) {
  const std::vector<ElfFacts> own = {extension("a.so", {"aoti_torch_zeros", "torch_call_dispatcher"})};
  EXPECT_EQ(verdicts(check_torch_abi(own, {})), Lines{"note torch-stable-abi a.so"});
  EXPECT_EQ(verdicts(check_torch_abi(own, torch({"aoti_torch_zeros"}))),
            (Lines{"note torch-stable-abi a.so", "error torch-version a.so"}));
}

TEST(TorchAbi, WithoutTorchOnlyTheAbiIsTold) {
  const std::vector<Finding> findings = check_torch_abi({extension("a.so", {k_check_old})}, {});
  ASSERT_EQ(verdicts(findings), Lines{"note torch-not-given a.so"});
  EXPECT_EQ(findings[0].what, "uses 1 symbol of torch, built with _GLIBCXX_USE_CXX11_ABI=0");
  EXPECT_EQ(verdicts(check_torch_abi({extension("a.so", {"printf"})}, {})), Lines{});
  // Torch's own wheel asks nothing of another torch.
  EXPECT_EQ(verdicts(check_torch_abi({extension("torch/lib/libtorch_cpu.so", {k_check_old})}, {})), Lines{});
}

TEST(TorchAbi, BothAbisInOneWheelFitNoTorch) {
  const std::vector<ElfFacts> own = {extension("a.so", {k_check_new}), extension("b.so", {k_check_old})};
  const std::vector<Finding> findings = check_torch_abi(own, {});
  ASSERT_EQ(verdicts(findings),
            (Lines{"error torch-cxx11-abi-mixed b.so", "note torch-not-given a.so and 1 other file"}));
  EXPECT_NE(findings[0].what.find("a.so with 1"), std::string::npos);
}

}  // namespace
}  // namespace wheelsmith::wheel
