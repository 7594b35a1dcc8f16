#include "governor/cache/cache.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "governor/shim/shim_cache.h"

namespace wheelsmith::governor {
namespace {

// What ccache is told of a command line; "" where it is not asked.
std::string told(const std::string& line, const std::map<std::string, std::string>& files = {},
                 CachedCommand* whole = nullptr, const std::vector<std::string>& environment = {}) {
  const std::vector<std::string> argv = split_words(line);
  const ReadFile read = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  const auto command = read_command(argv, read);
  const auto cached = command ? cached_command(*command, argv, environment, "/base", read) : std::nullopt;
  if (cached && whole != nullptr) *whole = *cached;
  return cached ? join(cached->argv, " ") : "";
}

TEST(CachedCommandTest, OnlyCompilesOfOneSource) {
  EXPECT_EQ(told("gcc -c a.c -o a.o"), "-c a.c -o a.o");
  EXPECT_EQ(told("hipcc -c a.hip"), "-c a.hip");
  for (const char* line : {"gcc a.c -o a", "gcc -S a.c", "gcc -c a.c b.c", "ld a.o", "gfortran -c a.f", "gcc -o a a.o",
                           "clang++ -x cu -c a.cu -o a.o"}) {
    EXPECT_EQ(told(line), "") << line;
  }
}

TEST(CachedCommandTest, ExactWhereFoldersDoNotShow) {
  CachedCommand command;
  told("g++ -c a.cc -o a.o", {}, &command);
  EXPECT_FALSE(command.exact);
  told("g++ -ffile-prefix-map=/base/t=. -c a.cc -o a.o", {}, &command);
  EXPECT_TRUE(command.exact);
  EXPECT_FALSE(command.by_dependencies);
}

TEST(CachedCommandTest, NvccInWordsThatCcacheKnows) {
  CachedCommand command;
  EXPECT_EQ(told("nvcc --threads 4 -gencode arch=a,code=b -gencode=arch=c -c k.cu -o k.o", {}, &command),
            "--generate-code arch=a,code=b --generate-code=arch=c -c k.cu -o k.o -MD -MF k.o.wheelsmith.d");
  EXPECT_TRUE(command.exact && command.by_dependencies);
  EXPECT_EQ(command.dependencies, "k.o.wheelsmith.d");
  EXPECT_EQ(told("nvcc -t=4 --compile k.cu --output-file=k.o --generate-nonsystem-dependencies-with-compile "
                 "--dependency-output k.d -ccbin /usr/bin/g++",
                 {}, &command),
            "-c k.cu -o k.o -MF k.d -MD");
  EXPECT_EQ(command.dependencies, "");
  EXPECT_EQ(command.host_compiler, "/usr/bin/g++");
  // One knows the name of a file that the other does not.
  EXPECT_EQ(told("nvcc -MD -c k.cu -o k.o"), "");
  EXPECT_EQ(told("nvcc -c k.cu"), "");
  EXPECT_EQ(told("nvcc --keep -c k.cu -o k.o"), "");
}

TEST(CachedCommandTest, NvccOptionsFromFilesAndVariables) {
  EXPECT_EQ(told("nvcc --options-file x.rsp,y.rsp -dc k.cu -o k.o", {{"x.rsp", "-DA=1 -t 2"}, {"y.rsp", "'-DB=b c'"}}),
            "-DA=1 -DB=b c -dc k.cu -o k.o -MD -MF k.o.wheelsmith.d");
  EXPECT_EQ(told("nvcc -optf gone -c k.cu -o k.o"), "");
  EXPECT_EQ(told("nvcc -optf self -c k.cu -o k.o", {{"self", "-optf self"}}), "") << "it has no end";
  CachedCommand plain, other, mapped, elsewhere, host;
  told("nvcc -c k.cu -o k.o", {}, &plain);
  told("nvcc -c k.cu -o k.o", {}, &other, {"NVCC_APPEND_FLAGS=-DX"});
  EXPECT_NE(plain.more, other.more);
  told("nvcc -c k.cu -o k.o", {}, &mapped, {"NVCC_APPEND_FLAGS=-Xcompiler -ffile-prefix-map=/base/trees/a=."});
  told("nvcc -c k.cu -o k.o", {}, &elsewhere, {"NVCC_APPEND_FLAGS=-Xcompiler -ffile-prefix-map=/base/trees/b=."});
  EXPECT_EQ(mapped.more, elsewhere.more);
  told("nvcc -c k.cu -o k.o", {}, &host, {"NVCC_PREPEND_FLAGS=-ccbin=/base/trees/a/bin/c++"});
  EXPECT_EQ(host.host_compiler, "/base/trees/a/bin/c++");
  EXPECT_EQ(host.more, plain.more);
}

TEST(RedirectedTest, OnlyWhereItIsAnotherFile) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(redirected({"g++", "-c", "/x/a.cc", "-o", "./a.o"}, {"g++", "-c", "a.cc", "-o", "a.o"}),
            (Words{"g++", "-c", "/x/a.cc", "-o", "./a.o"}));
  EXPECT_EQ(redirected({"g++", "-c", "/x/a.cc", "-MF", "a.d", "-o", "a.o"},
                       {"g++", "-fdiagnostics-color", "-MF", "tmp.d", "-o", "tmp.o", "a.cc"}),
            (Words{"g++", "-c", "/x/a.cc", "-MF", "tmp.d", "-o", "tmp.o", "-fdiagnostics-color"}));
}

TEST(CacheSettingsTest, Table) {
  for (const char* good :
       {"redis://h", "redis://u:p@h:1?db=2", "redis+unix:///run/r", "http://h:8080/x", "file:///srv/c"})
    EXPECT_NO_THROW(check_cache_remote(good)) << good;
  for (const char* bad :
       {"", "h", "ftp://h", "https://h", "redis://", "http://h|bearer-token=x", "http://h\nmax_size=0"})
    EXPECT_THROW(check_cache_remote(bad), Error) << bad;
  for (const char* good : {"off", "1", "19"}) EXPECT_NO_THROW(check_cache_compression(good)) << good;
  for (const char* bad : {"", "0", "20", "on", "-1"}) EXPECT_THROW(check_cache_compression(bad), Error) << bad;
  CacheOptions options;
  options.folder = "/a $b";
  options.size = 5'000'000;
  options.compression = "off";
  const std::string text = cache_config(options, "asker");
  EXPECT_NE(text.find("cache_dir = /a $$b\n"), text.npos) << text;
  EXPECT_NE(text.find("max_size = 5000k\n"), text.npos) << text;
  EXPECT_NE(text.find("compression = false\n"), text.npos) << text;
  EXPECT_EQ(text.find("remote"), text.npos) << text;
}

TEST(CacheLogTest, Words) {
  const CacheOutcome hit = read_cache_log("# a.c\ndirect_cache_hit\nremote_storage_hit\n");
  EXPECT_TRUE(hit.remote && !hit.miss && !hit.remote_failed);
  const CacheOutcome miss = read_cache_log("cache_miss\nremote_storage_error\n");
  EXPECT_TRUE(miss.miss && miss.remote_failed);
}

}  // namespace
}  // namespace wheelsmith::governor
