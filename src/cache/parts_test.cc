#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "cache/cache.h"
#include "cache/dependencies.h"
#include "cache/entry.h"
#include "cache/path_map.h"
#include "cache/scan.h"
#include "cache/texts.h"
#include "cache/words.h"

namespace wheelsmith::cache {
namespace {

using Words = std::vector<std::string>;

TEST(CacheWords, SplitLikeCompilers) {
  EXPECT_EQ(split_words("a  b\n'c d' \"e\\\"f\" g\\ h ''"), (Words{"a", "b", "c d", "e\"f", "g h", ""}));
  EXPECT_EQ(split_words(" \n\t"), Words{});
}

TEST(CacheSettings, AcceptAndReject) {
  for (const char* good :
       {"redis://h", "redis://u:p@h:1?db=2", "redis+unix:///run/r", "http://h:8080/x", "file:///srv/c"})
    EXPECT_NO_THROW(check_remote(good)) << good;
  for (const char* bad : {"", "h", "ftp://h", "https://h", "redis://", "http://h x", "http://h\nmax_size=0"})
    EXPECT_THROW(check_remote(bad), Error) << bad;
  for (const char* good : {"off", "1", "19"}) EXPECT_NO_THROW(check_compression(good)) << good;
  for (const char* bad : {"", "0", "20", "on", "-1"}) EXPECT_THROW(check_compression(bad), Error) << bad;
}

// As GCC, clang and nvcc write them.
TEST(CacheDependencies, Parse) {
  EXPECT_EQ(read_dependencies("a.o: a.c \\\n /usr/include/x.h b.h\n\nb.h:\n"),
            (Words{"a.c", "/usr/include/x.h", "b.h"}));
  EXPECT_EQ(read_dependencies("k.o : k.cu \\\n    dev.h \\\n    dev.h\n"), (Words{"k.cu", "dev.h"}));
  EXPECT_EQ(read_dependencies("out/a\\ b.o: a\\ b.c x\\#y.h z$$.h\n"), (Words{"a b.c", "x#y.h", "z$.h"}));
  EXPECT_EQ(read_dependencies("a.o: a.c \\\r\n b.h\r\n"), (Words{"a.c", "b.h"}));
  EXPECT_EQ(read_dependencies("a.o:"), Words{});
  for (const char* bad : {"", "a.o", "a.o\n: a.c"}) EXPECT_FALSE(read_dependencies(bad)) << bad;
}

TEST(CacheDependencies, RoundTrip) {
  const Words names{"a b.c", "c#.h", "$d.h", "/usr/include/e.h"};
  EXPECT_EQ(read_dependencies(write_dependencies("t.o", names, true)), names);
  EXPECT_EQ(write_dependencies("t", {"a", "b"}, true), "t: \\\n a \\\n b\nb:\n");
}

TEST(CacheScan, FindsUnlistedDependencies) {
  const ScannedText text = scan_text(
      "#include \"a.h\"\n# include <b.h>\n#  include_next \"c/d.h\"\n#if __has_include(<e.h>) || __has_include ( "
      "\"f.h\" )\n"
      "#if __has_include_next(<g.h>)\n#include \"a.h\"\n#include \"open\n");
  EXPECT_EQ(text.quoted, (Words{"a.h", "c/d.h"}));
  EXPECT_EQ(text.asked, (Words{"e.h", "f.h", "g.h"}));
  EXPECT_FALSE(text.time || text.timestamp || text.other_files);
  EXPECT_TRUE(scan_text("x = __DATE__;").time);
  EXPECT_TRUE(scan_text("x = __TIME__").time);
  EXPECT_TRUE(scan_text("__TIMESTAMP__").timestamp);
  EXPECT_TRUE(scan_text("asm(\".incbin \\\"x\\\"\");").other_files);
}

TEST(CachePathMap, MapsFoldersToTheirNewNames) {
  PathMap here;
  PathMap there;
  here.add_from("-ffile-prefix-map=/a/tree=.");
  here.add_from("-Xcompiler=-O2,-ffile-prefix-map=/a/env/=env,-g");
  there.add_from("-ffile-prefix-map=/b/tree=.");
  there.add_from("-ffile-prefix-map=/b/env=env");
  for (const char* rest : {"tree/x.h", "env/lib/y.h", "tree"}) {
    const std::string known = here.known(std::string("/a/") + rest);
    EXPECT_EQ(there.local(known), std::string("/b/") + rest);
    EXPECT_EQ(known, there.known(std::string("/b/") + rest));
  }
  EXPECT_EQ(here.known("/a/treehouse/x.h"), "/a/treehouse/x.h");
  EXPECT_EQ(here.known("x.h"), "x.h");
  EXPECT_EQ(PathMap().local(here.known("/a/tree/x.h")), "");
  EXPECT_EQ(there.local_text(here.known_text("/a/tree/x.c:3: warning in '/a/env/q.h' /a/treehouse\n")),
            "/b/tree/x.c:3: warning in '/b/env/q.h' /a/treehouse\n");
}

TEST(CacheEntry, RejectsDamageAndOtherKeys) {
  const std::string content(10'000, 'x');
  for (const int level : {0, 1, 19}) {
    const std::string packed = pack_entry("key", content, level);
    EXPECT_EQ(unpack_entry("key", packed, 1 << 20), content) << level;
    EXPECT_FALSE(unpack_entry("other", packed, 1 << 20));
    EXPECT_FALSE(unpack_entry("key", packed, 9'999));
    for (std::size_t i = 0; i < packed.size(); i += 1 + packed.size() / 97) {
      std::string damaged = packed;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      EXPECT_FALSE(unpack_entry("key", damaged, 1 << 20)) << level << " byte " << i;
      EXPECT_FALSE(unpack_entry("key", packed.substr(0, i), 1 << 20)) << level << " byte " << i;
    }
  }
}

TEST(CacheEntry, UnitsRoundTrip) {
  Unit unit;
  for (int i = 0; i < 20; ++i) {
    Variant variant;
    variant.files = {"a.c", std::to_string(i)};
    variant.digests = {std::string(32, 'a'), std::string(32, static_cast<char>(i))};
    variant.names = {"x.h", ""};
    variant.search = "s";
    variant.beside = {"-y.h"};
    variant.result = std::to_string(i);
    unit.add(variant);
  }
  EXPECT_EQ(unit.variants.size(), 16U);
  EXPECT_EQ(unit.variants.front().result, "19");
  EXPECT_EQ(Unit::from_bytes(unit.to_bytes()).variants, unit.variants);
  const std::string bytes = unit.to_bytes();
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 10)
    EXPECT_THROW(Unit::from_bytes(bytes.substr(0, size)), Error) << size;
  EXPECT_THROW(TextReader(TextWriter().add_number(1ULL << 60).take()).list(), Error);
}

}  // namespace
}  // namespace wheelsmith::cache
