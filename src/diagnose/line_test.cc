#include "diagnose/line.h"

#include <gtest/gtest.h>

namespace wheelsmith::diagnose {
namespace {

TEST(Clean, TakesAwayWhatOthersPutAround) {
  const struct {
    std::string_view raw, text;
  } cases[] = {
      {"plain", "plain"},
      {"   indented  ", "indented"},
      {"2025-03-01T12:34:56.7890123Z error: x", "error: x"},
      {"[2025-03-01 12:34:56] error: x", "error: x"},
      {"[12:34:56] error: x", "error: x"},
      {"2025-03-01 12:34:56,789 error: x", "error: x"},
      {"2025-03-01T12:34:56+02:00 error: x", "error: x"},
      {"#12 345.6 error: x", "error: x"},
      {"2025-03-01T12:34:56Z #12 345.6   error: x", "error: x"},
      {"##[error]Process completed with exit code 1.", "Process completed with exit code 1."},
      {"  \xe2\x94\x82 exit code: 1", "exit code: 1"},
      {"  \xe2\x95\xb0\xe2\x94\x80> [20 lines of output]", "[20 lines of output]"},
      {"  \xe2\x95\xb0\xe2\x94\x80\xe2\x96\xb6 Because x", "Because x"},
      {"\x1b[01m\x1b[Ka.c:1:2:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kx", "a.c:1:2: error: x"},
      {"\x1b]0;title\atext", "text"},
      {"\x1b]8;;http://x\x1b\\link", "link"},
      {"bad \xff byte", "bad \xef\xbf\xbd byte"},
      {"web-1  | error: x", "error: x"},
      {"\xe2\x80\x98"
       "a\xe2\x80\x99 \xe2\x80\x9c"
       "b\xe2\x80\x9d",
       "'a' \"b\""},
      {"   12 | int x;", "12 | int x;"},
      {"\x1b", ""},
      {"\x1b[", ""},
      // What only looks like a prefix stays.
      {"12:34 is no time", "12:34 is no time"},
      {"#include <x>", "#include <x>"},
      {"#12 apples", "#12 apples"},
      {"[12/72] c++ x", "[12/72] c++ x"},
  };
  for (const auto& item : cases) {
    std::string space;
    EXPECT_EQ(clean(item.raw, space).text, item.text) << item.raw;
  }
}

TEST(Clean, KnowsIndentsAndTrees) {
  std::string space;
  EXPECT_EQ(clean("      x", space).indent, 6u);
  EXPECT_EQ(clean("#7 1.0   x", space).indent, 2u);
  EXPECT_FALSE(clean("x", space).in_tree);
  EXPECT_TRUE(clean("  \xe2\x95\xb0\xe2\x94\x80\xe2\x96\xb6 x", space).in_tree);
}

TEST(Tone, OfLines) {
  const struct {
    std::string_view line;
    Tone tone;
  } cases[] = {
      {"a.cc:1:2: error: x", Tone::plain},
      {"a.cc:1:2: warning: x", Tone::warning},
      {"a.cc:1:2: error: 'warning: y' is no name", Tone::plain},
      {"a.cu(12): warning #177-D: variable was declared", Tone::warning},
      {"/x/y.py:12: DeprecationWarning: old", Tone::warning},
      {"-- Could NOT find CUDNN (missing: CUDNN_LIBRARY)", Tone::warning},
      {"WARNING: Retrying (Retry(total=4))", Tone::warning},
      {"ERROR: No matching distribution found for x", Tone::plain},
      {"gcc -c a.c -o a.o", Tone::command},
      {"[3/7] /usr/bin/x86_64-linux-gnu-g++-12 -c a.cc", Tone::command},
      {"cd /x && /usr/bin/c++ -c a.cc", Tone::command},
      {"/usr/local/cuda/bin/nvcc -gencode arch=compute_80,code=sm_80 a.cu", Tone::command},
      {"nvcc fatal   : Unsupported gpu architecture 'compute_60'", Tone::plain},
      {"nvcc error   : 'cicc' died due to signal 9 (Kill signal)", Tone::plain},
      {"gcc: error: unrecognized command-line option '-x'", Tone::plain},
      {"/bin/sh: 1: nvcc: not found", Tone::plain},
      {"cc1plus: out of memory allocating 65536 bytes", Tone::plain},
      {"make: *** [Makefile:5: x] Error 1", Tone::plain},
      {"warnings.warn(\"Can't initialize NVML\")", Tone::quote},
      {"logger.warning('CUDA error: out of memory')", Tone::quote},
      {"warning level is too low (3)", Tone::plain},
  };
  for (const auto& item : cases)
    EXPECT_EQ(static_cast<int>(tone_of(item.line)), static_cast<int>(item.tone)) << item.line;
}

TEST(Progress, OfNinjaAndMake) {
  const struct {
    const char* line;
    std::uint64_t done, total;
  } cases[] = {{"[12/72] Building CUDA object", 12, 72},
               {"[ 16%] Building", 16, 100},
               {"\r[1/2] a\r[2/2] b", 2, 2},
               {"  [3/9]", 3, 9},
               // Forms of NINJA_STATUS: ours, and those that users write.
               {"[12/72 3.214s] Building CUDA object", 12, 72},
               {"[12/72 1835.002s] c++ -c x.cc", 12, 72},
               {"[12/72 12:00:01] c++ -c x.cc", 12, 72},
               {"[3/9 1:02:03] c++ -c x.cc", 3, 9},
               {"[ 16% 12/72 ETA 00:31] c++ -c x.cc", 12, 72},
               {"[12/72 | 4.1/s | 3.2s] x", 12, 72},
               {"[4.1/s, 12/72] x", 12, 72},
               {"[ 16% 3.2s] x", 16, 100},
               {"(12/72) x", 12, 72},
               {"12/72 c++ -c x.cc", 12, 72}};
  for (const auto& item : cases) {
    const auto progress = read_progress(item.line);
    ASSERT_TRUE(progress) << item.line;
    EXPECT_EQ(progress->done, item.done) << item.line;
    EXPECT_EQ(progress->total, item.total) << item.line;
  }
  for (const char* line : {"", "[", "[a/b]", "[5/3] no", "[1/0]", "[101%]", "x [1/2]", "[99999999999999999999/3]",
                           "[16/11/2026 12:00:01] x", "[11/16 12:00:01] ERROR: x", "11/16 12:00:01 ERROR: x", "1/2",
                           "100% tests passed", "[W 12:00:01 x.cc] 1/2", "a/b c"})
    EXPECT_FALSE(read_progress(line)) << line;
  EXPECT_EQ(without_progress("[12/72 3.214s] c++ -c x.cc"), "c++ -c x.cc");
  EXPECT_EQ(without_progress("12/72 c++ -c x.cc"), "c++ -c x.cc");
  EXPECT_EQ(without_progress(" c++ -c x.cc"), "c++ -c x.cc");
  EXPECT_TRUE(is_compiler_command("[12/72 3.214s] /usr/bin/c++ -c x.cc -o x.o"));
}

}  // namespace
}  // namespace wheelsmith::diagnose
