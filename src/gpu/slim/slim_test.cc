#include "gpu/slim/slim.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/error.h"
#include "gpu/code/fatbin.h"
#include "gpu/slim/bundle_entries.h"
#include "testing/elf_builder.h"
#include "testing/fatbin_builder.h"

namespace wheelsmith::gpu {
namespace {

using testing::ElfBuilder;
using testing::FatbinBuilder;
using testing::HipBundleBuilder;

KeepSet keep_of(std::string_view archs) {
  KeepSet keep;
  keep.add(ArchList::parse(archs));
  return keep;
}

std::vector<CodePiece> pieces_of(std::string_view words) {
  std::vector<CodePiece> pieces;
  for (const ArchRequest& request : ArchList::parse(words).requests) {
    const bool amd = request.arch.vendor == Vendor::amd;
    if (request.binary) pieces.push_back({request.arch, amd ? CodeKind::hip : CodeKind::sass});
    if (request.ptx) pieces.push_back({request.arch, CodeKind::ptx});
  }
  return pieces;
}

TEST(Keep, FollowsTheDriversRules) {
  struct Row {
    const char* code;
    const char* keep;
    const char* kept;
  };
  const Row rows[] = {
      {"8.0;8.6;9.0", "9.0", "sm_90"},
      {"8.0;8.6;9.0", "8.6", "sm_86"},
      {"8.0;9.0", "8.6", "sm_80"},                                 // the driver takes sm_80 on an 8.6
      {"8.0;8.6;9.0", "8.9", "sm_86"},                             // the newest that runs
      {"8.0;9.0", "8.0;8.6", "sm_80"},                             //
      {"9.0;9.0a;10.0", "9.0", "sm_90 sm_90a"},                    // it is not documented which one is preferred
      {"9.0;9.0a;10.0", "10.3", "sm_100"},                         //
      {"10.0a;10.0f;10.0", "10.3", "sm_100f sm_100"},              // "a" runs on 10.0 only
      {"8.0;9.0+PTX", "8.0", "sm_80"},                             // PTX goes unless requested
      {"8.0;9.0+PTX", "12.0", "compute_90"},                       // JIT is all there is
      {"7.0+PTX;8.0+PTX;9.0+PTX", "8.9+PTX", "sm_80 compute_80"},  // the newest PTX that reaches 8.9
      {"8.0+PTX;9.0+PTX", "9.0+PTX", "sm_90 compute_90"},
      {"8.0;9.0", "7.5", ""},  // it had no code for it before, either
      {"gfx90a;gfx942;gfx1100", "gfx942", "gfx942"},
      {"gfx90a:xnack+;gfx90a:xnack-", "gfx90a", "gfx90a:xnack+ gfx90a:xnack-"},
      {"gfx90a:xnack+;gfx90a:xnack-", "gfx90a:xnack-", "gfx90a:xnack-"},
      {"gfx9-4-generic;gfx90a", "gfx942", "gfx9-4-generic"},
      {"gfx9-4-generic;gfx942", "gfx942", "gfx942"},
      {"8.0;9.0", "gfx942", ""},
  };
  for (const Row& row : rows) {
    const std::vector<CodePiece> pieces = pieces_of(row.code);
    const std::vector<bool> kept = kept_pieces(pieces, keep_of(row.keep));
    std::string names;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (kept[i]) names += (names.empty() ? "" : " ") + display_name(pieces[i].arch, pieces[i].kind);
    }
    EXPECT_EQ(names, row.kept) << row.code << " for " << row.keep;
  }
}

// A library with two containers and a wrapper for each.
std::string library(const std::vector<std::string>& containers, ElfBuilder::RelocationTable table = {}) {
  std::string section, wrappers;
  ElfBuilder builder;
  std::vector<std::uint64_t> places;
  for (const std::string& container : containers) {
    places.push_back(section.size());
    section += container;
    wrappers += testing::wrapper(0x466243B1);
  }
  builder.soname("libdemo.so").needed("libc.so.6").define("demo").build_id("0123456789abcdef");
  builder.section({.name = ".before", .contents = std::string(100, 'b')});
  builder.section({.name = ".nv_fatbin", .contents = section});
  builder.section({.name = ".after", .contents = std::string(5000, 'a')});
  builder.section({.name = ".nvFatBinSegment", .flags = 3, .contents = wrappers});
  for (std::size_t i = 0; i < places.size(); ++i)
    builder.relocate({.section = ".nvFatBinSegment",
                      .offset = 24 * i + 8,
                      .target = ".nv_fatbin",
                      .target_offset = places[i],
                      .table = table,
                      .in_place = true});
  return builder.build();
}

std::map<std::string, std::uint64_t> listing(Bytes file) {
  std::map<std::string, std::uint64_t> counts;
  const DeviceCode code = read_device_code(file_kind(file), file);
  EXPECT_TRUE(code.problems.empty()) << code.problems[0];
  for (const CodeSum& sum : code.sums) counts[display_name(sum.arch, sum.kind)] += sum.count;
  return counts;
}

using Counts = std::map<std::string, std::uint64_t>;

TEST(Slim, CompactsAndShortensALibrary) {
  const std::string one = FatbinBuilder().sass(80, 200000).sass(90, 30000).sass(100, 100000).build();
  const std::string two = FatbinBuilder().sass(90, 1000).sass(80, 150000).build();
  for (const auto table : {ElfBuilder::RelocationTable::rela, ElfBuilder::RelocationTable::relr}) {
    const std::string file = library({one, two}, table);
    for (const bool shorten : {false, true}) {
      const Slimmed slimmed = slim_code(Bytes(file), keep_of("9.0"), {.shorten = shorten});
      ASSERT_TRUE(slimmed.changed);
      EXPECT_EQ(slimmed.kept_bytes(), 2 * 64 + 31000U);
      const Buffer made = slimmed.splice.apply(Bytes(file));
      EXPECT_EQ(listing(made.bytes()), (Counts{{"sm_90", 2}}));
      EXPECT_TRUE(prove_slim(Bytes(file), made.bytes()).empty());
      if (shorten) {
        EXPECT_LT(made.size(), 60000U) << (slimmed.notes.empty() ? "" : slimmed.notes[0]);
      } else {
        EXPECT_EQ(made.size(), file.size());
      }
    }
  }
}

TEST(Slim, AProofRefusesOtherChanges) {
  const std::string file = library({FatbinBuilder().sass(80, 200000).sass(90, 3000).build()});
  const Slimmed slimmed = slim_code(Bytes(file), keep_of("9.0"), {});
  const Buffer made = slimmed.splice.apply(Bytes(file));
  const std::string good(made.bytes().text());
  ASSERT_TRUE(prove_slim(Bytes(file), Bytes(good)).empty());
  const auto is_refused = [&](std::size_t at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    return !prove_slim(Bytes(file), Bytes(bad)).empty();
  };
  EXPECT_TRUE(is_refused(good.find(std::string(100, 'b')) + 5));
  EXPECT_TRUE(is_refused(good.find(std::string(5000, 'a')) + 4999));
  EXPECT_TRUE(is_refused(good.find(k_fatbin_magic) + 16 + 64 + 100));  // in the payload that stays
}

TEST(Slim, LeavesCodeThatTheLibraryLoadsByItself) {
  const std::string code = FatbinBuilder().sass(80, 200000).sass(90, 3000).build();
  const std::string file = ElfBuilder().section({.name = ".nv_fatbin", .contents = code}).build();
  EXPECT_FALSE(slim_code(Bytes(file), keep_of("9.0"), {}).changed);
}

TEST(Slim, RandomKeepSetsKeepBytes) {
  const auto seed = static_cast<std::uint32_t>(std::random_device()());
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  const std::uint32_t archs[] = {75, 80, 86, 89, 90, 100, 103, 120};
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> containers;
    for (std::uint32_t left = 1 + random() % 4; left != 0; --left) {
      FatbinBuilder builder;
      for (const std::uint32_t arch : archs) {
        if (random() % 2 == 0) builder.sass(arch, 8 * (1 + random() % 20000));
        if (random() % 6 == 0) builder.packed(1, arch, "ptx");
      }
      containers.push_back(builder.build());
    }
    KeepSet keep;
    for (const std::uint32_t arch : archs) {
      if (random() % 4 == 0) keep.add(Device{"x", nvidia_arch(arch)});
      if (random() % 8 == 0) keep.ptx.push_back(nvidia_arch(arch));
    }
    if (keep.empty()) continue;
    const std::string file = library(containers);
    const Slimmed slimmed = slim_code(Bytes(file), keep, {});
    if (!slimmed.changed) continue;
    const Buffer made = slimmed.splice.apply(Bytes(file));
    EXPECT_EQ(prove_slim(Bytes(file), made.bytes()), std::vector<std::string>());
    // No GPU that found code before finds none now.
    const auto sums = [&](Bytes bytes) { return read_device_code(FileKind::elf, bytes).sums; };
    for (const Device& device : keep.devices) {
      const auto runs = [&](const std::vector<CodeSum>& all) {
        for (const CodeSum& sum : all) {
          if (fit(sum.arch, sum.kind, device.arch) != Fit::none) return true;
        }
        return false;
      };
      EXPECT_EQ(runs(sums(Bytes(file))), runs(sums(made.bytes())));
    }
    // A second time there is nothing left to do.
    EXPECT_FALSE(slim_code(made.bytes(), keep, {}).changed);
  }
}

TEST(Slim, BundlesOfEveryForm) {
  HipBundleBuilder builder;
  std::string code;
  for (int i = 0; i < 5000; ++i) code += fmt::format("{} ", i * i);
  builder.object("gfx90a", code + "a").object("gfx942", code + "b").object("gfx1100", code + "c");
  std::vector<std::string> forms = {builder.build()};
  for (const int version : {1, 2, 3}) {
    forms.push_back(builder.build_compressed(version, HipBundleBuilder::Method::zstd));
    forms.push_back(builder.build_compressed(version, HipBundleBuilder::Method::zlib));
  }
  for (const std::string& form : forms) {
    const Slimmed slimmed = slim_code(Bytes(form), keep_of("gfx942"), {});
    ASSERT_TRUE(slimmed.changed);
    const Buffer made = slimmed.splice.apply(Bytes(form));
    EXPECT_LT(made.size(), form.size());
    EXPECT_EQ(listing(made.bytes()), (Counts{{"gfx942", 1}}));
    const OpenBundle open = open_bundle(made.bytes());
    ASSERT_EQ(open.entries.size(), 2U);
    EXPECT_EQ(open.plain.bytes.slice(open.entries[1].offset, open.entries[1].size).text(), code + "b");
    // In a library it stays at its place.
    const std::string file =
        ElfBuilder()
            .section({.name = ".hip_fatbin", .align = 4096, .contents = form})
            .section({.name = ".hipFatBinSegment", .flags = 3, .contents = testing::wrapper(0x48495046)})
            .relocate({.section = ".hipFatBinSegment", .offset = 8, .target = ".hip_fatbin"})
            .build();
    const Slimmed host = slim_code(Bytes(file), keep_of("gfx942"), {});
    ASSERT_TRUE(host.changed);
    EXPECT_EQ(listing(host.splice.apply(Bytes(file)).bytes()), (Counts{{"gfx942", 1}}));
    EXPECT_EQ(host.splice.size(), file.size());
  }
}

TEST(Slim, FilesOfDeviceCodeGoAsAWhole) {
  const std::string fatbin = FatbinBuilder().sass(80, 1000).build();
  EXPECT_TRUE(slim_code(Bytes(fatbin), keep_of("9.0"), {}).empty);
  EXPECT_FALSE(slim_code(Bytes(fatbin), keep_of("8.6"), {}).changed);
  EXPECT_FALSE(slim_code(Bytes(fatbin), keep_of("gfx942"), {}).changed);  // another vendor's code is not concerned
  const std::string cubin =
      ElfBuilder().type(2).machine(190).os_abi(0x41, 8).flags(0x6005a04).without_dynamic().build();
  EXPECT_TRUE(slim_code(Bytes(cubin), keep_of("8.0"), {}).empty);
  EXPECT_FALSE(slim_code(Bytes(cubin), keep_of("9.0"), {}).changed);
  const std::string kpack =
      testing::KpackBuilder().object("k#0", "gfx90a", "code").build(testing::KpackBuilder::Scheme::none);
  EXPECT_TRUE(slim_code(Bytes(kpack), keep_of("gfx942"), {}).empty);
  EXPECT_FALSE(slim_code(Bytes(kpack), keep_of("gfx90a"), {}).changed);
}

TEST(Slim, RebuildsArchivesOfSeveralTargets) {
  using testing::KpackBuilder;
  KpackBuilder builder;
  const std::string one(300, '1'), two(5000, '2'), three(70, '3');
  builder.object("lib/a.so#0", "gfx90a", one).object("lib/a.so#0", "gfx942", two).object("lib/b.so#1", "gfx942", three);
  for (const auto scheme : {KpackBuilder::Scheme::none, KpackBuilder::Scheme::zstd_per_kernel}) {
    const std::string archive = builder.build(scheme);
    const Slimmed slimmed = slim_code(Bytes(archive), keep_of("gfx90a"), {});
    ASSERT_TRUE(slimmed.changed && !slimmed.empty);
    const Buffer made = slimmed.splice.apply(Bytes(archive));
    EXPECT_LT(made.size(), archive.size());
    EXPECT_EQ(listing(made.bytes()), (Counts{{"gfx90a", 1}}));
    EXPECT_TRUE(prove_slim(Bytes(archive), made.bytes()).empty());
    EXPECT_FALSE(slim_code(made.bytes(), keep_of("gfx90a"), {}).changed);
  }
}

}  // namespace
}  // namespace wheelsmith::gpu
