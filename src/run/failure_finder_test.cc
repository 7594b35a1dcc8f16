#include "run/failure_finder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace wheelsmith::run {
namespace {

FirstFailure first_of(std::string_view log) {
  FailureFinder finder;
  // In uneven chunks, as a pipe delivers them.
  for (std::size_t i = 0; i < log.size(); i += 7) finder.feed(log.substr(i, 7));
  return finder.first().value_or(FirstFailure{});
}

TEST(FailureFinder, FindsTheFirstFailureOfAParallelNinjaBuild) {
  const FirstFailure failure = first_of(
      "[1/3] c++ -c a.cc -o a.o\n"
      "[2/3] c++ -c b.cc -o b.o\n"
      "FAILED: b.o \n"
      "c++ -MMD -c b.cc -o b.o\n"
      "b.cc:1:10: fatal error: nothing.h: No such file or directory\n"
      "compilation terminated.\n"
      "[3/3] c++ -c c.cc -o c.o\n"
      "FAILED: c.o \n"
      "c++ -MMD -c c.cc -o c.o\n"
      "c.cc:9:1: error: later\n"
      "ninja: build stopped: subcommand failed.\n");
  EXPECT_EQ(failure.command, "c++ -MMD -c b.cc -o b.o");
  EXPECT_EQ(failure.output, "b.cc:1:10: fatal error: nothing.h: No such file or directory\ncompilation terminated.\n");
  EXPECT_EQ(failure.line, 3u);
}

// setuptools 80 prints only the failed command, as a Python list.
TEST(FailureFinder, ReadsTheCommandOfNewSetuptools) {
  const FirstFailure failure = first_of(
      "running build_ext\n"
      "building 'tiny' extension\n"
      "src/tiny.c:2:10: fatal error: cairo.h: No such file or directory\n"
      "compilation terminated.\n"
      "error: Command '['/usr/bin/cc', '-DTEXT=a b', '-c', 'src/tiny.c']' returned non-zero exit status 1.\n");
  EXPECT_EQ(failure.command, "/usr/bin/cc '-DTEXT=a b' -c src/tiny.c");
  EXPECT_EQ(failure.output,
            "src/tiny.c:2:10: fatal error: cairo.h: No such file or directory\ncompilation terminated.\n"
            "returned non-zero exit status 1.\n");
  EXPECT_EQ(failure.line, 3u);
}

TEST(FailureFinder, EndsTheOutputAtAnyProgressFormat) {
  for (const char* status : {"[3/3 12.044s] ", "[ 99% 3/3 | 0.2/s] ", "3/3 "}) {
    const FirstFailure failure =
        first_of(fmt::format("FAILED: b.o \nc++ -c b.cc -o b.o\nb.cc:1:1: error: bad\n{}c++ -c c.cc -o c.o\n"
                             "c.cc:9:1: warning: not of it\nninja: build stopped: subcommand failed.\n",
                             status));
    EXPECT_EQ(failure.output, "b.cc:1:1: error: bad\n") << status;
  }
}

TEST(FailureFinder, ReadsColoursAndCarriageReturns) {
  const FirstFailure failure = first_of(
      "\x1b[31mFAILED: \x1b[0mx.o\r\nnvcc x.cu\r\nx.cu(1): error: bad\r\nninja: build stopped: subcommand failed.\r\n");
  EXPECT_EQ(failure.command, "nvcc x.cu");
  EXPECT_EQ(failure.output, "x.cu(1): error: bad\n");
}

TEST(FailureFinder, FindsTheCommandAboveADistutilsError) {
  const FirstFailure failure = first_of(
      "running build_ext\n"
      "gcc -Wall -c one.c -o build/one.o\n"
      "gcc -Wall -c two.c -o build/two.o\n"
      "two.c:3:5: error: expected ';'\n"
      "error: command '/usr/bin/gcc' failed with exit code 1\n");
  EXPECT_EQ(failure.command, "gcc -Wall -c two.c -o build/two.o");
  EXPECT_EQ(failure.line, 3u);
  EXPECT_NE(failure.output.find("expected ';'"), std::string::npos);
}

TEST(FailureFinder, FindsTheCommandAboveAMakeError) {
  const FirstFailure failure = first_of(
      "[ 50%] Building CXX object a.o\n"
      "/usr/bin/x86_64-linux-gnu-g++-12 -c a.cc\n"
      "a.cc:1:1: error: x\n"
      "make[2]: *** [CMakeFiles/a.dir/build.make:76: a.o] Error 1\n"
      "make[1]: *** [CMakeFiles/Makefile2:83: all] Error 2\n");
  EXPECT_EQ(failure.command, "/usr/bin/x86_64-linux-gnu-g++-12 -c a.cc");
}

TEST(FailureFinder, PrefersAFailedCommandToATraceback) {
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"setup.py\", line 1, in <module>\nModuleNotFoundError: No module "
      "named 'torch'\n";
  EXPECT_EQ(first_of("running egg_info\n" + traceback + "more\n").output, traceback);
  EXPECT_EQ(first_of(traceback + "FAILED: a.o\ncc -c a.c\nx\n").command, "cc -c a.c");
}

TEST(FailureFinder, ShowsTheLastLinesOfAnUnknownFailure) {
  EXPECT_EQ(first_of("one\ntwo\n").output, "one\ntwo\n");
  EXPECT_EQ(first_of("").output, "");
}

TEST(FailureFinder, TruncatesAnEndlessLine) {
  FailureFinder finder;
  const std::string rubbish(1 << 20, '\xff');
  for (int i = 0; i < 64; ++i) finder.feed(rubbish);
  finder.feed("\nFAILED: a\ncc a\n");
  EXPECT_EQ(finder.first()->command, "cc a");
}

}  // namespace
}  // namespace wheelsmith::run
