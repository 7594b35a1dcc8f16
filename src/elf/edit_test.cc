#include "elf/edit.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/error.h"
#include "elf/edit_strings.h"
#include "elf/elf_file.h"
#include "elf/elf_format.h"
#include "elf/layout_check.h"
#include "testing/elf_builder.h"

namespace wheelsmith::elf {
namespace {

using testing::ElfBuilder;

std::string as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string edited(const std::string& original, const Edit& wanted) {
  const Edited result = edit(Bytes(original), wanted);
  const std::string text = as_text(apply(result, Bytes(original)));
  EXPECT_EQ(text.size(), result.size);
  EXPECT_EQ(result.changed, text != original);
  EXPECT_EQ(prove(Bytes(original), Bytes(text)), std::vector<std::string>());
  return text;
}

std::string refusal(const std::string& original, const Edit& wanted) {
  try {
    (void)edit(Bytes(original), wanted);
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

Edit run_path(std::vector<std::string> entries, bool runpath = false) {
  Edit wanted;
  wanted.run_path = RunPath{runpath, std::move(entries)};
  return wanted;
}

ElfBuilder library() {
  return ElfBuilder()
      .with_phdr_segment()
      .soname("libdemo.so.1")
      .needed("libm.so.6")
      .needed("libc.so.6")
      .import("memcpy", "libc.so.6", "GLIBC_2.14")
      .import("cos", "libm.so.6", "GLIBC_2.2.5")
      .define("work", "DEMO_1")
      .section({.name = ".rodata", .contents = "constants"})
      .section({.name = ".data", .flags = 3, .contents = std::string(16, 'd')})
      .relocate({.section = ".data", .offset = 8, .target = ".rodata"});
}

std::vector<std::string> needed(const std::string& bytes) {
  const ElfFile file = ElfFile::parse(Bytes(bytes));
  return {file.dynamic.needed.begin(), file.dynamic.needed.end()};
}
std::string rpath(const std::string& bytes) {
  return std::string(ElfFile::parse(Bytes(bytes)).dynamic.rpath.value_or("none"));
}
std::string runpath(const std::string& bytes) {
  return std::string(ElfFile::parse(Bytes(bytes)).dynamic.runpath.value_or("none"));
}

using Names = std::vector<std::string>;

// --- strings -----------------------------------------------------------------------------------------------------

TEST(DynamicStrings, Rows) {
  using Reuse = DynamicStrings::Reuse;
  using namespace std::string_literals;
  const struct {
    const char* story;
    std::string table;
    Reuse reuse;
    std::vector<std::uint64_t> kept, released;
    Names texts;
    std::vector<std::uint64_t> offsets;
    std::string result;
  } rows[] = {
      {"over the old one, whose rest is wiped",
       "\0abcdef\0x\0"s,
       Reuse::released,
       {8},
       {1},
       {"gh"},
       {1},
       "\0gh\0\0\0\0\0x\0"s},
      {"the end of the old one is another's",
       "\0abcdef\0x\0"s,
       Reuse::released,
       {5, 8},
       {1},
       {"gh"},
       {1},
       "\0gh\0\0ef\0x\0"s},
      {"and then it does not fit",
       "\0abcdef\0x\0"s,
       Reuse::released,
       {5, 8},
       {1},
       {"ghij"},
       {10},
       "\0\0\0\0\0ef\0x\0ghij\0"s},
      {"a longer string holds it", "\0abcdef\0x\0"s, Reuse::released, {1, 5}, {5}, {"gh"}, {10}, "\0abcdef\0x\0gh\0"s},
      {"it is there", "\0abcdef\0x\0"s, Reuse::nothing, {1, 8}, {}, {"def", "x"}, {4, 8}, "\0abcdef\0x\0"s},
      {"the last string grows over the end",
       "\0abc\0xy\0"s,
       Reuse::released,
       {1},
       {5},
       {"longer"},
       {5},
       "\0abc\0longer\0"s},
      {"nothing is taken away where nothing may be",
       "\0abc\0xy\0"s,
       Reuse::nothing,
       {1},
       {5},
       {"q"},
       {8},
       "\0abc\0xy\0q\0"s},
      {"garbage of others is taken",
       "\0abc\0ZZZZZ\0xy\0"s,
       Reuse::unreferenced,
       {1, 11},
       {},
       {"q"},
       {5},
       "\0abc\0q\0ZZZ\0xy\0"s},
      {"but only if they may",
       "\0abc\0ZZZZZ\0xy\0"s,
       Reuse::released,
       {1, 11},
       {},
       {"q"},
       {14},
       "\0abc\0ZZZZZ\0xy\0q\0"s},
      {"the smallest gap",
       "\0aaaa\0b\0cc\0d\0"s,
       Reuse::released,
       {6, 11},
       {1, 8},
       {"zz"},
       {8},
       "\0\0\0\0\0\0b\0zz\0d\0"s},
      {"an end of a new one", "\0"s, Reuse::unreferenced, {}, {}, {"so", "lib.so"}, {5, 1}, "\0lib.so\0"s},
  };
  for (const auto& row : rows) {
    DynamicStrings strings(Bytes(row.table), row.reuse);
    for (const std::uint64_t offset : row.kept) strings.keep(offset);
    for (const std::uint64_t offset : row.released) strings.release(offset);
    EXPECT_EQ(strings.add(row.texts), row.offsets) << row.story;
    EXPECT_EQ(strings.table(), row.result) << row.story;
  }
}

// --- what is asked for is what comes out -------------------------------------------------------------------------

TEST(Edit, RunPaths) {
  const std::string long_path(300, 'p');
  const struct {
    const char* story;
    ElfBuilder before;
    Edit edit;
    std::string rpath, runpath;
  } rows[] = {
      {"added", library(), run_path({"$ORIGIN"}), "$ORIGIN", "none"},
      {"added, the other kind", library(), run_path({"$ORIGIN", "/b"}, true), "none", "$ORIGIN:/b"},
      {"shorter", library().rpath("/some/where"), run_path({"$ORIGIN"}), "$ORIGIN", "none"},
      {"longer", library().rpath("/x"), run_path({long_path, "$ORIGIN"}), long_path + ":$ORIGIN", "none"},
      {"the kind changes", library().rpath("/x"), run_path({"/x"}, true), "none", "/x"},
      {"kind and text", library().runpath("/x"), run_path({"/longer/than/x"}), "/longer/than/x", "none"},
      {"one of two stays", library().rpath("/x").runpath("/y"), run_path({"/z"}, true), "none", "/z"},
      {"removed", library().rpath("/x").runpath("/y"), run_path({}), "none", "none"},
      {"as it is", library().runpath("/y"), run_path({"/y"}, true), "none", "/y"},
      {"the end of a name that is there", library(), run_path({"demo.so.1"}), "demo.so.1", "none"},
  };
  const auto same = [](ElfBuilder builder) { return builder; };
  const struct {
    const char* name;
    ElfBuilder (*change)(ElfBuilder);
  } kinds[] = {
      {"64 bit", same},
      {"32 bit", [](ElfBuilder b) { return b.bits32().machine(3); }},
      {"64 bit big endian", [](ElfBuilder b) { return b.big_endian().machine(22); }},
      {"32 bit big endian", [](ElfBuilder b) { return b.bits32().big_endian().machine(22); }},
      {"no section headers", [](ElfBuilder b) { return b.without_section_headers(); }},
      {"extended numbering", [](ElfBuilder b) { return b.extended_numbering(); }},
      {"program", [](ElfBuilder b) { return b.interpreter("/lib64/ld-linux-x86-64.so.2"); }},
      {"program at its own address, with zeros in memory",
       [](ElfBuilder b) {
         return b.interpreter("/lib64/ld-linux-x86-64.so.2")
             .section({.name = ".bss", .type = 8, .flags = 3, .size = 0x12345});
       }},
      {"other hash", [](ElfBuilder b) { return b.hash(ElfBuilder::Hash::sysv); }},
      {"aarch64", [](ElfBuilder b) { return b.machine(183); }},
  };
  for (const auto& kind : kinds) {
    for (const auto& row : rows) {
      SCOPED_TRACE(std::string(kind.name) + ": " + row.story);
      const std::string before = kind.change(row.before).build();
      const std::string after = edited(before, row.edit);
      EXPECT_EQ(rpath(after), row.rpath);
      EXPECT_EQ(runpath(after), row.runpath);
      EXPECT_EQ(edited(after, row.edit), after);  // the same again is nothing
      EXPECT_TRUE(can_edit(Bytes(after)));
    }
  }
}

TEST(Edit, NeededLibrariesAndSoname) {
  const std::string before = library().build();
  Edit rename;
  rename.rename_needed = {{"libm.so.6", "libmath-with-a-longer-name.so.6"}, {"libnone.so", "x"}};
  const std::string renamed = edited(before, rename);
  EXPECT_EQ(needed(renamed), (Names{"libmath-with-a-longer-name.so.6", "libc.so.6"}));
  const ElfFile file = ElfFile::parse(Bytes(renamed));
  Names files;
  for (const VersionNeed& need : file.version_needs)
    files.push_back(std::string(need.file) + " " + std::string(need.version));
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (Names{"libc.so.6 GLIBC_2.14", "libmath-with-a-longer-name.so.6 GLIBC_2.2.5"}));

  Edit add;
  add.add_needed = {"libz.so.1", "libc.so.6", "libz.so.1"};
  EXPECT_EQ(needed(edited(before, add)), (Names{"libm.so.6", "libc.so.6", "libz.so.1"}));

  Edit remove;
  remove.remove_needed = {"libm.so.6"};
  EXPECT_NE(refusal(before, remove).find("requires symbol versions from it"), std::string::npos);
  const std::string plain = ElfBuilder().needed("liba.so").needed("libb.so").needed("libc.so").define("work").build();
  remove.remove_needed = {"libb.so", "libx.so"};
  EXPECT_EQ(needed(edited(plain, remove)), (Names{"liba.so", "libc.so"}));

  Edit soname;
  soname.soname = "libother.so.27";
  const std::string other = edited(before, soname);
  const ElfFile other_file = ElfFile::parse(Bytes(other));
  EXPECT_EQ(other_file.dynamic.soname, "libother.so.27");
  ASSERT_FALSE(other_file.version_definitions.empty());
  EXPECT_TRUE(other_file.version_definitions[0].base);
  EXPECT_EQ(other_file.version_definitions[0].version, "libother.so.27");
  EXPECT_EQ(ElfFile::parse(Bytes(edited(plain, soname))).dynamic.soname, "libother.so.27");
}

TEST(Edit, NamesThatCannotBe) {
  const std::string before = library().build();
  using namespace std::string_literals;
  Edit soname;
  soname.soname = "";
  for (const Edit& wanted :
       {run_path({"a:b"}), run_path({""}), run_path({"a\0b"s}), run_path({std::string(70000, 'x')}), soname})
    EXPECT_NE(refusal(before, wanted), "not refused");
}

// --- where it goes -----------------------------------------------------------------------------------------------

TEST(Edit, InPlaceWhereItFits) {
  const std::string before = library().rpath("/a/long/path/of/the/build/machine").build();
  for (const Edit& wanted : {run_path({"$ORIGIN/../lib"}), run_path({}), run_path({"/build/machine"}, true)}) {
    const std::string after = edited(before, wanted);
    EXPECT_EQ(after.size(), before.size());
    EXPECT_EQ(after.find("/a/long/path"), std::string::npos);  // nothing is left of it
  }
  // A new tag takes a spare one.
  EXPECT_EQ(edited(library().build(), run_path({"libm.so.6"})).size(), library().build().size());
}

TEST(Edit, ProgramHeadersMoveOnlyWithoutRoom) {
  const std::string before = library().build();
  const std::string after = edited(before, run_path({std::string(5000, 'x')}));
  const ElfFile a = ElfFile::parse(Bytes(before)), b = ElfFile::parse(Bytes(after));
  EXPECT_GT(b.program_headers_offset, before.size() - 16);
  EXPECT_EQ(b.program_header_count, a.program_header_count + 2);  // the new LOAD, and one to spare
  EXPECT_FALSE(b.segments[1].flags & k_writable);
  // Once more, much longer: the segment grows, the table stays.
  const std::string again = edited(after, run_path({std::string(9000, 'x')}));
  EXPECT_EQ(again.size(), after.size() + 4000);
  EXPECT_EQ(ElfFile::parse(Bytes(again)).program_headers_offset, b.program_headers_offset);
}

TEST(Edit, ManyEditsDoNotGrowWithoutBound) {
  for (const bool sections : {true, false}) {
    ElfBuilder builder = library();
    if (!sections) builder.without_section_headers();
    std::string file = builder.build();
    const std::size_t first = file.size();
    std::size_t longest = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      const std::size_t length = 20 + (i * 37) % 500;
      longest = std::max(longest, length);
      Edit wanted = run_path({std::string(length, static_cast<char>('a' + i % 26))}, i % 3 == 0);
      wanted.soname = "lib" + std::string(i % 40, 'n') + ".so";
      file = edited(file, wanted);
      EXPECT_LT(file.size(), first + 2 * longest + 2000) << i;
    }
  }
}

// A library with 5 GB in the middle that are not loaded; memory that is never touched takes no space.
TEST(Edit, OffsetsAboveFourGigabytes) {
  const std::string small = library().section({.name = ".big", .flags = 0, .contents = "x"}).build();
  const ElfFile file = ElfFile::parse(Bytes(small));
  constexpr std::uint64_t k_begin = 0x100000, k_size = 5ULL << 30;
  const std::uint64_t table = file.section_headers_offset, table_size = small.size() - table;
  const std::uint64_t size = k_begin + k_size + table_size;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no room for 5 GB";
  auto* bytes = static_cast<std::uint8_t*>(memory);
  const auto put = [&](std::uint64_t offset, std::uint64_t value) {
    std::memcpy(bytes + offset, &value, sizeof value);
  };
  std::memcpy(bytes, small.data(), small.size());
  std::memcpy(bytes + k_begin + k_size, small.data() + table, table_size);
  put(offsetof(Elf64Le::Header, section_headers), k_begin + k_size);
  for (std::size_t i = 0; i < file.sections.size(); ++i) {
    if (file.sections[i].name != ".big") continue;
    const std::uint64_t header = k_begin + k_size + i * sizeof(Elf64Le::SectionHeader);
    put(header + offsetof(Elf64Le::SectionHeader, offset), k_begin);
    put(header + offsetof(Elf64Le::SectionHeader, size), k_size);
  }
  try {
    const Edited edited = edit(Bytes(bytes, size), run_path({std::string(5000, 'x')}));
    EXPECT_GT(edited.tail_offset, k_size);
    EXPECT_LT(edited.size - size, 10000U);
    EXPECT_LT(edited.patches.size(), 10U);
  } catch (const Error& error) {
    if (std::string(error.what()).find("not enough memory") == std::string::npos) throw;
  }
  ::munmap(memory, size);
}

// --- what is not edited ------------------------------------------------------------------------------------------

TEST(CanEdit, Rows) {
  const std::string good = library().build();
  EXPECT_TRUE(can_edit(Bytes(good)));
  const std::pair<const char*, std::string> rows[] = {
      {"nothing", ""},
      {"magic alone",
       "\x7f"
       "ELF"},
      {"data with the magic",
       "\x7f"
       "ELF" +
           std::string(5000, 'x')},
      {"a script", "#!/bin/sh\n"},
      {"cut in the headers", good.substr(0, 100)},
      {"cut in the middle", good.substr(0, good.size() / 2)},
      {"the last byte is missing", good.substr(0, good.size() - 1)},
      {"static program", ElfBuilder().type(k_type_exec).without_dynamic().build()},
      {"static program with a dynamic segment", ElfBuilder().type(k_type_exec).define("x").build()},
      {"static PIE", ElfBuilder().define("x").tag(0x6ffffffb, 0x08000000).build()},
      {"object", ElfBuilder().type(k_type_rel).without_dynamic().build()},
      {"AMD device code", ElfBuilder().machine(k_machine_amdgpu).define("kernel").build()},
      {"NVIDIA device code", ElfBuilder().machine(k_machine_cuda).type(k_type_exec).without_dynamic().build()},
  };
  for (const auto& [story, bytes] : rows) {
    EXPECT_FALSE(can_edit(Bytes(bytes))) << story;
    EXPECT_NE(refusal(bytes, run_path({"$ORIGIN"})), "not refused") << story;
  }
}

// --- the proof sees what others break ----------------------------------------------------------------------------

TEST(Prove, SeesDamage) {
  const std::string before = library().rpath("/x").build();
  const std::string after = edited(before, run_path({std::string(500, 'y')}));
  const ElfFile file = ElfFile::parse(Bytes(after));
  const auto put = [&](std::uint64_t offset, std::string_view bytes) {
    std::string damaged = after;
    damaged.replace(offset, bytes.size(), bytes);
    return damaged;
  };
  const auto section = [&](const char* name) { return file.find_section(name)->offset; };
  const struct {
    const char* story;
    std::string bytes;
    const char* wanted;
  } rows[] = {
      {"a constant", put(section(".rodata") + 2, "X"), ".rodata + 0x2"},
      {"data", put(section(".data"), "X"), ".data"},
      {"a hash table", put(section(".gnu.hash") + 20, "X"), ".gnu.hash"},
      {"a symbol's name", put(section(".dynsym") + 24, "\x03"), "symbol"},
      {"a relocation", put(section(".rela.dyn") + 16, "\x03"), ".rela.dyn"},
      {"a version", put(section(".gnu.version") + 2, "\x05"), "symbol"},
      {"cut off", after.substr(0, after.size() - 600), ""},
      {"the machine", put(18, "\xb7"), "header"},
      {"a segment's permissions", put(file.program_headers_offset + 2 * 56 + 4, "\x07"), "permissions"},
      {"a segment's address", put(file.program_headers_offset + 2 * 56 + 17, "\x77"), "missing or smaller"},
      {"not ELF", "hello", "can no longer be read"},
      {"another file", ElfBuilder().define("other").build(), ""},
  };
  EXPECT_EQ(prove(Bytes(before), Bytes(after)), Names());
  for (const auto& row : rows) {
    std::string all;
    for (const std::string& sentence : prove(Bytes(before), Bytes(row.bytes))) all += sentence + "\n";
    EXPECT_NE(all, "") << row.story;
    EXPECT_NE(all.find(row.wanted), std::string::npos) << row.story << ": " << all;
  }
}

}  // namespace
}  // namespace wheelsmith::elf
