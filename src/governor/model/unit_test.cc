#include "governor/model/unit.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "governor/model/unit_words.h"
#include "governor/shim/compiler_names.h"

namespace wheelsmith::governor {
namespace {

std::vector<std::string> argv(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) words.emplace_back(word);
  return words;
}

CompilerCommand read(std::string_view text) {
  const auto command = read_command(argv(text));
  EXPECT_TRUE(command) << text;
  return command.value_or(CompilerCommand());
}

TEST(CompilerNamesTest, AreRecognizedWithTripletsAndVersions) {
  for (const char* name :
       {"gcc", "g++", "cc", "c++", "clang++-19", "x86_64-linux-gnu-gcc-12", "nvcc", "hipcc", "ld.lld",
        "x86_64-conda-linux-gnu-c++", "mold", "gcc-12.2", "aarch64-linux-gnu-ld.gold", "amdclang++"}) {
    EXPECT_NE(ws_tool_of(name), WS_NONE) << name;
  }
  for (const char* name : {"gcc-ar", "clang-format", "clang-cpp-19", "ld.so", "cc1plus", "as", "ccache", "ldd", "", "-",
                           "-12", "gccgo", "nvcc.profile", "ld-linux-x86-64.so.2", "x86_64-linux-gnu-gcc-nm-12"}) {
    EXPECT_EQ(ws_tool_of(name), WS_NONE) << name;
  }
}

TEST(UnitTest, DoesNotGovernQueries) {
  struct {
    const char* line;
    bool governed;
  } const rows[] = {
      {"gcc -c a.c -o a.o", true},
      {"gcc a.o b.o -o prog", true},
      {"ld -m elf_x86_64 -o prog a.o", true},
      {"nvcc -c a.cu", true},
      {"gcc --version", false},
      {"gcc -v", false},
      {"gcc -E a.c", false},
      {"gcc -print-search-dirs", false},
      {"gcc -dumpmachine", false},
      {"clang -### -c a.c", false},
      {"nvcc --dryrun -c a.cu", false},
      {"nvcc -V", false},
      {"ld --version", false},
      {"ld -v", false},
      {"gcc -x c -c - -o a.o", false},
      {"gcc -dM -E -x c /dev/null", false},
  };
  for (const auto& row : rows) EXPECT_EQ(read(row.line).governed, row.governed) << row.line;
}

TEST(UnitTest, ParsesKindOutputAndArchitectures) {
  struct {
    const char* line;
    Kind kind;
    const char* name;
    const char* output;
    unsigned archs, threads;
  } const rows[] = {
      {"g++ -O2 -c /x/a.cc -o /y/a.o", Kind::cxx, "a.cc", "/y/a.o", 1, 0},
      {"gcc -shared a.o b.a -o m.so -lm", Kind::link, "m.so", "m.so", 1, 0},
      {"gcc a.c -ofoo", Kind::c, "a.c", "foo", 1, 0},
      {"nvcc -gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 -c k.cu -o k.o", Kind::cuda,
       "k.cu", "k.o", 2, 0},
      {"nvcc --generate-code=arch=compute_90a,code=[compute_90a,sm_90a] --threads 4 -c k.cu", Kind::cuda, "k.cu", "", 1,
       4},
      {"nvcc -arch=all-major -t=0 -c k.cu", Kind::cuda, "k.cu", "", 5, 1024},
      {"nvcc -arch sm_90 -t2 -c k.cu", Kind::cuda, "k.cu", "", 1, 2},
      {"hipcc --offload-arch=gfx942 --offload-arch=gfx1100 -c k.hip", Kind::hip, "k.hip", "", 2, 0},
      {"clang++ -x hip -c k.cpp", Kind::hip, "k.cpp", "", 1, 0},
      {"ld.lld -o out.so a.o", Kind::link, "out.so", "out.so", 1, 0},
  };
  for (const auto& row : rows) {
    const CompilerCommand command = read(row.line);
    EXPECT_EQ(command.kind, row.kind) << row.line;
    EXPECT_EQ(command.name(), row.name) << row.line;
    EXPECT_EQ(command.output, row.output) << row.line;
    EXPECT_EQ(command.archs, row.archs) << row.line;
    EXPECT_EQ(command.threads, row.threads) << row.line;
    EXPECT_TRUE(command.governed) << row.line;
  }
}

TEST(UnitTest, HasTheSameIdInAnotherFolder) {
  const auto id = [](std::string_view line, const std::string& content) { return unit_id(read(line), {content}); };
  const std::string here =
      id("g++ -O2 -DX=/here/x.h -I/here/inc -isystem /here/sys -MD -MF /here/a.d -c /here/a.cc -o /here/a.o", "1");
  EXPECT_EQ(here, id("/usr/bin/g++ -O2 -DX=/there/x.h -I /there -isystem/q -MD -MF a.d -c a.cc -o b/c.o", "1"));
  EXPECT_NE(here, id("g++ -O2 -DX=/here/x.h -MD -c /here/a.cc -o a.o", "2")) << "another source";
  EXPECT_NE(here, id("g++ -O3 -DX=/here/x.h -MD -c /here/a.cc -o a.o", "1")) << "other flags";
  EXPECT_NE(id("nvcc -gencode arch=compute_80,code=sm_80 -c k.cu", "1"),
            id("nvcc -gencode arch=compute_90,code=sm_90 -c k.cu", "1"));
  EXPECT_EQ(id("nvcc --threads 4 -ccbin /a/gcc -c k.cu", "1"), id("nvcc -t 2 -c k.cu", "1"));
}

TEST(UnitTest, ReadsResponseFiles) {
  const ReadFile read_file = [](const std::string& name) -> std::optional<std::string> {
    if (name != "list") return std::nullopt;
    return "-c \"a b.cc\"\n-DX=\\\"1\\\" -o out.o";
  };
  const auto command = read_command({"g++", "@list"}, read_file);
  ASSERT_TRUE(command);
  EXPECT_EQ(command->sources, std::vector<std::string>{"a b.cc"});
  EXPECT_EQ(command->output, "out.o");
  EXPECT_TRUE(read_command({"g++", "@gone", "-c"}, read_file)->governed) << "an unreadable file is an input";
}

TEST(UnitTest, GroupsFamilies) {
  const auto family = [](std::string_view source) { return words::without_parameters(source); };
  const std::string first = family("flash_fwd_hdim128_bf16_causal_sm80.cu");
  EXPECT_EQ(first, "flash_fwd_hdim#_causal_sm#.cu");
  EXPECT_EQ(first, family("flash_fwd_hdim64_fp16_causal_sm80.cu"));
  EXPECT_NE(first, family("flash_bwd_hdim64_fp16_causal_sm80.cu"));
  EXPECT_EQ(family("gen_embedding_float_3.cu"), family("gen_embedding_half_12.cu"));
  EXPECT_EQ(family("gemm_e4m3_e5m2.cu"), family("gemm_bf16_fp16.cu"));
  EXPECT_EQ(family("x_f.c"), "x_f.c");
}

TEST(UnitTest, ReplacesThreads) {
  EXPECT_EQ(with_threads(argv("nvcc -t 8 -c k.cu"), 2), argv("nvcc -c k.cu --threads 2"));
  EXPECT_EQ(with_threads(argv("nvcc --threads=8 -t4 -c k.cu"), 0), argv("nvcc -c k.cu"));
  EXPECT_EQ(with_threads(argv("nvcc -target-dir x -c k.cu"), 0), argv("nvcc -target-dir x -c k.cu"));
}

}  // namespace
}  // namespace wheelsmith::governor
