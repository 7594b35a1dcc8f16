#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zstd.h>

#include "archive/archive.h"
#include "archive/tar_header.h"
#include "base/error.h"
#include "testing/tar_builder.h"

namespace wheelsmith::archive {
namespace {

using testing::gzip;
using testing::pax_record;
using testing::TarBuilder;
using testing::TarMember;
using Kind = TarEntry::Kind;

// "name kind size mode mtime target [content]" per entry.
std::string told(const std::string& packed, const TarLimits& limits = {}) {
  std::string text;
  std::string content;
  const auto end_entry = [&] {
    if (!content.empty()) text += '[' + content + ']';
    content.clear();
    if (!text.empty()) text += '\n';
  };
  read_tar(
      Bytes(packed),
      [&](const TarEntry& entry) {
        end_entry();
        const char* const kinds[] = {"file", "folder", "symlink", "hardlink"};
        text += fmt::format("{} {} {} {:o} {}", entry.name, kinds[static_cast<int>(entry.kind)], entry.size, entry.mode,
                            entry.mtime);
        if (!entry.target.empty()) text += " -> " + entry.target;
      },
      [&](Bytes piece) { content += piece.text(); }, limits);
  end_entry();
  return text;
}

std::string error_of(const std::string& packed, const TarLimits& limits = {}) {
  try {
    return "no error: " + told(packed, limits);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string xz(const std::string& data) {
  std::string out(lzma_stream_buffer_bound(data.size()), '\0');
  std::size_t size = 0;
  const lzma_ret result =
      lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(data.data()),
                              data.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  EXPECT_EQ(result, LZMA_OK);
  out.resize(size);
  return out;
}

std::string zstd(const std::string& data) {
  std::string out(ZSTD_compressBound(data.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), data.data(), data.size(), 3));
  return out;
}

TarMember member(char type, const std::string& name, const std::string& target = "") {
  TarMember made;
  made.type = type;
  made.name = name;
  made.target = target;
  return made;
}

const char* const k_told =
    "p folder 0 644 1700000000\n"
    "p/a.py file 5 644 1700000000[pass\n]\n"
    "p/run file 0 4755 1700000000\n"
    "p/l symlink 0 644 1700000000 -> a.py\n"
    "p/h hardlink 0 644 1700000000 -> p/a.py\n";

std::string sample() {
  TarMember program = member('0', "p/run");
  program.mode = 04755;
  return TarBuilder()
      .add(member('5', "p/"))
      .add("./p//a.py", "pass\n")
      .add(program)
      .add(member('2', "p/l", "a.py"))
      .add(member('1', "p/h", "p/./a.py"))
      .build();
}

TEST(Tar, IsReadOutOfEachCompression) {
  const std::string tar = sample();
  EXPECT_EQ(told(tar), k_told);
  EXPECT_EQ(told(gzip(tar)), k_told);
  EXPECT_EQ(told(xz(tar)), k_told);
  EXPECT_EQ(told(zstd(tar)), k_told);
}

TEST(Tar, MayLieInSeveralPackedStreams) {
  const std::string tar = sample();
  const std::string first = tar.substr(0, 700);
  const std::string second = tar.substr(700);
  EXPECT_EQ(told(gzip(first) + gzip(second)), k_told);
  EXPECT_EQ(told(gzip(first) + gzip("") + gzip(second) + std::string(1000, '\0')), k_told);
  EXPECT_EQ(told(xz(first) + xz(second)), k_told);
  EXPECT_EQ(told(zstd(first) + zstd(second)), k_told);
  EXPECT_EQ(error_of(gzip(tar) + "x"), "gzip: unexpected bytes after the end of the data");
}

TEST(Tar, LargeContentComesInPieces) {
  std::string large;
  for (int i = 0; i < 200'000; ++i) large += fmt::format("line {}\n", i);
  const std::string packed = gzip(TarBuilder().add("a", large).add("b", "!").build());
  std::string got;
  std::uint64_t pieces = 0;
  read_tar(
      Bytes(packed), [](const TarEntry&) {},
      [&](Bytes piece) {
        got += piece.text();
        ++pieces;
      });
  EXPECT_EQ(got, large + "!");
  EXPECT_GT(pieces, large.size() / (300 << 10));
}

TEST(Tar, LongNamesOfAllWriters) {
  const std::string long_name = std::string(120, 'd') + "/" + std::string(150, 'f');
  TarMember pax = member('x', "pax");
  pax.data = pax_record("path", long_name) + pax_record("mtime", "12.75") + pax_record("comment", "hello");
  EXPECT_EQ(told(TarBuilder().add(pax).add("short", "1").add("next", "2").build()),
            long_name + " file 1 644 12[1]\nnext file 1 644 1700000000[2]\n");

  TarMember gnu = member('L', "././@LongLink");
  gnu.data = long_name + '\0';
  TarMember gnu_link = member('K', "././@LongLink");
  gnu_link.data = std::string(200, 't') + '\0';
  EXPECT_EQ(told(TarBuilder().add(gnu_link).add(gnu).add(member('2', "short", "cut")).build()),
            long_name + " symlink 0 644 1700000000 -> " + std::string(200, 't') + "\n");

  TarMember split = member('0', "file");
  split.prefix = "a/b";
  EXPECT_EQ(told(TarBuilder().add(split).build()), "a/b/file file 0 644 1700000000\n");
  split.gnu = true;  // there the field holds times
  EXPECT_EQ(told(TarBuilder().add(split).build()), "file file 0 644 1700000000\n");
}

TEST(Tar, GlobalRecordsHoldUntilTheyAreReplaced) {
  TarMember global = member('g', "pax_global_header");
  global.data = pax_record("comment", std::string(40, 'c')) + pax_record("mtime", "7");
  TarMember own = member('x', "pax");
  own.data = pax_record("mtime", "8");
  TarMember none = member('x', "pax");
  none.data = pax_record("mtime", "");
  EXPECT_EQ(told(TarBuilder().add(global).add("a", "").add(own).add("b", "").add(none).add("c", "").build()),
            "a file 0 644 7\nb file 0 644 8\nc file 0 644 1700000000\n");
}

TEST(Tar, PaxSizeWinsOverTheHeader) {
  TarMember pax = member('x', "pax");
  pax.data = pax_record("size", "3");
  TarMember file = member('0', "a");
  file.data = "abc";
  file.size_field = "00000000000";
  EXPECT_EQ(told(TarBuilder().add(pax).add(file).build()), "a file 3 644 1700000000[abc]\n");
}

TEST(Tar, NumbersInFields) {
  const auto number = [](std::string_view field) { return field_number(field); };
  EXPECT_EQ(number(std::string_view("0000644\0", 8)), 0644);
  EXPECT_EQ(number("   644 "), 0644);
  EXPECT_EQ(number(""), 0);
  EXPECT_EQ(number("9"), std::nullopt);
  EXPECT_EQ(number("-1"), std::nullopt);
  EXPECT_EQ(number(std::string_view("\x80\0\0\0\0\0\0\2\0\0\0\0", 12)), 0x200000000);
  EXPECT_EQ(number(std::string_view("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12)), INT64_MAX);
  EXPECT_EQ(number(std::string_view("\x80\0\0\0\x80\0\0\0\0\0\0\0", 12)), std::nullopt);
  EXPECT_EQ(number(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 12)), -2);
  EXPECT_EQ(number(std::string_view("\xff\0\0\0\xff\xff\xff\xff\xff\xff\xff\xfe", 12)), std::nullopt);
  TarMember file = member('0', "a");
  file.data = "abc";
  file.size_field = std::string("\x80\0\0\0\0\0\0\0\0\0\0\3", 12);
  EXPECT_EQ(told(TarBuilder().add(file).build()), "a file 3 644 1700000000[abc]\n");
}

TEST(Tar, HostileNamesAreRefused) {
  const std::pair<std::string, std::string> names[] = {
      {"/etc/passwd", "/etc/passwd: a member name must not be absolute"},
      {"a/../../b", "a/../../b: a member name must not contain \"..\""},
      {"..", "..: a member name must not contain \"..\""},
  };
  for (const auto& [name, error] : names) {
    EXPECT_EQ(error_of(TarBuilder().add(name, "x").build()), error);
    EXPECT_EQ(error_of(TarBuilder().add("f", "").add(member('1', "h", name)).build()), error);
  }
  TarMember pax = member('x', "pax");
  pax.data = pax_record("path", std::string("a\0/../b", 7));
  EXPECT_NE(error_of(TarBuilder().add(pax).add("f", "").build()).find("must not contain NUL"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 129; ++i) deep += "d/";
  pax.data = pax_record("path", deep + "f");
  EXPECT_NE(error_of(TarBuilder().add(pax).add("f", "").build()).find("deeper than 128"), std::string::npos);
  pax.data = pax_record("path", std::string(5000, 'n'));
  EXPECT_NE(error_of(TarBuilder().add(pax).add("f", "").build()).find("longer than 4096"), std::string::npos);
  EXPECT_EQ(told(TarBuilder().add("a\\..\\b..", "").add("...", "").build()),
            "a\\..\\b.. file 0 644 1700000000\n... file 0 644 1700000000\n");
}

TEST(Tar, OtherKindsAreRefused) {
  EXPECT_EQ(error_of(TarBuilder().add(member('3', "null")).build()),
            "tar: null is a character device, which is not supported");
  EXPECT_EQ(error_of(TarBuilder().add(member('4', "sda")).build()),
            "tar: sda is a block device, which is not supported");
  EXPECT_EQ(error_of(TarBuilder().add(member('6', "pipe")).build()), "tar: pipe is a FIFO, which is not supported");
  EXPECT_EQ(error_of(TarBuilder().add(member('S', "hole")).build()),
            "tar: hole is a sparse file, which is not supported");
  TarMember pax = member('x', "pax");
  pax.data = pax_record("GNU.sparse.major", "1");
  EXPECT_EQ(error_of(TarBuilder().add(pax).add("a", "").build()), "tar: sparse files are not supported");
  TarMember folder = member('5', "d/");
  folder.data = "hidden";
  EXPECT_EQ(error_of(TarBuilder().add(folder).build()), "tar: d is not a file, but has 6 bytes of content");
  EXPECT_EQ(error_of(TarBuilder().add(member('2', "l", "")).build()), "tar: the link l has no target");
}

TEST(Tar, WhatIsNoTar) {
  EXPECT_EQ(error_of(""), "not a tar archive: it is empty");
  EXPECT_EQ(error_of(std::string(2000, 'x')), "not a tar archive: its first header has no valid checksum");
  EXPECT_EQ(error_of("<html>not found</html>"), "tar: the archive is truncated in the middle of a header");
  EXPECT_NE(error_of("BZh91AY&SY").find("bzip2 data, which is not supported"), std::string::npos);
  EXPECT_EQ(told(TarBuilder().add("BZh", "x").build()), "BZh file 1 644 1700000000[x]\n");
}

TEST(Tar, CorruptionIsNoticed) {
  TarMember lie = member('0', "a");
  lie.checksum_field = "000001\0 ";
  EXPECT_EQ(error_of(TarBuilder().add("x", "").add(lie).build()),
            "tar: a header has no valid checksum: the archive is corrupt");
  std::string packed = gzip(sample());
  packed[packed.size() - 6] ^= 1;  // the checksum
  EXPECT_EQ(error_of(packed), "gzip: the data is corrupt (incorrect data check)");
  packed = xz(sample());
  packed[packed.size() / 2] ^= 1;
  EXPECT_EQ(error_of(packed), "xz: the data is corrupt");
  TarMember sized = member('0', "a");
  sized.size_field = "zzz";
  EXPECT_EQ(error_of(TarBuilder().add(sized).build()), "tar: the size in a header is not a number");
  for (const char* records : {"5 a=b\n", "999 path=x\n", "0 path=x\n", "x", "12 pathpathx\n", "6 =ab\n"}) {
    TarMember pax = member('x', "pax");
    pax.data = records;
    EXPECT_EQ(error_of(TarBuilder().add(pax).add("a", "").build()), "tar: a pax header is malformed") << records;
  }
}

TEST(Tar, EveryCutIsNoticed) {
  const std::string tar = sample();
  const std::string whole = tar.substr(0, tar.size() - 1024);
  for (std::size_t size = 0; size <= whole.size(); size += 64) {
    EXPECT_EQ(error_of(whole.substr(0, size)).find("no error"), std::string::npos) << size;
  }
  for (const std::string& packed : {gzip(tar), xz(tar), zstd(tar)}) {
    for (std::size_t size = 0; size < packed.size(); ++size) {
      EXPECT_EQ(error_of(packed.substr(0, size)).find("no error"), std::string::npos) << size;
    }
  }
  // A compressor that says its own end replaces the end mark.
  EXPECT_EQ(told(gzip(whole)), k_told);
}

TEST(Tar, BombsAreBounded) {
  std::string bomb = TarBuilder().add("zeros", std::string(4 << 20, '\0')).build();
  TarLimits limits;
  limits.free_bytes = 1'000'000;
  for (const std::string& packed : {gzip(bomb), xz(bomb), zstd(bomb)}) {
    EXPECT_NE(error_of(packed, limits).find("far more than its size allows"), std::string::npos);
  }
  limits = {};
  limits.bytes = 1'000'000;
  EXPECT_NE(error_of(gzip(bomb), limits).find("more than 1.0 MB"), std::string::npos) << error_of(gzip(bomb), limits);
  // A size that the archive cannot hold takes no memory.
  TarMember lie = member('0', "a");
  lie.size_field = std::string("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
  EXPECT_EQ(error_of(TarBuilder().add(lie).build()), "tar: the archive is truncated in the middle of an entry");
  TarMember records = member('x', "pax");
  records.size_field = "77777777777";
  EXPECT_EQ(error_of(TarBuilder().add(records).build()), "tar: a header exceeds 1 MB");
}

TEST(Tar, EntriesAreCounted) {
  TarBuilder builder;
  for (int i = 0; i < 50; ++i) builder.add(member('5', "d"));
  TarLimits limits;
  limits.entries = 49;
  EXPECT_EQ(error_of(builder.build(), limits), "tar: it has more than 49 entries");
  limits.entries = 50;
  EXPECT_EQ(error_of(builder.build(), limits).find("no error"), 0u);
  // Headers that belong to no entry count too.
  TarBuilder only_records;
  for (int i = 0; i < 201; ++i) only_records.add(member('x', "pax"));
  EXPECT_EQ(error_of(only_records.build(), limits), "tar: it has more than 50 entries");
}

}  // namespace
}  // namespace wheelsmith::archive
