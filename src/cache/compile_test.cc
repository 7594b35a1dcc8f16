#include "cache/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "cache/words.h"

namespace wheelsmith::cache {
namespace {

using Words = std::vector<std::string>;

std::variant<Compile, Uncacheable> read(const std::string& command, const Words& environment = {},
                                        const std::map<std::string, std::string>& files = {},
                                        const std::string& identity = "gcc version 12") {
  CompileRequest request;
  request.argv = split_words(command);
  request.program = "/usr/bin/" + request.argv.front();
  request.identity = identity;
  request.folder = "/tree";
  request.environment = environment;
  const FileQuestions questions{[&](const std::string& path) -> std::optional<std::string> {
                                  const auto found = files.find(path);
                                  return found == files.end() ? std::nullopt : std::optional(found->second);
                                },
                                [&](const std::string& path) { return files.contains(path); }};
  return read_compile(request, questions);
}

Words key_of(const std::string& command, const Words& environment = {},
             const std::map<std::string, std::string>& files = {}) {
  const auto result = read(command, environment, files);
  if (const auto* why = std::get_if<Uncacheable>(&result)) return {"uncacheable: " + why->why};
  return std::get<Compile>(result).words;
}

TEST(CacheCompile, KeyContainsEveryInput) {
  const Words plain = key_of("gcc -O2 -c a.c -o a.o");
  for (const char* same :
       {"gcc -O2 -c a.c -o elsewhere/b.o", "gcc -O2 -c a.c -o a.o -MD -MF x.d", "gcc -O2 -c -oa.o a.c",
        "gcc -O2 -Iinclude -isystem /x -c a.c -o a.o", "gcc -O2 -c a.c -MMD -MP -MT x -MFy.d"})
    EXPECT_EQ(key_of(same), plain) << same;
  for (const char* other :
       {"gcc -O3 -c a.c -o a.o", "gcc -O2 -DX -c a.c -o a.o", "gcc -O2 -D X -c a.c", "gcc -O2 -c b.c",
        "gcc -O2 -g -c a.c", "gcc -O2 -c ./a.c", "gcc -O2 -include a.h -c a.c", "gcc -O2 -std=c11 -c a.c",
        "gcc -O2 -x c++ -c a.c", "gcc -O2 -fsomething-new -c a.c", "gcc -O2 -Wp,-D_FORTIFY_SOURCE=2 -c a.c"})
    EXPECT_NE(key_of(other), plain) << other;
  EXPECT_EQ(key_of("gcc -O2 -c a.c", {"SOURCE_DATE_EPOCH=1"}), key_of("gcc -O2 -c a.c", {"SOURCE_DATE_EPOCH=2"}));
  EXPECT_EQ(key_of("gcc -O2 -c a.c", {"CPATH=/a"}), key_of("gcc -O2 -c a.c", {"CPATH=/b"}));
  // -DX=1 -DY and -DX -D1=Y are different arguments.
  EXPECT_NE(key_of("gcc -DX=1 -DY -c a.c"), key_of("gcc -DY -DX=1 -c a.c"));
}

TEST(CacheCompile, RejectsUncacheableCommands) {
  for (const char* command : {"gcc a.c -o a",
                              "gcc -c a.c b.c",
                              "gcc -c a.o",
                              "gcc -S a.c",
                              "gcc -E -c a.c",
                              "gcc -M -c a.c",
                              "gcc -c",
                              "gcc -c a.c -o -",
                              "gcc --coverage -c a.c",
                              "gcc -fprofile-generate -c a.c",
                              "gcc -save-temps -c a.c",
                              "gcc -gsplit-dwarf -c a.c",
                              "gcc -fplugin=x.so -c a.c",
                              "gcc -specs=x -c a.c",
                              "gcc -Bdir -c a.c",
                              "gcc -Wp,-MD,x.d -c a.c",
                              "gcc -MF x.d -c a.c",
                              "gcc -I=x -c a.c",
                              "gcc -c a.s",
                              "gcc -x assembler -c a.c",
                              "gcc -Wa,-ahl=x -c a.c",
                              "gcc @gone -c a.c",
                              "gcc -frecord-gcc-switches -c a.c",
                              "gcc -fdump-tree-all -c a.c",
                              "gcc -c a.cu",
                              "nvcc -c k.cu",
                              "nvcc --keep -c k.cu -o k.o",
                              "nvcc -arch=native -c k.cu -o k.o",
                              "nvcc -arch native -c k.cu -o k.o",
                              "nvcc --gpu-architecture=native -c k.cu -o k.o",
                              "nvcc -MD -c k.cu -o k.o",
                              "nvcc -ptx k.cu -o k.ptx",
                              "nvcc k.cu -o k"})
    EXPECT_TRUE(std::holds_alternative<Uncacheable>(read(command))) << command;
  EXPECT_TRUE(std::holds_alternative<Uncacheable>(read("gcc -c a.c", {"DEPENDENCIES_OUTPUT=x"})));
}

TEST(CacheCompile, RunsTheCommandAndRequestsDependencies) {
  const auto argv = [](const std::string& command) {
    const auto result = read(command);
    return join(std::get<Compile>(result).argv, " ");
  };
  EXPECT_EQ(argv("gcc -c a.c -o x/a.o"), "/usr/bin/gcc -c a.c -o x/a.o -MD -MF x/a.o.wheelsmith.d");
  EXPECT_EQ(argv("gcc -MD -c a.c -o x/a.o"), "/usr/bin/gcc -MD -c a.c -o x/a.o -MF x/a.d");
  EXPECT_EQ(argv("gcc -MD -MF q -c a.c"), "/usr/bin/gcc -MD -MF q -c a.c");
  // Without system headers a change could go unnoticed.
  EXPECT_EQ(argv("gcc -MMD -MF q -c a.c"), "/usr/bin/gcc -MD -MF q -c a.c");
  EXPECT_TRUE(std::holds_alternative<Compile>(read("nvcc -D_native_EXPORTS -c k.cu -o k.o")));
  EXPECT_EQ(argv("nvcc -c k.cu -o k.o"), "/usr/bin/nvcc -c k.cu -o k.o -MD -MF k.o.wheelsmith.d");
  const Compile plain = std::get<Compile>(read("gcc -c dir/a.c"));
  EXPECT_EQ(plain.output, "a.o");
  EXPECT_EQ(std::get<Compile>(read("gcc -MD -MT 'x y' -MQ 'a b' -c a.c")).target, "x y a\\ b");
}

TEST(CacheCompile, CountsFilesNamedByOptions) {
  const std::map<std::string, std::string> files{
      {"/tree/list", "x"}, {"/tree/words", "-O2 -DX"}, {"/tree/bad", "-MMD"}};
  EXPECT_EQ(std::get<Compile>(read("clang -fsanitize-ignorelist=list -c a.c", {}, files)).inputs, Words{"/tree/list"});
  EXPECT_EQ(key_of("gcc @words -c a.c", {}, files), key_of("gcc -O2 -DX -c a.c"));
  EXPECT_TRUE(std::holds_alternative<Uncacheable>(read("gcc @bad -c a.c", {}, files)));
}

TEST(CacheCompile, IgnoresThePathOfMappedFolders) {
  EXPECT_EQ(key_of("gcc -g -ffile-prefix-map=/a/t=. -c /a/t/x.c", {"PWD=/a/t/build"}),
            key_of("gcc -g -ffile-prefix-map=/b/t=. -c /b/t/x.c", {"PWD=/b/t/build"}));
  EXPECT_NE(key_of("gcc -g -c x.c", {"PWD=/a/t"}), key_of("gcc -g -c x.c", {"PWD=/b/t"}));
  // A macro's text is in the object whatever the map says.
  EXPECT_NE(key_of("gcc -ffile-prefix-map=/a/t=. -DROOT=\\\"/a/t\\\" -c /a/t/x.c"),
            key_of("gcc -ffile-prefix-map=/b/t=. -DROOT=\\\"/b/t\\\" -c /b/t/x.c"));
}

TEST(CacheCompile, ReadsNvccCommands) {
  const Words plain = key_of("nvcc -O3 -gencode arch=compute_80,code=sm_80 -c k.cu -o k.o");
  for (const char* same : {"nvcc -O3 -gencode arch=compute_80,code=sm_80 --threads 4 -c k.cu -o k.o",
                           "nvcc -O3 -gencode arch=compute_80,code=sm_80 -t4 --compile k.cu --output-file=x.o",
                           "nvcc -O3 -gencode arch=compute_80,code=sm_80 -Ia,b -ccbin /usr/bin/g++ -c k.cu -o k.o"})
    EXPECT_EQ(key_of(same), plain) << same;
  for (const char* other : {"nvcc -O3 -gencode arch=compute_90,code=sm_90 -c k.cu -o k.o",
                            "nvcc -O3 -gencode arch=compute_80,code=sm_80 -dc k.cu -o k.o",
                            "nvcc -O3 -gencode arch=compute_80,code=sm_80 -Xcompiler -fPIC -c k.cu -o k.o"})
    EXPECT_NE(key_of(other), plain) << other;
  const std::string command = "nvcc -c k.cu -o k.o";
  EXPECT_NE(key_of(command, {"NVCC_APPEND_FLAGS=-O1"}), key_of(command));
  EXPECT_EQ(key_of(command, {"NVCC_APPEND_FLAGS=-Xcompiler -ffile-prefix-map=/a=.", "PWD=/a"}),
            key_of(command, {"NVCC_APPEND_FLAGS=-Xcompiler -ffile-prefix-map=/b=.", "PWD=/b"}));
  const std::map<std::string, std::string> files{{"/tree/o", "-O1"}, {"o", "-ccbin clang"}};
  EXPECT_NE(key_of("nvcc -optf o -c k.cu -o k.o", {}, files), key_of(command));
  const FileQuestions questions{[&](const std::string& path) -> std::optional<std::string> { return files.at(path); },
                                {}};
  EXPECT_EQ(nvcc_host_compiler({"nvcc", "-ccbin=/x/g++"}, {}, questions), "/x/g++");
  EXPECT_EQ(nvcc_host_compiler({"nvcc", "-c", "k.cu"}, {"NVCC_CCBIN=/y"}, questions), "/y");
  EXPECT_EQ(nvcc_host_compiler({"nvcc", "--options-file", "o"}, {}, questions), "clang");
  EXPECT_EQ(nvcc_host_compiler({"nvcc", "-ccbin"}, {"NVCC_APPEND_FLAGS=--compiler-bindir q"}, questions), "q");
}

TEST(CacheCompile, HipListsTheHeadersOfAllPasses) {
  const auto hip = read("clang++ -x hip --offload-arch=gfx90a -c k.cc -o k.o", {}, {}, "clang version 19");
  ASSERT_TRUE(std::holds_alternative<Compile>(hip));
  EXPECT_TRUE(std::get<Compile>(hip).lists_headers);
  EXPECT_TRUE(std::holds_alternative<Uncacheable>(read("g++ -x hip -c k.cc -o k.o")));
}

TEST(CacheCompile, RequestsRoundTrip) {
  CompileRequest request;
  request.program = "/gcc";
  request.identity = std::string("a\0b", 3);
  request.tools = {"/as"};
  request.folder = "/f";
  request.argv = {"gcc", ""};
  request.environment = {"A=b"};
  request.search = {"/usr/include"};
  const CompileRequest read = CompileRequest::from_bytes(request.to_bytes());
  EXPECT_EQ(read.to_bytes(), request.to_bytes());
  EXPECT_EQ(read.argv, request.argv);
}

}  // namespace
}  // namespace wheelsmith::cache
