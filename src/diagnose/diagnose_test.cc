#include "diagnose/diagnose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace wheelsmith::diagnose {
namespace {

std::string noise(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "copying build/lib/package/module_" + std::to_string(i) + ".py\n";
  return text;
}

TEST(Diagnose, TheFirstFailedCommandOfNinjaNotTheLast) {
  const Diagnosis diagnosis = diagnose(
      "[1/4] c++ -c ok.cc -o ok.o\n"
      "ok.cc:1:1: warning: unused variable 'x'\n"
      "[2/4] nvcc -gencode=arch=compute_60,code=sm_60 -gencode=arch=compute_90,code=sm_90 -c a.cu -o a.o\n"
      "FAILED: a.o \n"
      "nvcc -gencode=arch=compute_60,code=sm_60 -gencode=arch=compute_90,code=sm_90 -c a.cu -o a.o\n"
      "nvcc fatal   : Unsupported gpu architecture 'compute_60'\n"
      "[3/4] c++ -c b.cc -o b.o\n"
      "FAILED: b.o \n"
      "c++ -c b.cc -o b.o\n"
      "c++: fatal error: Killed signal terminated program cc1plus\n"
      "ninja: build stopped: subcommand failed.\n");
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->id, "nvcc-arch-unsupported");
  EXPECT_EQ(diagnosis.cause->line, 6u);
  EXPECT_TRUE(diagnosis.command.starts_with("nvcc -gencode")) << diagnosis.command;
  EXPECT_NE(diagnosis.cause->fixes.front().find("9.0"), std::string::npos) << diagnosis.cause->fixes.front();
  EXPECT_TRUE(std::any_of(diagnosis.further.begin(), diagnosis.further.end(),
                          [](const Cause& cause) { return cause.kind == "oom" && cause.line == 10; }));
  EXPECT_EQ(diagnosis.lines, 11u);
}

TEST(Diagnose, TheCommandThatNamesTheFile) {
  const Diagnosis diagnosis = diagnose(
      "g++ -c src/one.cpp -o one.o\n"
      "g++ -c src/two.cpp -o two.o\n"
      "src/one.cpp:3:10: fatal error: cublas_v2.h: No such file or directory\n"
      "make: *** [Makefile:3: one.o] Error 1\n");
  EXPECT_EQ(diagnosis.command, "g++ -c src/one.cpp -o one.o");
  EXPECT_EQ(diagnose("tabulate: error: grid is singular\nmake: *** [Makefile:3: solver.tab] Error 2\n").command,
            "make solver.tab");
}

TEST(Diagnose, WhatAFinishedCommandPrintedIsNoCause) {
  const Diagnosis diagnosis = diagnose(
      "[1/2] python3 probe.py\n"
      "fatal error: Python.h: No such file or directory\n"
      "[2/2] c++ -c b.cc -o b.o\n"
      "FAILED: b.o \n"
      "c++ -c b.cc -o b.o\n"
      "b.cc:1:10: fatal error: cublas_v2.h: No such file or directory\n"
      "ninja: build stopped: subcommand failed.\n");
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->kind, "cuda-missing");
}

TEST(Diagnose, WrappedMessagesAreOne) {
  const Diagnosis diagnosis = diagnose(
      "      -- The CXX compiler identification is GNU 12.2.0\n"
      "      CMake Error at CMakeLists.txt:1 (cmake_minimum_required):\n"
      "        Compatibility with CMake < 3.5 has been\n"
      "        removed from CMake.\n"
      "\n"
      "        Update the VERSION argument <min> value.\n"
      "\n"
      "      -- Configuring incomplete, errors occurred!\n");
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->id, "cmake4-policy");
  EXPECT_EQ(diagnosis.cause->line, 2u);
}

TEST(Diagnose, SeesThroughColoursTimesAndProgressBars) {
  for (const std::string_view line :
       {"\x1b[01m\x1b[Kcc1plus:\x1b[m\x1b[K \x1b[01;31m\x1b[Kfatal error: \x1b[m\x1b[Kx.cc: No space left on device",
        "2025-01-01T10:00:00.0000000Z x.cc: No space left on device", "#9 12.3 x.cc: No space left on device",
        "10%\r20%\rx.cc: No space left on device", "No \x1b[1mspace left\x1b[0m on device"}) {
    const Diagnosis diagnosis = diagnose(std::string(line) + "\r\n");
    ASSERT_TRUE(diagnosis.cause) << line;
    EXPECT_EQ(diagnosis.cause->kind, "disk") << line;
    EXPECT_EQ(diagnosis.cause->why.front().text.find('\x1b'), std::string::npos);
  }
}

TEST(Diagnose, ASuccessOvercomes) {
  const std::string trouble =
      "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'NewConnectionError: Failed to "
      "establish "
      "a new connection: [Errno -3] Temporary failure in name resolution'\n";
  EXPECT_FALSE(diagnose(trouble + "Successfully built small\nSuccessfully installed small-1.0\n").failed);
  const Diagnosis failed = diagnose(trouble +
                                    "ERROR: Could not find a version that satisfies the requirement torch\n"
                                    "ERROR: No matching distribution found for torch\n");
  ASSERT_TRUE(failed.cause);
  EXPECT_EQ(failed.cause->kind, "network");
}

// The log of setuptools 82 on a package with `license = {text = "MIT"}` and a mistake in its C code.
TEST(Diagnose, NoWarningExplainsAnError) {
  const std::string warning =
      "/x/setuptools/config/_apply_pyprojecttoml.py:82: SetuptoolsDeprecationWarning: `project.license` as a TOML "
      "table "
      "is deprecated\n"
      "!!\n"
      "\n"
      "        ****************************************************************************\n"
      "        Please use a simple string containing a SPDX expression for `project.license`. You can also use "
      "`project.license-files`. (Both options available on setuptools>=77.0.0).\n"
      "        ****************************************************************************\n"
      "\n"
      "!!\n"
      "  corresp(dist, value, root_dir)\n";
  const std::string failed = "error: Command '['gcc', '-c', 'src/a.c']' returned non-zero exit status 1.\n";
  Diagnosis diagnosis = diagnose(warning + "src/a.c:2:23: error: expected ';' before '}' token\n" + failed);
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->id, "compiler-error");
  EXPECT_NE(diagnosis.cause->sure, "certain");
  diagnosis = diagnose(warning + "src/a.c:2:10: fatal error: cairo.h: No such file or directory\n" + failed);
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->id, "header-missing");
  EXPECT_EQ(diagnosis.cause->sure, "certain");
  EXPECT_EQ(diagnosis.cause->fixes.front(),
            "apt-get install -y libcairo2-dev   # Fedora, RHEL: dnf install cairo-devel; conda: conda install -c "
            "conda-forge cairo");
  EXPECT_FALSE(diagnose(noise(20) + warning + "Successfully built x-1.0-py3-none-any.whl\n").failed);
}

// Real messages of the tools, and the Debian package that holds the thing (packages.debian.org's file lists of Debian
// 12).
TEST(Diagnose, NamesTheMissingPackage) {
  const struct {
    std::string_view line, package;
  } cases[] = {
      {"../meson.build:31:12: ERROR: Dependency \"cairo\" not found (tried pkg-config and cmake)", "libcairo2-dev"},
      {"../meson.build:3:3: ERROR: C shared or static library 'sodium' not found", "libsodium-dev"},
      {"../meson.build:78:0: ERROR: Unknown compiler(s): [['gfortran'], ['flang-new']]", "gfortran"},
      {"OSError: mysql_config not found", "default-libmysqlclient-dev"},
      {"Error: pg_config executable not found.", "libpq-dev"},
      {"FileNotFoundError: [Errno 2] No such file or directory: 'llvm-config'", "llvm-dev"},
      {"/bin/sh: 1: krb5-config: not found", "libkrb5-dev"},
      {"configure: error: Package requirements (libffi >= 3.0) were not met:", "libffi-dev"},
      {"Package 'libsystemd', required by 'virtual:world', not found", "libsystemd-dev"},
      {"error: command 'swig' failed: No such file or directory", "swig"},
      {"/usr/bin/ld: cannot find -lsodium: No such file or directory", "libsodium-dev"},
      {"a.c:1:10: fatal error: portaudio.h: No such file or directory", "portaudio19-dev"},
      {"CMake Error at CMakeLists.txt:3 (find_package): Could NOT find GDAL (missing: GDAL_LIBRARY)", "libgdal-dev"},
      {"acl.c:27:10: fatal error: sys/acl.h: No such file or directory", "libacl1-dev"},
      {"Exception: pkg-config package 'libusb-1.0 >= 1.0.9' not found", "libusb-1.0-0-dev"},
      {"gcc: error: krb5-config:: linker input file not found: No such file or directory", "libkrb5-dev"},
      {"pcap.h not found", "libpcap-dev"},
      {"_impl.c:1277:10: fatal error: libnfnetlink/linux_nfnetlink.h: No such file or directory", "libnfnetlink-dev"},
      {"_cdd.c:1281:10: fatal error: cddlib/setoper.h: No such file or directory", "libcdd-dev"},
      {"./configure: line 3084: syntax error near unexpected token `X,zlib'", "autoconf automake libtool pkg-config"},
      {"configure.ac:3: error: possibly undefined macro: AC_PROG_LIBTOOL", "autoconf automake libtool"},
      {"/usr/include/stdio.h:27:10: fatal error: bits/libc-header-start.h: No such file or directory", "gcc-multilib"},
  };
  for (const auto& item : cases) {
    const Diagnosis diagnosis = diagnose(std::string(item.line) + "\nerror: subprocess-exited-with-error\n");
    ASSERT_TRUE(diagnosis.cause) << item.line;
    ASSERT_FALSE(diagnosis.cause->fixes.empty()) << item.line;
    EXPECT_NE(diagnosis.cause->fixes.front().find("apt-get install -y " + std::string(item.package)), std::string::npos)
        << item.line << ": " << diagnosis.cause->fixes.front();
  }
}

TEST(Diagnose, QuotesThePackagesOwnMessage) {
  const Diagnosis diagnosis = diagnose(
      "error: Failed to build `x==1`\n"
      "  cause: The build backend returned an error\n"
      "\n"
      "         [stderr]\n"
      "         The moon must be full to build this module\n"
      "\n"
      "hint: Build failures usually indicate a problem with the package or the build environment\n");
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->id, "own-words");
  EXPECT_EQ(diagnosis.cause->line, 5u);
}

TEST(Diagnose, NamesFewerJobsThanFailed) {
  const Machine machine = {.values = [] { return Values{{"machine.jobs", "16"}}; }, .nvcc_archs = {}};
  const std::string killed = "c++: fatal error: Killed signal terminated program cc1plus\n";
  EXPECT_EQ(diagnose(killed, builtin_knowledge(), machine).cause->fixes.front(), "export MAX_JOBS=16");
  EXPECT_EQ(diagnose("ninja -v -j 8\n" + killed, builtin_knowledge(), machine).cause->fixes.front(),
            "export MAX_JOBS=4");
}

// rustc announces that the link failed and prints the linker's own message below.
TEST(Diagnose, WaitsForTheReasonOfAnAnnouncedFailure) {
  const Diagnosis diagnosis = diagnose(noise(5) +
                                       "error: linking with `cc` failed: exit status: 1\n"
                                       "  = note: rust-lld: error: unable to find library -lfrobnicate\n"
                                       "          collect2: error: ld returned 1 exit status\n"
                                       "error: could not compile `demo` (lib) due to 1 previous error\n");
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->id, "lib-not-found");
}

// Messages of real builds that were once explained with certainty by something else.
TEST(Diagnose, IsNotCertainOfTheWrongCause) {
  const struct {
    std::string_view log, kind, fix, sure;
  } cases[] = {
      {"a.cpp:(.text+0x62): undefined reference to `__atomic_store_16'\ncollect2: error: ld returned 1 exit status\n",
       "linker", "-latomic", "certain"},
      // The crate is beside the package in a larger repository; no index was asked for it.
      {"error: failed to get `common` as a dependency of package `demo v1.0.0 (/b/demo)`\n\nCaused by:\n  failed to "
       "load "
       "source for dependency `common`\n\nCaused by:\n  unable to update /b/common\n\nCaused by:\n  failed to read "
       "`/b/common/Cargo.toml`\n\nCaused by:\n  No such file or directory (os error 2)\n",
       "submodule", "complete checkout", ""},
      {"configure: error: cannot run C compiled programs.\nIf you meant to cross compile, use `--host'.\n",
       "host-compiler", "noexec", "likely"},
      {"  Collecting setuptools>=77\n  setuptools requires Python '>=3.10' but the running Python is 3.6.15\n",
       "python-env", "uv venv --python", ""},
      {"../meson.build:1:0: ERROR: Unknown compiler(s): [['cython'], ['cython3']]\n", "isolation", "pip install cython",
       ""},
      {"../meson.build:2:0: ERROR: Nonexistent build file 'third_party/fmt/meson.build'\n", "submodule", "submodule",
       ""},
      {"error[E0554]: `#![feature]` may not be used on the stable release channel\n --> src/lib.rs:1:1\nerror: could "
       "not "
       "compile `demo` (lib) due to 1 previous error\n",
       "host-compiler", "nightly", ""},
  };
  for (const auto& item : cases) {
    const Diagnosis diagnosis = diagnose(noise(70) + std::string(item.log));
    ASSERT_TRUE(diagnosis.cause) << item.log;
    EXPECT_EQ(diagnosis.cause->kind, item.kind) << diagnosis.cause->id;
    ASSERT_FALSE(diagnosis.cause->fixes.empty());
    EXPECT_NE(diagnosis.cause->fixes.front().find(item.fix), std::string::npos) << diagnosis.cause->fixes.front();
    if (!item.sure.empty()) {
      EXPECT_EQ(diagnosis.cause->sure, item.sure) << diagnosis.cause->id;
    }
  }
}

// make shows a command and what the command printed; `||` handles the failure.
TEST(Diagnose, AFallbackThatPrintsErrorIsNoFailure) {
  const std::string line = "test -f table.bin || ";
  const std::string shown = "error: table.bin not found, creating";
  EXPECT_FALSE(diagnose(line + "echo \"" + shown + "\"\n" + shown + "\ntouch table.bin\n").failed);
  EXPECT_TRUE(
      diagnose(line + "(echo \"" + shown + "\"; exit 1)\n" + shown + "\nmake: *** [Makefile:4: table.bin] Error 1\n")
          .failed);
}

// A shell that reports a killed command does not know who killed it.
TEST(Diagnose, IsNotCertainOfWhatAnotherProcessReports) {
  const Diagnosis shell = diagnose(noise(5) + "Killed\nmake: *** [Makefile:3: x.o] Error 137\n");
  ASSERT_TRUE(shell.cause);
  EXPECT_EQ(shell.cause->kind, "oom");
  EXPECT_EQ(shell.cause->sure, "likely");
}

TEST(Diagnose, NothingIsNoFailure) {
  EXPECT_FALSE(diagnose("").failed);
  EXPECT_FALSE(diagnose(noise(1000)).failed);
  EXPECT_EQ(diagnose(noise(1000)).lines, 1000u);
  EXPECT_EQ(diagnose("no end").lines, 1u);
}

TEST(Diagnose, OnlyWrappersAreUnknown) {
  const Diagnosis diagnosis =
      diagnose(noise(5) + "ninja: build stopped: subcommand failed.\nERROR: Failed building wheel for x\n");
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->kind, "unknown");
  EXPECT_EQ(diagnosis.cause->id, "wrapper-only");
  EXPECT_EQ(diagnosis.cause->line, 6u);
}

// However the bytes arrive, the answer is the same; and the line is counted over everything that was forgotten.
TEST(Diagnose, InAnyPieces) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string log = noise(30000) + "CMake Error at x.cmake:3 (message):\n  Could NOT find CUDA\n\n\n" +
                          std::string(3 << 20, 'x') + "\n" +
                          "c++: fatal error: Killed signal terminated program cc1plus\n" + noise(30000) +
                          "make: *** [Makefile:3: x] Error 1\n";
  const Diagnosis whole = diagnose(log);
  ASSERT_TRUE(whole.cause);
  EXPECT_EQ(whole.cause->kind, "oom");
  EXPECT_EQ(whole.cause->line, 30006u);
  EXPECT_EQ(whole.lines, 60007u);
  for (int round = 0; round < 5; ++round) {
    Diagnoser diagnoser(builtin_knowledge());
    for (std::size_t at = 0; at < log.size();) {
      const std::size_t size = 1 + random() % (random() % 2 == 0 ? 100 : 500'000);
      diagnoser.feed(std::string_view(log).substr(at, size));
      at += size;
    }
    const Diagnosis pieces = diagnoser.finish();
    ASSERT_TRUE(pieces.cause);
    EXPECT_EQ(pieces.cause->id, whole.cause->id);
    EXPECT_EQ(pieces.cause->line, whole.cause->line);
    EXPECT_EQ(pieces.lines, whole.lines);
    EXPECT_EQ(pieces.further.size(), whole.further.size());
  }
}

}  // namespace
}  // namespace wheelsmith::diagnose
