#include "wheel/interface/interface.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "testing/elf_builder.h"
#include "testing/wheel_builder.h"

namespace wheelsmith::wheel {
namespace {

using testing::ElfBuilder;

// A library with a function, a data object and code.
ElfBuilder library_of(std::string code = "code") {
  return ElfBuilder()
      .soname("libkernels.so")
      .needed("libc.so.6")
      .define("run")
      .symbol({.name = "table", .type = 1, .size = 16})
      .import("memcpy", "libc.so.6", "GLIBC_2.14")
      .section({.name = ".text", .flags = 6, .contents = std::move(code)});
}

// A rebuilt library: whether its dependents see the change.
TEST(LibraryInterface, IsWhatLinkersSee) {
  struct Row {
    const char* what;
    std::function<std::string()> rebuilt;
    bool seen;
  };
  const std::string before = library_interface("p/libkernels.so", Bytes(library_of().build()));
  ASSERT_FALSE(before.empty());
  const auto with = [](testing::ElfBuilder::Symbol symbol) { return library_of().symbol(std::move(symbol)).build(); };
  const std::vector<Row> table = {
      {"nothing", [] { return library_of().build(); }, false},
      {"another kernel", [] { return library_of("longer code").build(); }, false},
      {"device code", [] { return library_of().section({.name = ".nv_fatbin", .contents = "device code"}).build(); },
       false},
      {"another build id", [] { return library_of().build_id("0123456789abcdef").build(); }, false},
      {"it calls another function", [] { return library_of().import("expf", "libm.so.6", "GLIBC_2.27").build(); },
       false},
      {"a local symbol", [&] { return with({.name = "helper", .binding = 0}); }, false},
      {"a hidden symbol", [&] { return with({.name = "helper", .visibility = 2}); }, false},
      {"a new function", [&] { return with({.name = "walk"}); }, true},
      {"a weak function", [&] { return with({.name = "walk", .binding = 2}); }, true},
      {"another SONAME", [] { return library_of().soname("libkernels.so.2").build(); }, true},
      {"another library", [] { return library_of().needed("libm.so.6").build(); }, true},
      {"a run path", [] { return library_of().runpath("$ORIGIN").build(); }, true},
      {"a version", [] { return library_of().define_version("KERNELS_1").build(); }, true},
      {"another machine", [] { return library_of().machine(183).build(); }, true},
      {"data of another size",
       [] {
         return ElfBuilder()
             .soname("libkernels.so")
             .needed("libc.so.6")
             .define("run")
             .symbol({.name = "table", .type = 1, .size = 24})
             .import("memcpy", "libc.so.6", "GLIBC_2.14")
             .build();
       },
       true},
      {"a function of another size",
       [] {
         return ElfBuilder()
             .soname("libkernels.so")
             .needed("libc.so.6")
             .symbol({.name = "run", .size = 24})
             .symbol({.name = "table", .type = 1, .size = 16})
             .build();
       },
       false},
      {"a function that became data",
       [] {
         return ElfBuilder()
             .soname("libkernels.so")
             .needed("libc.so.6")
             .symbol({.name = "run", .type = 1})
             .symbol({.name = "table", .type = 1, .size = 16})
             .build();
       },
       true},
      {"a function with a version",
       [] {
         return ElfBuilder()
             .soname("libkernels.so")
             .needed("libc.so.6")
             .define("run", "KERNELS_1")
             .symbol({.name = "table", .type = 1, .size = 16})
             .build();
       },
       true},
  };
  for (const Row& row : table)
    EXPECT_EQ(library_interface("p/libkernels.so", Bytes(row.rebuilt())) != before, row.seen) << row.what;
}

// What is not known to be only linked with counts whole.
TEST(LibraryInterface, IsOnlyOfSharedLibraries) {
  const std::string library = library_of().build();
  const std::vector<std::pair<const char*, std::string>> table = {
      {"p/_module.so", library_of().define("PyInit__module").build()},
      {"p/program", library_of().interpreter("/lib64/ld-linux-x86-64.so.2").build()},
      {"p/program", library_of().type(2).build()},
      {"p/object.o", ElfBuilder().type(1).without_dynamic().build()},
      {"p/libcut.so", library.substr(0, library.size() / 2)},
      {"p/libtext.so", "INPUT(libkernels.so.1)"},
      {"p/empty.so", ""},
  };
  for (const auto& [name, bytes] : table) EXPECT_EQ(library_interface(name, Bytes(bytes)), "") << name;
}

// The wheel of a package; `changed` replaces or adds one file.
std::string package(const std::string& changed = "", const std::string& text = "") {
  std::map<std::string, std::string> files = {
      {"p/__init__.py", "a = 1\n"},
      {"p/include/a.h", "int a;\n"},
      {"p/include/Core", "int core;\n"},
      {"p/share/cmake/PConfig.cmake", "set(P 1)\n"},
      {"p/version.py", "git_version = '0123456789abcdef0123456789abcdef01234567'\ndebug = False\n"},
      {"p/lib/libkernels.so", library_of().build()},
      {"p/lib/libstatic.a", "!<arch>\n"},
      {"p-1.0.data/platlib/p/include/b.h", "int b;\n"},
      {"p-1.0.data/headers/c.h", "int c;\n"},
      {"p-1.0.dist-info/wheelsmith/provenance.json", "{}"},
      {"p-1.0.dist-info/sboms/wheelsmith.cdx.json", "{}"},
  };
  if (!changed.empty()) files[changed] = text;
  testing::WheelBuilder builder("p", "1.0", "py3-none-linux_x86_64");
  for (const auto& [name, bytes] : files) builder.add(name, bytes);
  return builder.build();
}

TEST(ReadInterface, HeadersAreNamedByTheirInstalledPath) {
  const Interface found = read_interface(Bytes(package()), 2);
  std::vector<std::string> headers;
  for (const auto& [name, digest] : found.headers) headers.push_back(name);
  EXPECT_EQ(headers, (std::vector<std::string>{"p/include/a.h", "p/include/b.h"}));
  // Those without a known ending, or outside site-packages, count like every other file.
  EXPECT_TRUE(found.others.contains("p/include/Core"));
  EXPECT_TRUE(found.others.contains("p-1.0.data/headers/c.h"));
  EXPECT_TRUE(found.others.contains("p-1.0.dist-info/METADATA"));
  EXPECT_FALSE(found.others.contains("p-1.0.dist-info/RECORD"));
}

TEST(ReadInterface, ChangesWithWhatABuildCanRead) {
  struct Row {
    const char* name;
    std::string text;
    bool seen;
  };
  const std::vector<Row> table = {
      {"p/__init__.py", "a = 2\n", true},
      {"p/include/a.h", "long a;\n", true},
      {"p/include/Core", "long core;\n", true},
      {"p/share/cmake/PConfig.cmake", "set(P 2)\n", true},
      {"p/lib/libstatic.a", "!<arch>\nmore", true},
      {"p/lib/libkernels.so", library_of("another kernel").build(), false},
      {"p/lib/libkernels.so", library_of().define("walk").build(), true},
      {"p/lib/libkernels.so", "not a library", true},
      {"p/version.py", "git_version = '76543210fedcba9876543210fedcba9876543210'\ndebug = False\n", false},
      {"p/version.py", "git_version = '76543210fedcba9876543210fedcba9876543210'\ndebug = True\n", true},
      {"p/version.py", "git_version = 'unknown'\ndebug = False\n", true},
      {"p/other.py", "new\n", true},
      {"p-1.0.dist-info/wheelsmith/provenance.json", "{\"key\": 1}", false},
      {"p-1.0.dist-info/sboms/wheelsmith.cdx.json", "{\"key\": 1}", false},
      {"p-1.0.dist-info/sboms/other.cdx.json", "{}", true},
      {"p-1.0.dist-info/entry_points.txt", "[console_scripts]\n", true},
  };
  const Interface before = read_interface(Bytes(package()), 1);
  EXPECT_EQ(read_interface(Bytes(package()), 4), before);
  for (const Row& row : table)
    EXPECT_EQ(read_interface(Bytes(package(row.name, row.text)), 1) != before, row.seen)
        << row.name << ": " << row.text;
}

TEST(ReadInterface, RefusesWhatIsNoArchive) {
  EXPECT_THROW((void)read_interface(Bytes("not a wheel"), 1), Error);
  const std::string wheel = package();
  EXPECT_THROW((void)read_interface(Bytes(wheel.substr(0, wheel.size() / 2)), 1), Error);
}

}  // namespace
}  // namespace wheelsmith::wheel
