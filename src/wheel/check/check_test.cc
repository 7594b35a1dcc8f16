// Stories about whole wheels: one that is right, then the same wrong in one respect.

#include "wheel/check/check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "testing/elf_builder.h"
#include "testing/wheel_builder.h"

namespace wheelsmith::wheel {
namespace {

using ::wheelsmith::testing::ElfBuilder;
using ::wheelsmith::testing::WheelBuilder;

WheelBuilder pure() { return WheelBuilder("demo", "1.0", "py3-none-any").add("demo/__init__.py", "x = 1\n"); }

ElfBuilder extension() {
  return ElfBuilder().needed("libc.so.6").import("memcpy", "libc.so.6", "GLIBC_2.14").define("PyInit_ext");
}

WheelBuilder binary(const ElfBuilder& library) {
  return WheelBuilder("demo", "1.0", "cp311-cp311-manylinux_2_17_x86_64")
      .add("demo/__init__.py", "x = 1\n")
      .add("demo/ext.cpython-311-x86_64-linux-gnu.so", library.build());
}

Verdict check(const WheelBuilder& wheel, const CheckOptions& options = {}, const std::string& name = "") {
  const std::string bytes = wheel.build();
  return check_wheel(name.empty() ? wheel.file_name() : name, Bytes(bytes), options);
}

std::vector<std::string> ids(const Verdict& verdict, Severity severity) {
  std::vector<std::string> result;
  for (const Finding& finding : verdict.findings) {
    if (finding.severity == severity) result.push_back(finding.id);
  }
  return result;
}

bool has(const Verdict& verdict, const std::string& id) {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& f) { return f.id == id; });
}

// Every finding is a whole one: the fixture's invariant.
void expect_bad(const Verdict& verdict, const std::string& id) {
  EXPECT_FALSE(verdict.is_good()) << id;
  EXPECT_TRUE(has(verdict, id)) << id << " is not among the findings";
  for (const Finding& finding : verdict.findings) {
    EXPECT_FALSE(finding.subject.empty()) << finding.id;
    EXPECT_FALSE(finding.what.empty()) << finding.id;
    EXPECT_FALSE(finding.why.empty()) << finding.id;
  }
}

TEST(CheckWheel, RightOnesHaveNoErrorsAndNoWarnings) {
  for (const WheelBuilder& wheel : {pure(), binary(extension())}) {
    const Verdict verdict = check(wheel);
    EXPECT_TRUE(verdict.is_good());
    EXPECT_EQ(ids(verdict, Severity::error), std::vector<std::string>());
    EXPECT_EQ(ids(verdict, Severity::warning), std::vector<std::string>());
  }
}

TEST(CheckWheel, Record) {
  const auto edited = [](auto edit) { return pure().edit_record(edit); };
  const auto replace = [](std::string& text, std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
  };
  expect_bad(check(edited([&](std::string& r) { replace(r, "__init__.py,sha256=", "__init__.py,sha256=x"); })),
             "record-hash-mismatch");
  expect_bad(check(edited([&](std::string& r) { replace(r, ",6\n", ",7\n"); })), "record-size-mismatch");
  expect_bad(check(edited([&](std::string& r) { replace(r, "demo/__init__.py", "demo/other.py"); })),
             "record-file-missing");
  expect_bad(check(edited([&](std::string& r) { replace(r, "demo/__init__.py", "demo/other.py"); })),
             "record-file-unlisted");
  expect_bad(check(edited([](std::string& r) { r += r; })), "record-duplicate");
  expect_bad(check(edited([&](std::string& r) { replace(r, "sha256=", "md5="); })), "record-weak-hash");
  expect_bad(check(edited([](std::string& r) { r += "../../etc/passwd,,\n"; })), "record-unsafe-path");
  expect_bad(check(edited([](std::string& r) { r = "just one column\n"; })), "record-malformed");
}

TEST(CheckWheel, MemberNames) {
  for (const char* name : {"../evil.py", "/etc/passwd", "a/../../b", "C:/windows"}) {
    expect_bad(check(pure().raw({.name = name, .data = "x"})), "member-unsafe-path");
  }
  expect_bad(check(pure().raw({.name = "demo/__INIT__.py", .data = "x"})), "member-case-collision");
}

TEST(CheckWheel, NamesVersionsAndTagsMustAgree) {
  expect_bad(check(pure(), {}, "other-1.0-py3-none-any.whl"), "metadata-name-mismatch");
  expect_bad(check(pure(), {}, "demo-2.0-py3-none-any.whl"), "metadata-version-mismatch");
  expect_bad(check(pure(), {}, "demo-2.0-py3-none-any.whl"), "dist-info-mismatch");
  expect_bad(check(pure(), {}, "demo-1.0-py2-none-any.whl"), "tag-mismatch");
  // py-spy's name claims Python 2 as well: installers find the matching tag in WHEEL.
  EXPECT_TRUE(has(check(pure(), {}, "demo-1.0-py2.py3-none-any.whl"), "tag-mismatch"));
  EXPECT_TRUE(check(pure(), {}, "demo-1.0-py2.py3-none-any.whl").is_good());
  EXPECT_TRUE(has(check(pure(), {}, "demo-1.0-1-py3-none-any.whl"), "build-mismatch"));
  EXPECT_TRUE(check(pure(), {}, "demo-1.0-1-py3-none-any.whl").is_good());
  expect_bad(check(pure(), {}, "demo.whl"), "name-invalid");
  EXPECT_TRUE(check(pure(), {}, "some/folder/demo-1.0-py3-none-any.whl").is_good());
  expect_bad(check(pure().metadata("")), "metadata-missing");
}

TEST(CheckWheel, BinariesMustFitTheTags) {
  const Verdict tagged = check(binary(extension()).purelib(true));
  EXPECT_TRUE(tagged.is_good());
  EXPECT_TRUE(has(tagged, "purelib-binary"));
  expect_bad(check(WheelBuilder("demo", "1.0", "py3-none-any").purelib(true).add("demo/ext.so", extension().build())),
             "purelib-binary");
  // A library that no import looks for, as in NVIDIA's own wheels.
  const std::string library = ElfBuilder().soname("libx.so.1").needed("libc.so.6").build();
  const Verdict plain_library = check(
      WheelBuilder("demo", "1.0", "py3-none-manylinux_2_17_x86_64").purelib(true).add("demo/lib/libx.so.1", library));
  EXPECT_EQ(ids(plain_library, Severity::error), std::vector<std::string>());
  EXPECT_TRUE(has(plain_library, "purelib-binary"));
  const auto with_module = [](const std::string& tag, const std::string& file) {
    return WheelBuilder("demo", "1.0", tag).add(file, extension().build());
  };
  expect_bad(check(with_module("cp312-cp312-manylinux_2_17_x86_64", "ext.cpython-311-x86_64-linux-gnu.so")),
             "tag-extension-suffix");
  expect_bad(check(with_module("cp38-abi3-manylinux_2_17_x86_64", "ext.cpython-311-x86_64-linux-gnu.so")),
             "tag-extension-suffix");
  for (const char* foreign : {"ext.cpython-311-aarch64-linux-gnu.so", "ext.cpython-311-x86_64-linux-musl.so",
                              "ext.pypy310-pp73-x86_64-linux-gnu.so"}) {
    expect_bad(check(with_module("cp311-cp311-manylinux_2_17_x86_64", foreign)), "tag-extension-suffix");
  }
  EXPECT_TRUE(check(with_module("cp311-cp311-manylinux_2_17_x86_64", "ext.cpython-311-x86_64-linux-gnu.so")).is_good());
  EXPECT_TRUE(check(with_module("cp36-cp36m-manylinux_2_17_x86_64", "ext.cpython-36m-x86_64-linux-gnu.so")).is_good());
  EXPECT_TRUE(
      check(with_module("cp313-cp313t-manylinux_2_17_x86_64", "ext.cpython-313t-x86_64-linux-gnu.so")).is_good());
  EXPECT_TRUE(check(with_module("cp38-abi3-manylinux_2_17_x86_64", "ext.abi3.so")).is_good());
  EXPECT_TRUE(check(with_module("py3-none-manylinux_2_17_x86_64", "ext.cpython-311-x86_64-linux-gnu.so")).is_good());
  expect_bad(check(with_module("cp311-cp311-manylinux_2_17_aarch64", "ext.so")), "platform-machine");
  expect_bad(check(WheelBuilder("demo", "1.0", "py3-none-manylinux_2_17_aarch64").add("demo/lib/libx.so.1", library)),
             "platform-machine");
}

TEST(CheckWheel, Platform) {
  const ElfBuilder new_glibc = extension().import("pthread_create", "libc.so.6", "GLIBC_2.34");
  expect_bad(check(binary(new_glibc)), "platform-symbol-version");
  CheckOptions options;
  options.policy = "manylinux_2_34";
  EXPECT_TRUE(check(binary(new_glibc), options).is_good());
  for (const char* tag : {"manylinux_2_18", "manylinux_2_33"}) {  // tags that no list has
    expect_bad(check(WheelBuilder("demo", "1.0", std::string("cp311-cp311-") + tag + "_x86_64")
                         .add("demo/ext.so", new_glibc.build())),
               "platform-symbol-version");
  }
  EXPECT_TRUE(check(WheelBuilder("demo", "1.0", "cp311-cp311-manylinux_2_43_x86_64").add("ext.so", new_glibc.build()))
                  .is_good());
  expect_bad(check(WheelBuilder("demo", "1.0", "cp311-cp311-manylinux1_aarch64").add("ext.so", extension().build())),
             "platform-machine");
  const ElfBuilder foreign = extension().needed("libfoo.so.3");
  expect_bad(check(binary(foreign)), "platform-external-library");
  options.policy = "";
  options.platform.excluded = {"libfoo.so*"};
  EXPECT_TRUE(check(binary(foreign), options).is_good());
}

TEST(CheckWheel, UndefinedSymbols) {
  expect_bad(check(binary(extension().import("nobody_has_this"))), "symbol-undefined");
  EXPECT_TRUE(check(binary(extension().import("PyList_New"))).is_good());
  const std::string library = ElfBuilder().soname("libother.so").define("nobody_has_this").build();
  CheckOptions options;
  options.against.push_back(read_provider("libother.so", Bytes(library), 1));
  EXPECT_TRUE(check(binary(extension().import("nobody_has_this")), options).is_good());
  options.required_symbols = {"PyInit_ext"};
  EXPECT_TRUE(check(binary(extension()), options).is_good());
  options.required_symbols = {"absent_symbol"};
  expect_bad(check(binary(extension()), options), "symbol-required-missing");
}

TEST(CheckWheel, RunPaths) {
  struct Row {
    const char *path, *id;
  };
  for (const Row& row : {Row{"/usr/local/cuda/lib64", "runpath-absolute"},
                         {"lib", "runpath-absolute"},
                         {"$ORIGIN:", "runpath-empty"},
                         {"$ORIGIN/../..", "runpath-leaves-wheel"},
                         {"$ORIGIN/../nvidia/../../x", "runpath-leaves-wheel"}}) {
    EXPECT_TRUE(has(check(binary(extension().runpath(row.path))), row.id)) << row.path;
  }
  const Verdict fine = check(binary(extension().rpath("$ORIGIN:${ORIGIN}/../nvidia/cublas/lib")));
  EXPECT_EQ(ids(fine, Severity::warning), std::vector<std::string>());
  expect_bad(check(binary(extension().needed("libfoo-1a2b3c4d.so.1"))), "needed-grafted-missing");
}

TEST(CheckWheel, SizeAndForeignPlatforms) {
  CheckOptions options;
  options.max_size = 10;
  expect_bad(check(pure(), options), "size-large");
  const Verdict windows = check(WheelBuilder("demo", "1.0", "cp311-cp311-win_amd64").add("demo/ext.pyd", "MZ"));
  EXPECT_TRUE(windows.is_good());
  EXPECT_TRUE(has(windows, "binaries-not-judged"));
}

TEST(CheckWheel, WhatIsNoArchiveIsAnError) {
  EXPECT_THROW(check_wheel("demo-1.0-py3-none-any.whl", Bytes("rubbish"), {}), Error);
  EXPECT_THROW(check_wheel("demo-1.0-py3-none-any.whl", Bytes(), {}), Error);
  EXPECT_THROW(check_wheel("libdemo.so", Bytes("\177ELF rubbish"), {}), Error);
}

}  // namespace
}  // namespace wheelsmith::wheel
