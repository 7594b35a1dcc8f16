#include "wheel/check/symbols/symbols.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "wheel/read/symbol_names.h"

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

ElfFacts asking(ElfFacts file, const std::vector<std::string>& names) {
  for (const std::string& name : names) file.undefined.push_back({name, "", "", false});
  return file;
}

ElfFacts exporting(ElfFacts file, std::vector<std::string> names) {
  file.exported = std::move(names);
  return file;
}

ElfFacts needing_version(ElfFacts file, const std::string& name, const std::string& version, const std::string& from) {
  file.undefined.push_back({name, version, from, false});
  file.versions_needed[from].push_back(version);
  return file;
}

// "error symbol-undefined a.so", one line a finding.
std::vector<std::string> verdicts(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    lines.push_back(std::string(to_string(finding.severity)) + " " + finding.id + " " + finding.subject);
    EXPECT_FALSE(finding.what.empty() || finding.why.empty() || finding.fix.empty()) << finding.id;
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Symbols, ASymbolOfTheClosureIsProvided) {
  const std::vector<ElfFacts> own = {asking(library("p/a.so", {"libb.so.1", "libc.so.6"}), {"deep"}),
                                     library("p/libb.so.1", {"libdeep.so"}),
                                     exporting(library("p/libdeep.so"), {"deep@DEEP_1"})};
  EXPECT_EQ(verdicts(check_symbols(own, {})), Lines{});
}

TEST(Symbols, AnUnversionedReferenceIsNotAssumedToBeInTheSystemLibraries) {
  const std::vector<ElfFacts> own = {asking(library("a.so", {"libc.so.6", "libstdc++.so.6"}), {"_ZN3foo3barEi"})};
  const std::vector<Finding> findings = check_symbols(own, {});
  ASSERT_EQ(verdicts(findings), Lines{"error symbol-undefined a.so"});
  EXPECT_EQ(findings[0].what, "references foo::bar(int), which no library defines");
}

TEST(Symbols, NamesThatNeedNoProvider) {
  ElfFacts file = asking(library("a.so", {"libc.so.6"}), {"_ITM_registerTMCloneTable", "__gmon_start__", "PyList_New",
                                                          "_Py_NoneStruct", "_DYNAMIC", ""});
  file.undefined.push_back({"optional_hook", "", "", true});
  EXPECT_EQ(verdicts(check_symbols({file}, {})), Lines{});
}

TEST(Symbols, ProgramsGetNothingFromTheInterpreterUnlessTheyLinkIt) {
  ElfFacts program = asking(library("bin/tool", {"libc.so.6"}), {"Py_Initialize"});
  program.type = elf::k_type_exec;
  EXPECT_EQ(verdicts(check_symbols({program}, {})), Lines{"error symbol-undefined bin/tool"});
  program.needed.push_back("libpython3.11.so.1.0");
  EXPECT_EQ(verdicts(check_symbols({program}, {})), Lines{});
}

TEST(Symbols, WhatMayComeFromALibraryThatIsNotGivenIsANote) {
  const std::vector<ElfFacts> own = {asking(library("a.so", {"libb.so", "libc.so.6"}), {"one", "two", "three", "four"}),
                                     library("libb.so", {"libfar.so.2"})};
  const std::vector<Finding> findings = check_symbols(own, {});
  ASSERT_EQ(verdicts(findings), Lines{"note symbol-unverified a.so"});
  EXPECT_EQ(findings[0].what,
            "4 symbols can only come from libraries that were not given (libfar.so.2): one, two, three and 1 more");

  const std::vector<Provider> far = {{"far.whl", {exporting(library("far/libfar.so.2", {"libc.so.6"}), {"one"})}}};
  EXPECT_EQ(verdicts(check_symbols(own, far)), (Lines{3, "error symbol-undefined a.so"}));
}

TEST(Symbols, MuslHasNoVersionsSoItsNamesAreUnverified) {
  const std::vector<ElfFacts> own = {asking(library("a.so", {"libc.musl-x86_64.so.1"}), {"malloc"})};
  EXPECT_EQ(verdicts(check_symbols(own, {})), Lines{"note symbol-unverified a.so"});
}

TEST(Symbols, PartsOfGlibcThatTheInterpreterNeedsAreLoose) {
  // numpy and Pillow use pow and dladdr without linking libm or libdl.
  const std::vector<ElfFacts> own = {asking(library("a.so", {"libc.so.6"}), {"pow", "dladdr", "sem_wait", "powder"})};
  EXPECT_EQ(verdicts(check_symbols(own, {})), (Lines{"error symbol-undefined a.so", "note symbol-loose a.so",
                                                     "note symbol-loose a.so", "note symbol-loose a.so"}));
  // With libm in the closure, though not named by the file itself, pow is there.
  const std::vector<ElfFacts> through = {asking(library("a.so", {"libblas.so", "libc.so.6"}), {"pow", "_Znwm"}),
                                         library("libblas.so", {"libm.so.6", "libstdc++.so.6"})};
  EXPECT_EQ(verdicts(check_symbols(through, {})), Lines{});
  // Who does link libm has no version for pow only if that libm had no pow.
  const std::vector<ElfFacts> linked = {asking(library("a.so", {"libc.so.6", "libm.so.6"}), {"pow"})};
  EXPECT_EQ(verdicts(check_symbols(linked, {})), Lines{"error symbol-undefined a.so"});
  // grpcio's manylinux_2_17_aarch64 wheel asks so for names of a libstdc++ that is newer than the policy's.
  const std::vector<ElfFacts> newer = {asking(library("a.so", {"libc.so.6", "libstdc++.so.6"}), {"_ZdlPvm"})};
  EXPECT_EQ(verdicts(check_symbols(newer, {})), Lines{"error symbol-undefined a.so"});
  const std::vector<Provider> with = {
      {"libstdc++.so.6", {exporting(library("libstdc++.so.6"), {"_ZdlPvm@CXXABI_1.3.9"})}}};
  EXPECT_EQ(verdicts(check_symbols(newer, with)), Lines{});
}

TEST(Symbols, ProgramsOfGoHaveNoVersions) {
  // wandb-core: Go's own linker names libc and libpthread in NEEDED and gives no symbol a version.
  ElfFacts program = asking(library("bin/core", {"libc.so.6", "libpthread.so.0"}), {"malloc", "pthread_create"});
  program.type = elf::k_type_exec;
  EXPECT_EQ(verdicts(check_symbols({program}, {})), Lines{"note symbol-unverified bin/core"});
  // One symbol with a version, and the others should have one too.
  program = needing_version(program, "free", "GLIBC_2.2.5", "libc.so.6");
  EXPECT_EQ(verdicts(check_symbols({program}, {})), (Lines{2, "error symbol-undefined bin/core"}));
}

TEST(Symbols, TheLibraryThatAVersionNamesNeedNotHaveTheSymbol) {
  // Qt's FFmpeg: libavutil names the stub for libcrypto, and the stub for libssl has the symbol.
  const ElfFacts user =
      needing_version(library("libavutil.so", {"libcrypto.so"}), "RAND_bytes", "OPENSSL_3", "libcrypto.so");
  ElfFacts crypto = library("libcrypto.so");
  ElfFacts ssl = exporting(library("libssl.so"), {"RAND_bytes@OPENSSL_3"});
  crypto.versions_provided = ssl.versions_provided = {"OPENSSL_3"};
  EXPECT_EQ(verdicts(check_symbols({user, crypto, ssl}, {})), Lines{"note symbol-loose libavutil.so"});
  EXPECT_EQ(verdicts(check_symbols({user, crypto}, {})), Lines{"error symbol-undefined libavutil.so"});
}

TEST(Symbols, NamesOfLibstdcxx) {
  for (const char* name :
       {"_ZNSi5ungetEv", "_ZNSolsEPSt15basic_streambufIcSt11char_traitsIcEE", "_ZTVSo", "_ZTISi", "_Znwm",
        "_ZNSs4_Rep20_S_empty_rep_storageE", "_ZNKSt9exception4whatEv", "_ZdlPvm",
        "_ZTVN10__cxxabiv117__class_type_infoE", "_ZNK10__cxxabiv117__class_type_info10__do_catchEPKSt9type_infoPPvj",
        "_ZSt9terminatev", "_ZN9__gnu_cxx27__verbose_terminate_handlerEv", "_ZGVNSt10moneypunctIcLb0EE2idE"})
    EXPECT_TRUE(is_libstdcxx_name(name)) << name;
  for (const char* name : {"_ZN3c105ErrorD1Ev", "_Z6a_worki", "PyInit_Si", "_ZN2Si1fEv", "_ZTV6Shared", "malloc", "_Z"})
    EXPECT_FALSE(is_libstdcxx_name(name)) << name;
}

TEST(Symbols, ASymbolOutsideTheClosureIsLoose) {
  const std::vector<ElfFacts> own = {asking(library("a.so", {"libc.so.6"}), {"x", "y", "z"}),
                                     exporting(library("b.so"), {"x", "y"})};
  const std::vector<Provider> other = {{"other.whl", {exporting(library("o/libo.so"), {"x", "z"})}}};
  const std::vector<Finding> findings = check_symbols(own, other);
  ASSERT_EQ(verdicts(findings), (Lines{"note symbol-loose a.so", "warning symbol-loose a.so"}));
  EXPECT_EQ(findings[0].what, "2 symbols come from b.so, which is not in its NEEDED: x, y");
  EXPECT_EQ(findings[1].what, "1 symbol comes from o/libo.so of other.whl, which is not in its NEEDED: z");
}

TEST(Symbols, AProviderOfAnotherMachineProvidesNothing) {
  ElfFacts arm = exporting(library("libb.so"), {"x"});
  arm.machine = "aarch64";
  const std::vector<ElfFacts> own = {asking(library("a.so", {"libb.so"}), {"x"}), arm};
  EXPECT_EQ(verdicts(check_symbols(own, {})), Lines{"note symbol-unverified a.so"});
}

TEST(Symbols, AVersionThatTheGivenLibraryLacksIsToldOnceWithTheHighestItHas) {
  ElfFacts file = needing_version(library("a.so", {"libstdc++.so.6"}), "_ZSt1f", "GLIBCXX_3.4.30", "libstdc++.so.6");
  file.undefined.push_back({"_ZSt1g", "GLIBCXX_3.4.30", "libstdc++.so.6", false});
  EXPECT_EQ(verdicts(check_symbols({file}, {})), Lines{});  // the platform policy's business

  ElfFacts old = library("libstdc++.so.6");
  old.versions_provided = {"GLIBCXX_3.4", "GLIBCXX_3.4.25", "GLIBCXX_3.4.9", "CXXABI_1.3.99"};
  const std::vector<Finding> findings = check_symbols({file}, {{"libstdc++.so.6", {old}}});
  ASSERT_EQ(verdicts(findings), Lines{"error symbol-version-missing a.so"});
  EXPECT_EQ(findings[0].what, "needs GLIBCXX_3.4.30 of libstdc++.so.6; the given library has up to GLIBCXX_3.4.25");
}

TEST(Symbols, AGivenLibraryMustExportTheNameWithTheVersion) {
  const ElfFacts file = needing_version(library("a.so", {"libv.so"}), "f", "V_2", "libv.so");
  ElfFacts provider = library("libv.so");
  provider.versions_provided = {"V_1", "V_2"};
  const auto with = [&](std::vector<std::string> names) {
    return verdicts(check_symbols({file}, {{"libv.so", {exporting(provider, std::move(names))}}}));
  };
  EXPECT_EQ(with({"f@V_2"}), Lines{});
  EXPECT_EQ(with({"f@@V_2"}), Lines{});
  EXPECT_EQ(with({"f@V_1"}), Lines{"error symbol-undefined a.so"});
  EXPECT_EQ(with({"g@V_2"}), Lines{"error symbol-undefined a.so"});
  provider.versions_provided.clear();  // a library without versions is bound to by name
  EXPECT_EQ(with({"f"}), Lines{});
}

TEST(Symbols, AVersionedLibraryThatIsNeitherGivenNorOfTheSystemIsUnverified) {
  const ElfFacts file =
      needing_version(library("a.so", {"libcudart.so.12"}), "cudaMalloc", "libcudart.so.12", "libcudart.so.12");
  EXPECT_EQ(verdicts(check_symbols({file}, {})), Lines{"note symbol-unverified a.so"});
}

TEST(Symbols, GlibcMayHaveMovedASymbolToAPartThatIsNotGiven) {
  const ElfFacts file = needing_version(library("a.so", {"libpthread.so.0", "libc.so.6"}), "pthread_create",
                                        "GLIBC_2.2.5", "libpthread.so.0");
  ElfFacts pthread = library("libpthread.so.0");
  pthread.versions_provided = {"GLIBC_2.2.5"};
  EXPECT_EQ(verdicts(check_symbols({file}, {{"lib", {pthread}}})), Lines{});
  ElfFacts libc = library("libc.so.6");
  libc.versions_provided = {"GLIBC_2.2.5", "GLIBC_2.34"};
  EXPECT_EQ(verdicts(check_symbols({file}, {{"lib", {pthread, libc}}})), Lines{"error symbol-undefined a.so"});
  libc.exported = {"pthread_create@GLIBC_2.2.5", "pthread_create@GLIBC_2.34"};
  EXPECT_EQ(verdicts(check_symbols({file}, {{"lib", {pthread, libc}}})), Lines{});
}

TEST(Symbols, TorchNamesWithoutTorchAreAWarningAndWithTorchLeftToTheAbiCheck) {
  const std::vector<ElfFacts> own = {asking(library("a.so", {"libc.so.6"}), {"_ZN3c105ErrorD1Ev", "_ZTVN2at6TensorE"})};
  EXPECT_EQ(verdicts(check_symbols(own, {})), Lines{"warning symbol-needs-torch a.so"});
  const std::vector<Provider> torch = {{"torch.whl", {library("torch/lib/libc10.so")}}};
  EXPECT_EQ(verdicts(check_symbols(own, torch)), Lines{});
  // Torch itself has no excuse.
  const std::vector<ElfFacts> itself = {own[0], library("torch/lib/libc10.so")};
  EXPECT_EQ(verdicts(check_symbols(itself, {})), (Lines{2, "error symbol-undefined a.so"}));
}

TEST(Symbols, FilesThatNoLoaderBindsAreSkipped) {
  ElfFacts object = asking(library("a.o"), {"x"});
  object.is_dynamic = false;
  ElfFacts cubin = asking(library("k.cubin"), {"vprintf"});
  cubin.machine = "machine 190";
  EXPECT_EQ(verdicts(check_symbols({object, cubin}, {})), Lines{});
}

TEST(Symbols, ManyUndefinedSymbolsAreCounted) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("f" + std::to_string(i));
  const std::vector<Finding> findings = check_symbols({asking(library("a.so"), names)}, {});
  ASSERT_EQ(findings.size(), 21U);
  EXPECT_EQ(findings.back().what, "references 980 symbols more that no library defines");
}

TEST(Symbols, HostileGraphsEnd) {
  // Every file needs all others, exports the same names and asks for them.
  std::vector<ElfFacts> own;
  std::vector<std::string> all;
  for (int i = 0; i < 1100; ++i) all.push_back("l" + std::to_string(i) + ".so");
  for (const std::string& path : all) own.push_back(exporting(asking(library(path, all), {"f", "g"}), {"f"}));
  for (const Finding& finding : check_symbols(own, {})) EXPECT_EQ(finding.id, "symbol-unverified");
}

struct RequireCase {
  std::string wanted;
  bool found;
};

TEST(RequiredSymbols, MatchNamesWhereANameBegins) {
  const std::vector<ElfFacts> own = {exporting(
      library("a.so"),
      {"_ZN10fbgemm_gpu23merge_pooled_embeddingsESt6vectorIN2at6TensorESaIS2_EE@V1", "PyInit_a", "_ZN1x1yclEi"})};
  const std::vector<RequireCase> cases = {
      {"fbgemm_gpu::merge_pooled_embeddings(", true},
      {"merge_pooled_embeddings(", true},
      {"fbgemm_gpu::merge_pooled", true},
      {"_ZN10fbgemm_gpu23merge_pooled_embeddingsESt6vectorIN2at6TensorESaIS2_EE", true},
      {"fbgemm_gpu::merge_pooled_embeddings(std::vector<at::Tensor", true},
      {"PyInit_a", true},
      {"PyInit_a(", true},
      {"x::y::operator()(int)", true},
      {"PyInit_", false},
      {"pooled_embeddings(", false},
      {"gpu::merge_pooled_embeddings(", false},
      {"at::Tensor", false},
      {"fbgemm_gpu::merge_pooled_embeddings(int", false},
  };
  for (const RequireCase& test : cases) {
    EXPECT_EQ(check_required_symbols(own, {test.wanted}).empty(), test.found) << test.wanted;
  }
}

TEST(RequiredSymbols, SayWhoAsksAndWhatIsNearest) {
  const std::vector<ElfFacts> own = {
      asking(exporting(library("a.so"), {"_ZN2ns13merge_poolingEi"}), {"_ZN2ns12merge_pooledEi"})};
  const std::vector<Finding> findings = check_required_symbols(own, {"ns::merge_pooled("});
  ASSERT_EQ(verdicts(findings), Lines{"error symbol-required-missing ns::merge_pooled("});
  EXPECT_EQ(findings[0].what,
            "is not exported by any file of the wheel; a.so references it; the closest exported symbol is "
            "ns::merge_pooling(int)");
  EXPECT_EQ(check_required_symbols({}, {"x"})[0].what, "is not exported by any file of the wheel");
}

}  // namespace
}  // namespace wheelsmith::wheel
