#include "rocm/layout/layout.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "elf/elf_file.h"
#include "rocm/filter_library.h"
#include "rocm/look.h"
#include "testing/elf_builder.h"

namespace wheelsmith::rocm {
namespace {

using testing::ElfBuilder;

Entry file(const std::string& contents, bool executable = false) {
  Entry entry;
  const auto text = std::make_shared<const std::string>(contents);
  entry.unpacked = std::make_shared<const Blob>(Blob{text, Bytes(*text)});
  entry.size = contents.size();
  entry.executable = executable;
  entry.artifact = "a_lib_generic";
  return entry;
}

Entry link(const std::string& target) {
  Entry entry;
  entry.link = true;
  entry.link_target = target;
  return entry;
}

std::string library(const std::string& soname) {
  ElfBuilder builder;
  builder.needed("libc.so.6").define("f").section({.name = ".text", .flags = 6, .contents = "code"});
  if (!soname.empty()) builder.soname(soname);
  return builder.build();
}

std::string names(const Layout& layout) {
  std::string text;
  for (const LaidFile& one : layout.files) text += one.path + "\n";
  return text;
}

const InstallPlace k_place{"_rocm_sdk_core", {"_rocm_sdk_core/lib/llvm/lib"}};

TEST(Layout, LibrariesHaveOneNameAndNoLinks) {
  Entries entries;
  entries["lib/liba.so.1.0"] = file(library("liba.so.1"));
  entries["lib/liba.so.1"] = link("liba.so.1.0");
  entries["lib/liba.so"] = link("liba.so.1");
  entries["lib/plugin.so"] = file(library(""));
  entries["lib/plugin-link.so"] = link("plugin.so");
  entries["lib/unnamed.so"] = file(library("unnamed.so.3"));
  entries["lib/hostile.so"] = file(library("../../hostile.so"));
  entries["lib/dangling.so.2"] = link("dangling.so.2.0.0");
  entries["lib/dangling.so.2.1"] = file(library("dangling.so.2"));
  entries["share/module/liba.so"] = file(library("liba.so.1"));
  const Layout layout = lay_out_runtime({}, entries, k_place, 2);
  EXPECT_EQ(names(layout),
            "lib/dangling.so.2\nlib/hostile.so\nlib/liba.so.1\nlib/plugin-link.so\nlib/plugin.so\nlib/unnamed.so.3\n"
            "share/module/liba.so\n");
  const std::map<std::string, std::string> aliases = {{"lib/dangling.so.2.1", "dangling.so.2"},
                                                      {"lib/liba.so", "liba.so.1"},
                                                      {"lib/liba.so.1.0", "liba.so.1"},
                                                      {"lib/unnamed.so", "unnamed.so.3"}};
  EXPECT_EQ(layout.aliases, aliases);
  ASSERT_EQ(layout.findings.size(), 1U);
  EXPECT_EQ(layout.findings[0].subject, "lib/dangling.so.2");
}

TEST(Layout, WhatOnlyLooksLikeElfIsData) {
  Entries entries;
  const std::string whole = library("libx.so.1");
  entries["lib/cut.so"] = file(whole.substr(0, 300));
  entries["lib/magic"] = file("\177ELF");
  entries["lib/kernel.co"] = file(ElfBuilder().machine(elf::k_machine_amdgpu).soname("other").build());
  entries["lib/object.o"] = file(ElfBuilder().type(elf::k_type_rel).without_dynamic().build());
  entries["lib/empty"] = file("");
  const Layout layout = lay_out_runtime({}, entries, k_place, 1);
  EXPECT_EQ(names(layout), "lib/cut.so\nlib/empty\nlib/kernel.co\nlib/magic\nlib/object.o\n");
  for (const LaidFile& one : layout.files) {
    EXPECT_EQ(one.content.edited, nullptr) << one.path;
    EXPECT_EQ(one.content.piece(0, one.content.size()).bytes.text(), entries[one.path].open().bytes.text());
  }
}

TEST(Layout, LinksToProgramsRunTheLastOneOfAChain) {
  Entries entries;
  const std::string program = ElfBuilder().type(elf::k_type_exec).without_dynamic().build();
  entries["lib/llvm/bin/clang-22"] = file(program, true);
  entries["lib/llvm/bin/clang"] = link("clang-22");
  entries["bin/clang++"] = link("../lib/llvm/bin/clang");
  entries["libexec/tool.py"] = file("#!/usr/bin/python3\n", true);
  entries["libexec/same"] = link("tool.py");
  entries["bin/tool"] = link("../libexec/tool.py");
  entries["share/data"] = file("data");
  entries["share/link"] = link("data");
  entries["folder"] = link("share");
  const Layout layout = lay_out_runtime({}, entries, k_place, 1);
  std::map<std::string, const LaidFile*> by_path;
  for (const LaidFile& one : layout.files) by_path[one.path] = &one;
  const auto text = [&](const char* path) { return by_path.at(path)->content.text; };
  EXPECT_NE(text("bin/clang++").find(std::string("../lib/llvm/bin/clang-22\0", 25)), std::string::npos);
  EXPECT_NE(text("lib/llvm/bin/clang").find(std::string(":\0clang-22\0", 11)), std::string::npos);
  EXPECT_NE(text("bin/tool").find(std::string("../libexec/tool.py\0", 19)), std::string::npos);
  EXPECT_TRUE(by_path.at("bin/tool")->executable);
  // In its own folder a script's copy finds what it looks for, and knows the name it was called by.
  EXPECT_EQ(by_path.at("libexec/same")->content.entry, &entries["libexec/tool.py"]);
  EXPECT_EQ(by_path.at("share/link")->content.entry, &entries["share/data"]);
  EXPECT_FALSE(by_path.contains("folder"));
}

TEST(Layout, RunPathsKeepWhatIsRelativeAndLeadToSiblings) {
  Entries entries;
  entries["lib/deep/libx.so"] =
      file(ElfBuilder().soname("libx.so").define("f").runpath("/build/lib:$ORIGIN/own:lib::$ORIGINAL").build());
  const Layout layout = lay_out_runtime({}, entries, {"_p", {"_core/lib", "_core/lib/llvm/lib"}}, 1);
  ASSERT_EQ(layout.files.size(), 1U);
  const Content& content = layout.files[0].content;
  const Blob blob = content.piece(0, content.size());
  const elf::ElfFile edited = elf::ElfFile::parse(blob.bytes);
  EXPECT_FALSE(edited.dynamic.runpath);
  EXPECT_EQ(edited.dynamic.rpath.value_or(""),
            "$ORIGIN/own:$ORIGIN/../../../_core/lib:$ORIGIN/../../../_core/lib/llvm/lib");
  EXPECT_EQ(layout.findings.size(), 4U);
  // Any piece is that of the whole.
  const Bytes original = entries["lib/deep/libx.so"].open().bytes;
  const std::vector<std::byte> whole = elf::apply(*content.edited, original);
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t at = random() % whole.size(), size = random() % (whole.size() - at + 1);
    const Blob piece = content.piece(at, size);
    ASSERT_EQ(piece.bytes.size(), size);
    if (size != 0) {
      ASSERT_EQ(std::memcmp(piece.bytes.data(), whole.data() + at, size), 0) << at << " " << size;
    }
  }
}

TEST(Layout, DevelHoldsTheRestAndLinksToWhatOthersHave) {
  Entries entries;
  entries["lib/liba.so.1.0"] = file(library("liba.so.1"));
  entries["lib/liba.so.1"] = link("liba.so.1.0");
  entries["lib/liba.so"] = link("liba.so.1");
  entries["lib/unnamed.so"] = file(library("unnamed.so.3"));
  const Layout core = lay_out_runtime({}, entries, k_place, 1);
  entries["include/a.h"] = file("text");
  entries["include/b.h"] = link("a.h");
  entries["llvm"] = link("lib");
  entries["bad"] = link("/etc/passwd");
  entries["out"] = link("../../x");
  const DevelLayout devel = lay_out_devel({}, entries, {"_rocm_sdk_devel", {}}, {{"_rocm_sdk_core", &core}}, 1);
  std::map<std::string, std::string> links;
  std::string files;
  for (const DevelItem& item : devel.items) {
    if (item.link_target.empty()) {
      files += item.path + " ";
    } else {
      links[item.path] = item.link_target;
    }
  }
  EXPECT_EQ(files, "include/a.h ");
  const std::map<std::string, std::string> wanted = {{"include/b.h", "a.h"},
                                                     {"lib/liba.so", "liba.so.1"},
                                                     {"lib/liba.so.1", "../../_rocm_sdk_core/lib/liba.so.1"},
                                                     {"lib/liba.so.1.0", "liba.so.1"},
                                                     {"lib/unnamed.so", "unnamed.so.3"},
                                                     {"lib/unnamed.so.3", "../../_rocm_sdk_core/lib/unnamed.so.3"},
                                                     {"llvm", "lib"}};
  EXPECT_EQ(links, wanted);
  EXPECT_EQ(devel.findings.size(), 2U);
}

TEST(FilterLibrary, IsAWholeElfFileOfItsMachine) {
  for (const std::uint16_t machine : {elf::k_machine_x86_64, elf::k_machine_aarch64}) {
    const std::string bytes = filter_library(machine, "libreal.so.1");
    const elf::ElfFile parsed = elf::ElfFile::parse(Bytes(bytes));
    EXPECT_EQ(parsed.machine, machine);
    EXPECT_TRUE(parsed.problems.empty());
    EXPECT_EQ(parsed.dynamic.rpath.value_or(""), "$ORIGIN");
    EXPECT_TRUE(parsed.dynamic.value(0x7fffffff).has_value());
    EXPECT_LT(bytes.size(), 700U);
  }
}

}  // namespace
}  // namespace wheelsmith::rocm
