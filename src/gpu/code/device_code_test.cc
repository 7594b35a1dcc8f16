#include "gpu/code/device_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpu/code/device_elf.h"
#include "gpu/code/unread_ranges.h"
#include "gpu/code/wrappers.h"
#include "testing/elf_builder.h"
#include "testing/fatbin_builder.h"

namespace wheelsmith::gpu {
namespace {

using testing::ElfBuilder;
using testing::FatbinBuilder;
using testing::HipBundleBuilder;
using Table = ElfBuilder::RelocationTable;
using Lines = std::vector<std::string>;

// "sm_90 sass .nv_fatbin wrapped 2": what a listing shows, one line each.
Lines lines(const DeviceCode& code) {
  Lines result;
  for (const CodeSum& sum : code.sums) {
    result.push_back(fmt::format("{} {} {}{}{} {}", display_name(sum.arch, sum.kind), to_string(sum.kind), sum.section,
                                 sum.wrapped ? " wrapped" : "", sum.relocatable ? " relocatable" : "", sum.count));
  }
  return result;
}

DeviceCode read_code(const std::string& bytes) { return read_device_code(elf::ElfFile::parse(Bytes(bytes))); }

ElfBuilder::Section data(std::string name, std::string contents, std::uint64_t flags = 2) {
  ElfBuilder::Section section;
  section.name = std::move(name);
  section.contents = std::move(contents);
  section.flags = flags;
  section.align = 4096;
  return section;
}

ElfBuilder::Relocation pointer(std::string from, std::uint64_t offset, std::string to, std::uint64_t to_offset,
                               Table table = Table::rela) {
  ElfBuilder::Relocation relocation;
  relocation.section = std::move(from);
  relocation.offset = offset;
  relocation.target = std::move(to);
  relocation.target_offset = to_offset;
  relocation.table = table;
  return relocation;
}

TEST(DeviceCode, NvidiaLibrary) {
  const std::string first = FatbinBuilder().sass(80).sass(90).packed(1, 90, "ptx").build();
  const std::string second = FatbinBuilder().sass(90, 100).build();
  const std::string unreached = FatbinBuilder().sass(75).build();
  // A red zone lies between the wrappers, as sanitizers make them.
  const std::string segment =
      testing::wrapper(k_nvidia_wrapper) + std::string(40, '\0') + testing::wrapper(k_nvidia_wrapper, 0, 2);
  for (const Table table : {Table::rela, Table::relr}) {
    const DeviceCode code = read_code(ElfBuilder()
                                          .section(data(".nv_fatbin", first + second + unreached))
                                          .section(data("__nv_relfatbin", second))
                                          .section(data(".cask_resource", "odd" + second))
                                          .section(data(".text", second, 6))
                                          .section(data(".debug_str", second, 0))
                                          .section(data(".nvFatBinSegment", segment, 3))
                                          .relocate(pointer(".nvFatBinSegment", 8, ".nv_fatbin", 0, table))
                                          .relocate(pointer(".nvFatBinSegment", 72, ".nv_fatbin", first.size(), table))
                                          .build());
    EXPECT_EQ(lines(code), (Lines{"sm_75 sass .nv_fatbin 1", "sm_80 sass .nv_fatbin wrapped 1",
                                  "sm_90 sass .cask_resource 1", "sm_90 sass .nv_fatbin wrapped 2",
                                  "sm_90 sass __nv_relfatbin relocatable 1", "compute_90 ptx .nv_fatbin wrapped 1"}));
    EXPECT_EQ(code.sums[3].bytes, 64U + 32U + 64U + 104U);
    EXPECT_EQ(code.sums[3].unpacked_bytes, 32U + 104U);
    EXPECT_TRUE(code.problems.empty());
  }
}

TEST(DeviceCode, WithoutSectionHeadersTheSegmentsAreSearched) {
  const std::string bytes = ElfBuilder()
                                .section(data(".nv_fatbin", FatbinBuilder().sass(80).build()))
                                .section(data(".hip_fatbin", HipBundleBuilder().object("gfx942", "code").build()))
                                .without_section_headers()
                                .build();
  EXPECT_EQ(lines(read_code(bytes)), (Lines{"sm_80 sass  1", "gfx942 hip  1"}));
}

TEST(DeviceCode, ProblemsNameThePlaceAndAreBounded) {
  std::string broken;
  for (int i = 0; i < 25; ++i) broken += FatbinBuilder().sass(80).claim_size(88).build();
  const DeviceCode code = read_code(ElfBuilder()
                                        .section(data(".nv_fatbin", FatbinBuilder().sass(90).build() + broken))
                                        .section(data(".rodata", FatbinBuilder().claim_size(1 << 20).build()))
                                        .build());
  EXPECT_EQ(lines(code), Lines{"sm_90 sass .nv_fatbin 1"});
  ASSERT_EQ(code.problems.size(), 21U);
  EXPECT_EQ(code.problems[0], "container at 0x70 in .nv_fatbin: the entry at 0x80 extends past the container's end");
  EXPECT_EQ(code.problems[20], "and 5 more");
}

TEST(DeviceCode, KindsThatAreNotKnownAreProblems) {
  FatbinBuilder::Entry entry;
  entry.kind = 0x40;
  entry.payload = "12345678";
  const std::string bytes = FatbinBuilder().entry(entry).sass(90).build();
  const DeviceCode code = read_device_code(file_kind(Bytes(bytes)), Bytes(bytes));
  EXPECT_EQ(lines(code), Lines{"sm_90 sass  1"});
  EXPECT_EQ(code.problems, Lines{"entry at 0x10: unknown kind 0x40"});
}

TEST(DeviceCode, HipLibrary) {
  std::string bundles = HipBundleBuilder().object("gfx90a", "12345").object("gfx1151", "123").build();
  bundles.resize(4096 * 4);
  const std::uint64_t second = bundles.size();
  bundles += HipBundleBuilder().object("gfx90a", "123").build_compressed(3);
  const std::string segment = testing::wrapper(k_hip_wrapper) + testing::wrapper(k_hip_wrapper);
  ElfBuilder::Symbol symbol;
  symbol.name = "__hip_fatbin_1";
  symbol.section = ".hip_fatbin";
  ElfBuilder::Relocation by_symbol;
  by_symbol.section = ".hipFatBinSegment";
  by_symbol.offset = 32;
  by_symbol.symbol = symbol.name;
  const ElfBuilder base =
      ElfBuilder().section(data(".hip_fatbin", bundles)).section(data(".hipFatBinSegment", segment, 3)).symbol(symbol);
  // Two wrappers of one bundle, the second by a symbol, as RDC links make them: the other bundle is found by its magic.
  EXPECT_EQ(
      lines(read_code(
          ElfBuilder(base).relocate(pointer(".hipFatBinSegment", 8, ".hip_fatbin", 0)).relocate(by_symbol).build())),
      (Lines{"gfx1151 hip .hip_fatbin wrapped 1", "gfx90a hip .hip_fatbin 1", "gfx90a hip .hip_fatbin wrapped 1"}));
  EXPECT_EQ(lines(read_code(ElfBuilder(base)
                                .relocate(pointer(".hipFatBinSegment", 8, ".hip_fatbin", 0))
                                .relocate(pointer(".hipFatBinSegment", 32, ".hip_fatbin", second))
                                .build())),
            (Lines{"gfx1151 hip .hip_fatbin wrapped 1", "gfx90a hip .hip_fatbin wrapped 2"}));
}

TEST(DeviceCode, HostLibraryOfAKpackArchive) {
  ElfBuilder::Section hollow = data(".hip_fatbin", "");
  hollow.type = 8;
  hollow.size = 1 << 20;
  hollow.flags = 3;
  const DeviceCode code =
      read_code(ElfBuilder()
                    .section(data(".rocm_kpack_ref", testing::kpack_reference("lib/libx.so", {"a", "b"})))
                    .section(data(".hipFatBinSegment", testing::wrapper(k_kpack_wrapper), 3))
                    .section(hollow)
                    .build());
  EXPECT_TRUE(code.sums.empty());
  EXPECT_TRUE(code.problems.empty());
  ASSERT_TRUE(code.kpack.has_value());
  EXPECT_EQ(code.kpack->kernel_name, "lib/libx.so");
  EXPECT_EQ(code.kpack->search_paths, (Lines{"a", "b"}));
  const DeviceCode broken = read_code(ElfBuilder().section(data(".rocm_kpack_ref", "\x82")).build());
  EXPECT_FALSE(broken.kpack.has_value());
  EXPECT_EQ(broken.problems.size(), 1U);
}

TEST(DeviceCode, KpackArchiveIsSummedUp) {
  const std::string bytes = testing::KpackBuilder()
                                .object("k#0", "gfx942", "1234")
                                .object("k#1", "gfx942", "12345")
                                .build(testing::KpackBuilder::Scheme::none);
  EXPECT_EQ(file_kind(Bytes(bytes)), FileKind::kpack);
  const DeviceCode code = read_device_code(FileKind::kpack, Bytes(bytes));
  EXPECT_EQ(lines(code), Lines{"gfx942 hip  2"});
  EXPECT_EQ(code.sums[0].bytes, 9U);
  EXPECT_EQ(read_device_code(FileKind::kpack, Bytes(bytes.data(), 70)).problems.size(), 1U);
}

TEST(DeviceCode, FilesThatAreDeviceCode) {
  const auto file = [](std::uint16_t machine, std::uint8_t abi, std::uint8_t version, std::uint32_t flags) {
    return ElfBuilder().machine(machine).os_abi(abi, version).flags(flags).type(2).without_dynamic().build();
  };
  EXPECT_EQ(lines(read_code(file(elf::k_machine_cuda, 0x33, 7, 0x500550))), Lines{"sm_80 sass  1"});
  EXPECT_EQ(lines(read_code(file(elf::k_machine_cuda, 0x41, 8, 0x6005a04))), Lines{"sm_90 sass  1"});
  EXPECT_EQ(lines(read_code(file(elf::k_machine_amdgpu, 0x40, 3, 0x73f))), Lines{"gfx90a:xnack+ hip  1"});
  EXPECT_EQ(lines(read_code(file(elf::k_machine_amdgpu, 0x40, 3, 0xe4c))), Lines{"gfx942:sramecc+:xnack- hip  1"});
  EXPECT_EQ(lines(read_code(file(elf::k_machine_amdgpu, 0x40, 4, 0x54))), Lines{"gfx11-generic hip  1"});
  const DeviceCode unknown = read_code(file(elf::k_machine_amdgpu, 0x40, 3, 0xff));
  EXPECT_TRUE(unknown.sums.empty());
  EXPECT_EQ(unknown.problems, Lines{"device code: unknown AMD processor 0xff"});
}

TEST(DeviceCode, ObjectsOfRelocatableHipCode) {
  const DeviceCode code =
      read_code(ElfBuilder()
                    .type(1)
                    .without_dynamic()
                    .section(data("__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx90a", "bitcode", 0))
                    .section(data("__CLANG_OFFLOAD_BUNDLE__host-x86_64-unknown-linux--", "", 0))
                    .section(data("__CLANG_OFFLOAD_BUNDLE__sycl-spir64", "bitcode", 0))
                    .build());
  EXPECT_EQ(lines(code), Lines{"gfx90a hip __CLANG_OFFLOAD_BUNDLE__ relocatable 1"});
  EXPECT_EQ(code.sums[0].bytes, 7U);
  EXPECT_TRUE(code.problems.empty());
}

TEST(DeviceCode, NothingIsWrappedInAnObject) {
  // Section and pointer are both at 0 there, and mean nothing.
  const DeviceCode code = read_code(ElfBuilder()
                                        .type(1)
                                        .without_dynamic()
                                        .section(data("__nv_relfatbin", FatbinBuilder().sass(90).build()))
                                        .section(data(".nvFatBinSegment", testing::wrapper(k_nvidia_wrapper), 3))
                                        .build());
  EXPECT_EQ(lines(code), Lines{"sm_90 sass __nv_relfatbin relocatable 1"});
}

TEST(FileKindTest, ByTheFirstBytes) {
  const auto kind = [](std::string_view head) { return file_kind(Bytes(head)); };
  EXPECT_EQ(kind("\x7f"
                 "ELF\x02\x01\x01"),
            FileKind::elf);
  EXPECT_EQ(kind(FatbinBuilder().build()), FileKind::nvidia_fatbin);
  EXPECT_EQ(kind("__CLANG_OFFLOAD_BUNDLE__"), FileKind::hip_bundle);
  EXPECT_EQ(kind("CCOB"), FileKind::hip_compressed_bundle);
  EXPECT_EQ(kind(""), FileKind::other);
  EXPECT_EQ(kind("PK\x03\x04"), FileKind::other);
}

TEST(UnreadRangesTest, HandsOutEveryByteOnce) {
  UnreadRanges unread;
  EXPECT_EQ(unread.take({10, 20}), (std::vector<Range>{{10, 20}}));
  EXPECT_EQ(unread.take({30, 40}), (std::vector<Range>{{30, 40}}));
  EXPECT_EQ(unread.take({0, 50}), (std::vector<Range>{{0, 10}, {20, 30}, {40, 50}}));
  EXPECT_TRUE(unread.take({5, 45}).empty());
  EXPECT_TRUE(unread.take({7, 7}).empty());
  EXPECT_EQ(unread.take({45, 60}), (std::vector<Range>{{50, 60}}));
}

}  // namespace
}  // namespace wheelsmith::gpu
