#include "elf/elf_file.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "testing/elf_builder.h"

namespace wheelsmith::elf {
namespace {

using testing::ElfBuilder;
using Hash = ElfBuilder::Hash;
using Table = ElfBuilder::RelocationTable;

ElfFile parse(const std::string& bytes) { return ElfFile::parse(Bytes(bytes)); }

struct Dialect {
  const char* machine_name;
  bool is_64bit;
  bool big_endian;
  std::uint16_t machine;
  Hash hash;
};

std::ostream& operator<<(std::ostream& out, const Dialect& dialect) { return out << dialect.machine_name; }

ElfBuilder library_for(const Dialect& dialect) {
  ElfBuilder builder;
  if (!dialect.is_64bit) builder.bits32();
  if (dialect.big_endian) builder.big_endian();
  return builder.machine(dialect.machine)
      .hash(dialect.hash)
      .soname("libdemo.so.1")
      .needed("libc.so.6")
      .needed("libm.so.6")
      .rpath("/old")
      .runpath("$ORIGIN/../lib:$ORIGIN")
      .import("memcpy", "libc.so.6", "GLIBC_2.14")
      .import("sin", "libm.so.6", "GLIBC_2.2.5")
      .import("free")
      .need_version("libc.so.6", "GLIBC_ABI_DT_RELR", true)
      .symbol({.name = "maybe", .binding = 2, .type = 0, .defined = false})
      .define("PyInit_demo")
      .define("work", "DEMO_2")
      .symbol({.name = "work_old", .version = "DEMO_1", .hidden_version = true})
      .symbol({.name = "inner", .visibility = 2})
      .symbol(
          {.name = "table", .binding = 10, .type = 1, .visibility = 3, .section = ".rodata", .value = 4, .size = 12})
      .build_id("\x01\xab\xff")
      .section({.name = ".rodata", .contents = std::string(16, 'r')})
      .section({.name = ".data", .flags = 3, .contents = std::string(0x400, '\0')})
      .section({.name = ".bss", .type = 8, .flags = 3, .size = 64})
      .section({.name = ".debug_info", .flags = 0, .contents = "x"})
      .relocate({.section = ".data", .offset = 8, .target = ".rodata", .target_offset = 4})
      .relocate({.section = ".data", .offset = 16, .symbol = "table"})
      .relocate({.section = ".data", .offset = 0, .target = ".rodata", .table = Table::rel})
      .relocate({.section = ".data", .offset = 0x40, .target = ".rodata", .table = Table::relr})
      .relocate({.section = ".data", .offset = 0x48, .target = ".rodata", .table = Table::relr})
      .relocate({.section = ".data", .offset = 0x300, .target = ".rodata", .table = Table::relr})
      .relocate({.section = ".data", .offset = 24, .symbol = "memcpy", .table = Table::plt, .type = 7});
}

const Symbol& symbol(const ElfFile& file, std::string_view name) {
  for (const Symbol& s : file.symbols) {
    if (s.name == name) return s;
  }
  throw Error("no symbol " + std::string(name));
}

class EveryDialect : public ::testing::TestWithParam<Dialect> {};

void expect_the_library(const ElfFile& file) {
  EXPECT_EQ(file.problems, std::vector<std::string>());
  EXPECT_EQ(file.dynamic.soname, "libdemo.so.1");
  EXPECT_EQ(file.dynamic.needed, (std::vector<std::string_view>{"libc.so.6", "libm.so.6"}));
  EXPECT_EQ(file.dynamic.rpath, "/old");
  EXPECT_EQ(file.dynamic.runpath, "$ORIGIN/../lib:$ORIGIN");
  EXPECT_EQ(file.build_id, "01abff");
  EXPECT_EQ(file.executable_stack, false);
  EXPECT_TRUE(file.is_python_extension(""));

  ASSERT_EQ(file.symbols.size(), 10U);
  ASSERT_NE(file.needed_version(symbol(file, "memcpy")), nullptr);
  EXPECT_EQ(file.needed_version(symbol(file, "memcpy"))->version, "GLIBC_2.14");
  EXPECT_EQ(file.needed_version(symbol(file, "sin"))->file, "libm.so.6");
  EXPECT_EQ(file.needed_version(symbol(file, "free")), nullptr);
  EXPECT_FALSE(symbol(file, "free").is_defined());
  EXPECT_EQ(symbol(file, "maybe").binding, Binding::weak);
  EXPECT_EQ(file.defined_version(symbol(file, "work")), "DEMO_2");
  EXPECT_FALSE(symbol(file, "work").hidden_version);
  EXPECT_EQ(file.defined_version(symbol(file, "work_old")), "DEMO_1");
  EXPECT_TRUE(symbol(file, "work_old").hidden_version);
  EXPECT_EQ(file.defined_version(symbol(file, "PyInit_demo")), "");
  EXPECT_FALSE(symbol(file, "inner").is_exported());
  EXPECT_TRUE(symbol(file, "table").is_exported());
  EXPECT_EQ(symbol(file, "table").binding, Binding::unique);
  EXPECT_EQ(symbol(file, "table").size, 12U);
  ASSERT_EQ(file.version_needs.size(), 3U);
  EXPECT_TRUE(file.version_needs[0].weak);
  ASSERT_EQ(file.version_definitions.size(), 3U);
  EXPECT_TRUE(file.version_definitions[0].base);
  EXPECT_EQ(file.version_definitions[0].version, "libdemo.so.1");
}

TEST_P(EveryDialect, TellsTheSameStory) {
  const std::string bytes = library_for(GetParam()).build();
  const ElfFile file = parse(bytes);
  EXPECT_EQ(file.machine_name(), GetParam().machine_name);
  expect_the_library(file);
  EXPECT_TRUE(file.has_debug_info);
  EXPECT_FALSE(file.has_symbol_table);
  ASSERT_NE(file.find_section(".rodata"), nullptr);
  EXPECT_EQ(file.contents(*file.find_section(".rodata")).text(), std::string(16, 'r'));
  EXPECT_TRUE(file.contents(*file.find_section(".bss")).empty());
}

TEST_P(EveryDialect, NeedsNoSectionHeaders) {
  const std::string bytes = library_for(GetParam()).without_section_headers().build();
  const ElfFile file = parse(bytes);
  EXPECT_TRUE(file.sections.empty());
  expect_the_library(file);
}

TEST_P(EveryDialect, ReadsExtendedNumbering) {
  const std::string bytes = library_for(GetParam()).extended_numbering().build();
  const ElfFile file = parse(bytes);
  EXPECT_NE(file.find_section(".rodata"), nullptr);
  expect_the_library(file);
}

TEST_P(EveryDialect, FindsRelocationsByPlace) {
  const std::string bytes = library_for(GetParam()).build();
  const ElfFile file = parse(bytes);
  const std::uint64_t data = file.find_section(".data")->address;
  const std::uint64_t rodata = file.find_section(".rodata")->address;
  const auto offsets = [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> found;
    for (const Relocation& r : file.relocations_in(data + begin, data + end)) found.push_back(r.address - data);
    return found;
  };
  EXPECT_EQ(offsets(0, 0x400), (std::vector<std::uint64_t>{0, 8, 16, 24, 0x40, 0x48, 0x300}));
  EXPECT_EQ(offsets(8, 16), (std::vector<std::uint64_t>{8}));
  EXPECT_EQ(offsets(0x41, 0x49), (std::vector<std::uint64_t>{0x48}));
  EXPECT_EQ(offsets(0x49, 0x300), (std::vector<std::uint64_t>{}));

  const std::vector<Relocation> all = file.relocations_in(data, data + 0x400);
  EXPECT_EQ(all[1].addend, static_cast<std::int64_t>(rodata + 4));
  EXPECT_EQ(file.symbols.at(all[2].symbol).name, "table");
  EXPECT_EQ(file.symbols.at(all[3].symbol).name, "memcpy");
  EXPECT_EQ(all[3].type, 7U);
  EXPECT_EQ(all[4].type, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Elf, EveryDialect,
    ::testing::Values(Dialect{"x86_64", true, false, 62, Hash::gnu}, Dialect{"i686", false, false, 3, Hash::both},
                      Dialect{"aarch64", true, false, 183, Hash::gnu}, Dialect{"armv7l", false, false, 40, Hash::sysv},
                      Dialect{"ppc64le", true, false, 21, Hash::gnu}, Dialect{"ppc64", true, true, 21, Hash::both},
                      Dialect{"s390x", true, true, 22, Hash::sysv}, Dialect{"riscv64", true, false, 243, Hash::gnu},
                      Dialect{"loongarch64", true, false, 258, Hash::gnu},
                      Dialect{"machine 8", false, true, 8, Hash::gnu},
                      Dialect{"machine 190", true, false, 190, Hash::none}),
    [](const auto& one) {
      std::string name = one.param.machine_name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(Elf, ALibraryThatExportsNothingKeepsItsImports) {
  const auto imports = [] { return ElfBuilder().import("a").import("b").import("c"); };
  for (const std::string& bytes : {imports().build(), imports().without_section_headers().build()}) {
    EXPECT_EQ(parse(bytes).symbols.size(), 4U);
  }
}

TEST(Elf, AddressesAreNotOffsets) {
  const std::string bytes = library_for({"", true, false, 62, Hash::gnu}).build();
  const ElfFile file = parse(bytes);
  const Section& data = *file.find_section(".data");
  EXPECT_NE(data.address, data.offset);
  EXPECT_EQ(file.file_offset(data.address, data.size), data.offset);
  EXPECT_EQ(file.file_offset(data.address, data.size + 1), std::nullopt);
  EXPECT_EQ(file.file_offset(file.find_section(".bss")->address + 8), std::nullopt);
  EXPECT_EQ(file.file_offset(~0ULL), std::nullopt);
}

TEST(Elf, ObjectsAndDeviceCodeParse) {
  const std::string object = ElfBuilder()
                                 .type(k_type_rel)
                                 .without_dynamic()
                                 .section({.name = ".text", .flags = 6, .contents = "code"})
                                 .section({.name = ".symtab", .type = 2, .flags = 0})
                                 .build_id("\x07")
                                 .build();
  const ElfFile parsed = parse(object);
  EXPECT_TRUE(parsed.segments.empty());
  EXPECT_FALSE(parsed.has_dynamic);
  EXPECT_TRUE(parsed.has_symbol_table);
  EXPECT_EQ(parsed.build_id, "07");
  EXPECT_FALSE(parsed.is_python_extension(""));

  const std::string cubin = ElfBuilder()
                                .machine(k_machine_cuda)
                                .type(k_type_exec)
                                .os_abi(0x41, 8)
                                .flags(0x6005a04)
                                .without_dynamic()
                                .without_stack()
                                .section({.name = ".text.kernel", .contents = "x"})
                                .build();
  EXPECT_EQ(parse(cubin).os_abi, 0x41);
  EXPECT_EQ(parse(cubin).abi_version, 8);
  EXPECT_EQ(parse(cubin).flags, 0x6005a04U);
}

TEST(Elf, FlagsOfTheDynamicSegment) {
  const std::string bytes = ElfBuilder().tag(30, 0x14).tag(0x6ffffffb, 0x08000001).build();
  const ElfFile file = parse(bytes);
  EXPECT_TRUE(file.dynamic.text_relocations);
  EXPECT_TRUE(file.dynamic.static_tls);
  EXPECT_TRUE(file.dynamic.bind_now);
  EXPECT_TRUE(file.dynamic.pie);
  const std::string plain = ElfBuilder().tag(22, 0).executable_stack().interpreter("/lib/ld.so").build();
  EXPECT_TRUE(parse(plain).dynamic.text_relocations);
  EXPECT_FALSE(parse(plain).dynamic.bind_now);
  EXPECT_EQ(parse(plain).executable_stack, true);
  EXPECT_EQ(parse(plain).interpreter, "/lib/ld.so");
}

TEST(Elf, PropertyNoteTellsTheX86Level) {
  std::string property("\x02\x80\x00\xc0\x04\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00", 16);
  const std::string bytes = ElfBuilder().note(".note.gnu.property", "GNU", 5, property, 8).build_id("\x02").build();
  EXPECT_EQ(parse(bytes).x86_isa_needed, 6U);
  EXPECT_EQ(parse(bytes).build_id, "02");
}

TEST(Elf, PythonExtensions) {
  const struct {
    const char* symbol;
    const char* stem;
    bool expected;
  } rows[] = {{"PyInit_a", "", true},     {"PyInitU_x", "", true}, {"_cffi_pypyinit_a", "", true},
              {"initdemo", "demo", true}, {"initdemo", "", false}, {"initother", "demo", false},
              {"Py_Init", "demo", false}, {"init", "", false}};
  for (const auto& row : rows) {
    const std::string bytes = ElfBuilder().define(row.symbol).build();
    EXPECT_EQ(parse(bytes).is_python_extension(row.stem), row.expected) << row.symbol;
  }
  const std::string imported = ElfBuilder().import("PyInit_a").build();
  EXPECT_FALSE(parse(imported).is_python_extension(""));
}

TEST(Elf, RefusesOtherFiles) {
  EXPECT_FALSE(
      ElfFile::has_magic(Bytes("\x7f"
                               "EL")));
  EXPECT_THROW(parse(""), Error);
  EXPECT_THROW(parse("PK\3\4"), Error);
  EXPECT_THROW(parse("\x7f"
                     "ELF\2\1"),
               Error);
  std::string bytes = ElfBuilder().soname("a").build();
  EXPECT_THROW(parse(bytes.substr(0, 100)), Error);  // program headers cut off
  bytes[4] = 7;
  EXPECT_THROW(parse(bytes), Error);
}

TEST(Elf, ABrokenSectionTableIsToldNotThrown) {
  std::string bytes = library_for({"", true, false, 62, Hash::gnu}).build();
  const ElfFile cut = parse(bytes.substr(0, bytes.size() - 1));
  EXPECT_TRUE(cut.sections.empty());
  EXPECT_EQ(cut.problems.size(), 1U);
  EXPECT_EQ(cut.symbols.size(), 10U);
  bytes.replace(0x28, 8, std::string(8, '\xff'));  // its offset
  EXPECT_EQ(parse(bytes).problems.size(), 1U);
}

// Sets a tag of the dynamic segment of a little-endian 64 bit file.
void set_tag(std::string& bytes, std::uint64_t tag, std::uint64_t value) {
  const ElfFile file = parse(bytes);
  const Section& dynamic = *file.find_section(".dynamic");
  for (std::uint64_t at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    if (Bytes(bytes).get<le64>(at) != tag) continue;
    const le64 number = value;
    bytes.replace(at + 8, 8, reinterpret_cast<const char*>(&number), 8);
    return;
  }
  FAIL() << "no tag " << tag;
}

TEST(Elf, DanglingTagsAreToldOrThrown) {
  const std::string good = library_for({"", true, false, 62, Hash::gnu}).build();
  const auto with = [&](std::uint64_t tag, std::uint64_t value) {
    std::string bytes = good;
    set_tag(bytes, tag, value);
    return bytes;
  };
  EXPECT_THROW(parse(with(5, 0x99999999)), Error);  // DT_STRTAB
  EXPECT_THROW(parse(with(1, 0xffff)), Error);      // DT_NEEDED
  for (const std::uint64_t tag :
       {6ULL, 7ULL, 8ULL, 36ULL, 0x6ffffef5ULL, 0x6ffffff0ULL, 0x6ffffffcULL, 0x6ffffffeULL}) {
    const std::string bytes = with(tag, 0xffffffffffffff00);
    EXPECT_FALSE(parse(bytes).problems.empty()) << tag;
    EXPECT_EQ(parse(bytes).dynamic.soname, "libdemo.so.1") << tag;
  }
}

TEST(Elf, ABrokenVersionChainEndsThere) {
  std::string bytes = library_for({"", true, false, 62, Hash::gnu}).build();
  const std::uint64_t at = parse(bytes).find_section(".gnu.version_r")->offset;
  bytes.replace(at + 12, 4, "\x10\x00\x00\x00", 4);  // the next file's record is the first one's first version
  const ElfFile file = parse(bytes);
  EXPECT_FALSE(file.problems.empty());
  EXPECT_LE(file.version_needs.size(), 4U);
}

// A thousand records that share one long name and one long inner chain must not cost their product.
TEST(Elf, SharedNamesAndChainsStayLinear) {
  const std::string name(200'000, 'n');
  ElfBuilder builder;
  for (int i = 0; i < 20'000; ++i) builder.symbol({.name = "s", .defined = false});
  std::string bytes = builder.define(name).build();
  const ElfFile file = parse(bytes);
  const Section& table = *file.find_section(".dynsym");
  const le32 offset = Bytes(bytes).get<le32>(table.offset + table.size - 24);
  for (std::uint64_t at = table.offset + 24; at < table.offset + table.size; at += 24) {
    bytes.replace(at, 4, reinterpret_cast<const char*>(&offset), 4);
  }
  const ElfFile hostile = parse(bytes);
  EXPECT_EQ(hostile.symbols.size(), 20'002U);
  EXPECT_EQ(hostile.problems.size(), 1U);
  std::uint64_t total = 0;
  for (const Symbol& s : hostile.symbols) total += s.name.size();
  EXPECT_LT(total, 70 * bytes.size());
}

TEST(Elf, EndlessListsAndStringsAreRefused) {
  ElfBuilder many;
  for (int i = 0; i < 4096; ++i) many.needed("l" + std::to_string(i));
  EXPECT_EQ(parse(many.build()).dynamic.needed.size(), 4096U);
  many.needed("one.more");
  EXPECT_THROW(parse(many.build()), Error);
  EXPECT_NO_THROW(parse(ElfBuilder().runpath(std::string(65536, ':')).build()));
  EXPECT_THROW(parse(ElfBuilder().runpath(std::string(65537, ':')).build()), Error);
}

TEST(Elf, DamagedFilesNeverDoWorseThanAnError) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (const Dialect& dialect : {Dialect{"", true, false, 62, Hash::both}, Dialect{"", false, true, 8, Hash::both}}) {
    const std::string good = library_for(dialect).build();
    int parsed = 0;
    for (int round = 0; round < 3000; ++round) {
      std::string bytes = good;
      for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        const ElfFile file = parse(bytes);
        (void)file.relocations_in(0, ~0ULL);
        ++parsed;
      } catch (const Error&) {}
    }
    EXPECT_GT(parsed, 1000);
  }
}

}  // namespace
}  // namespace wheelsmith::elf
