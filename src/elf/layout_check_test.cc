#include "elf/layout_check.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "testing/elf_builder.h"

namespace wheelsmith::elf {
namespace {

using testing::ElfBuilder;

ElfBuilder plain_library() {
  return ElfBuilder()
      .with_phdr_segment()
      .soname("libdemo.so")
      .define("work")
      .section({.name = ".rodata", .contents = "constants"})
      .section({.name = ".data", .flags = 3, .contents = std::string(16, 'd')});
}

std::vector<std::string> ids(const ElfFile& file) {
  std::vector<std::string> found;
  for (const Finding& finding : check_layout(file, "demo.so")) {
    EXPECT_EQ(finding.subject, "demo.so");
    EXPECT_TRUE(!finding.what.empty() && !finding.why.empty() && !finding.fix.empty()) << finding.id;
    found.push_back(std::string(to_string(finding.severity)) + " " + finding.id);
  }
  return found;
}

using Ids = std::vector<std::string>;

Segment& segment(ElfFile& file, std::uint32_t type, int which = 0) {
  for (Segment& s : file.segments) {
    if (s.type == type && which-- == 0) return s;
  }
  throw std::logic_error("no such segment");
}

TEST(LayoutCheck, WhatLinkersWriteIsFine) {
  for (const std::string& bytes :
       {plain_library().build(), plain_library().bits32().machine(3).build(),
        plain_library().big_endian().machine(22).build(), plain_library().without_section_headers().build(),
        plain_library().machine(183).without_stack().build()}) {
    EXPECT_EQ(ids(ElfFile::parse(Bytes(bytes))), Ids());
  }
}

TEST(LayoutCheck, Stories) {
  const std::string bytes = plain_library().build();
  const struct {
    const char* story;
    void (*damage)(ElfFile&);
    Ids expected;
  } rows[] = {
      {"PT_PHDR kept its address while the table moved",
       [](ElfFile& f) { segment(f, k_segment_phdr).address += 0x7000; },
       {"error elf-program-headers-uncovered"}},
      {"the table moved, PT_PHDR did not",
       [](ElfFile& f) { f.program_headers_offset = 0x200; },
       {"error elf-program-headers-uncovered"}},
      {"table and PT_PHDR moved together",
       [](ElfFile& f) {
         f.program_headers_offset = segment(f, k_segment_phdr).offset = segment(f, k_segment_phdr).address = 0x80;
       },
       {"note elf-program-headers-moved"}},
      {"room for more program headers is counted in",
       [](ElfFile& f) { segment(f, k_segment_phdr).file_size = segment(f, k_segment_phdr).memory_size += 2 * 56; },
       {}},
      {"less than all program headers is counted",
       [](ElfFile& f) { segment(f, k_segment_phdr).file_size -= 56; },
       {"error elf-program-headers-uncovered"}},
      {"offset and address of a segment differ within a page",
       [](ElfFile& f) { segment(f, k_segment_load, 1).offset -= 8; },
       {"error elf-segment-misaligned", "error elf-dynamic-dangling"}},
      {"alignment larger than the congruence",
       [](ElfFile& f) { segment(f, k_segment_load, 1).align = 0x200000; },
       {"error elf-segment-misaligned"}},
      {"alignment that is no power of two",
       [](ElfFile& f) { segment(f, k_segment_load).align = 0x3000; },
       {"error elf-segment-misaligned"}},
      {"alignment below a page",
       [](ElfFile& f) { segment(f, k_segment_load).align = 16; },
       {"error elf-segment-misaligned"}},
      {"a segment reaches behind the end of the file",
       [](ElfFile& f) {
         segment(f, k_segment_load, 1).file_size = segment(f, k_segment_load, 1).memory_size = 0x10000;
       },
       {"error elf-segment-outside-file"}},
      {"less memory than file",
       [](ElfFile& f) { segment(f, k_segment_load, 1).memory_size -= 1; },
       {"error elf-segment-overlap"}},
      {"the first segment grew into the second",
       [](ElfFile& f) { segment(f, k_segment_load).memory_size = 0x1f00; },
       {"error elf-segment-overlap"}},
      {"the first segment shares a page with the second, which is mapped from elsewhere",
       [](ElfFile& f) { segment(f, k_segment_load).memory_size = 0x1001; },
       {"error elf-segment-overlap"}},
      {"segments out of order",
       [](ElfFile& f) { std::swap(segment(f, k_segment_load), segment(f, k_segment_load, 1)); },
       {"error elf-segment-overlap"}},
      {"the dynamic segment is mapped from elsewhere",
       [](ElfFile& f) { segment(f, k_segment_dynamic).offset += 16; },
       {"error elf-dynamic-dangling"}},
      {"a tag points nowhere",
       [](ElfFile& f) { f.dynamic.tags.push_back({25, 0x500000}); },
       {"error elf-dynamic-dangling"}},
      {"the section headers tell of an older place",
       [](ElfFile& f) {
         for (Section& s : f.sections) s.address += s.name == ".dynstr" || s.name == ".dynamic" ? 64 : 0;
       },
       {"warning elf-dynamic-dangling", "warning elf-dynamic-dangling"}},
      {"executable stack", [](ElfFile& f) { f.executable_stack = true; }, {"error elf-executable-stack"}},
      {"no word about the stack", [](ElfFile& f) { f.executable_stack.reset(); }, {"error elf-executable-stack"}},
      {"a program gets its stack from the kernel",
       [](ElfFile& f) {
         f.executable_stack = true;
         f.dynamic.pie = true;
       },
       {"warning elf-executable-stack"}},
      {"musl takes no notice of the stack's flags",
       [](ElfFile& f) {
         f.executable_stack = true;
         f.dynamic.needed.push_back("libc.so");
       },
       {"warning elf-executable-stack"}},
      {"a library that can be run is still a library",
       [](ElfFile& f) {
         f.executable_stack = true;
         f.interpreter = "/lib64/ld-linux-x86-64.so.2";
       },
       {"error elf-executable-stack"}},
      {"text relocations", [](ElfFile& f) { f.dynamic.text_relocations = true; }, {"error elf-text-relocations"}},
      {"text relocations in a program",
       [](ElfFile& f) { f.dynamic.text_relocations = f.dynamic.pie = true; },
       {"warning elf-text-relocations"}},
      {"something could not be read",
       [](ElfFile& f) { f.problems.push_back("the notes are broken"); },
       {"warning elf-malformed"}},
  };
  for (const auto& row : rows) {
    ElfFile file = ElfFile::parse(Bytes(bytes));
    row.damage(file);
    EXPECT_EQ(ids(file), row.expected) << row.story;
  }
}

// The sections as old patchelf leaves them: it moves the contents after the program headers to the end, tables and
// constants alike. Moved tables alone are fine.
TEST(LayoutCheck, ConstantsMovedBehindTheData) {
  const std::string bytes = plain_library().build();
  ElfFile file = ElfFile::parse(Bytes(bytes));
  const auto move_to_end = [&](std::string_view name) {
    for (Section& s : file.sections) {
      if (s.name == name) s.address = file.find_section(".data")->address;
    }
  };
  move_to_end(".gnu.hash");
  EXPECT_EQ(ids(file), Ids());
  move_to_end(".rodata");
  ASSERT_EQ(ids(file), Ids{"error elf-moved-data"});
  EXPECT_NE(check_layout(file, "x")[0].what.find(".rodata"), std::string::npos);
}

TEST(LayoutCheck, AFileWithoutItsEndIsTruncated) {
  // Section headers are the last thing in the file; what is mapped is all there.
  const std::string bytes = plain_library().build();
  for (const std::size_t missing : {1, 64, 200}) {
    const std::string cut = bytes.substr(0, bytes.size() - missing);
    EXPECT_EQ(ids(ElfFile::parse(Bytes(cut))), Ids{"error elf-truncated"}) << missing;
  }
  EXPECT_EQ(ids(ElfFile::parse(Bytes(bytes + "appended"))), Ids());
}

// Old patchelf moves the string table and leaves DT_STRSZ or the offset of a run path as it was.
TEST(LayoutCheck, ARunPathOutsideTheStringsIsAFindingAndTheRestIsRead) {
  for (const std::uint64_t tag : {14, 15, 29}) {
    const std::string bytes = ElfBuilder().needed("libc.so.6").define("work").tag(tag, 0x100000).build();
    const ElfFile file = ElfFile::parse(Bytes(bytes));
    EXPECT_EQ(ids(file), Ids{"warning elf-malformed"}) << tag;
    EXPECT_EQ(file.dynamic.needed, std::vector<std::string_view>{"libc.so.6"});
    EXPECT_EQ(file.symbols.size(), 2U);
    EXPECT_FALSE(file.dynamic.rpath || file.dynamic.runpath || file.dynamic.soname);
  }
  const std::string bytes = ElfBuilder().tag(1, 0x100000).build();  // NEEDED: no loader can do without
  EXPECT_THROW(ElfFile::parse(Bytes(bytes)), Error);
}

TEST(LayoutCheck, ObjectsAndDeviceCodeAreNotJudged) {
  const std::string cubin =
      ElfBuilder().machine(k_machine_cuda).type(k_type_exec).without_dynamic().without_stack().build();
  EXPECT_EQ(ids(ElfFile::parse(Bytes(cubin))), Ids());
  const std::string object = ElfBuilder().type(k_type_rel).without_dynamic().build();
  EXPECT_EQ(ids(ElfFile::parse(Bytes(object))), Ids());
}

}  // namespace
}  // namespace wheelsmith::elf
