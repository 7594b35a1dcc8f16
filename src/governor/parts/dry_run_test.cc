#include "governor/parts/dry_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "governor/parts/clang_jobs.h"
#include "governor/parts/dry_run_samples.h"
#include "governor/parts/line_markers.h"
#include "governor/parts/shell_words.h"
#include "governor/shim/part_task.h"

namespace wheelsmith::governor {
namespace {

PartGraph graph_of(std::string_view text) {
  auto read = read_dry_run(text);
  const auto* whole = std::get_if<Whole>(&read);
  EXPECT_EQ(whole, nullptr) << whole->why;
  return whole == nullptr ? std::get<PartGraph>(read) : PartGraph();
}
std::string why_whole(std::string_view text) {
  const auto read = read_dry_run(text);
  const auto* whole = std::get_if<Whole>(&read);
  return whole == nullptr ? "it is not" : whole->why;
}
std::string labels(const PartGraph& graph) {
  std::vector<std::string> list;
  for (const Part& part : graph.parts)
    list.push_back(part.kind == PartKind::dependencies ? "dependencies" : part_label(part));
  return join(list, ", ");
}
const Part& part_of(const PartGraph& graph, std::string_view label) {
  return *std::find_if(graph.parts.begin(), graph.parts.end(),
                       [&](const Part& part) { return part_label(part) == label; });
}
std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  for (std::size_t at = result.find(from); at != result.npos; at = result.find(from, at + to.size()))
    result.replace(at, from.size(), to);
  return result;
}

TEST(DryRunTest, ShowsThePartsOfACompile) {
  const PartGraph graph = graph_of(dry_runs::two_archs);
  EXPECT_EQ(labels(graph),
            "preprocess compute_80, preprocess compute_90, preprocess, dependencies, cudafe++, cicc compute_80, ptxas "
            "sm_80, cicc compute_90, ptxas sm_90, fatbinary, host");
  EXPECT_EQ(graph.archs, "800,900");
  EXPECT_EQ(graph.source, "k.cu");
  EXPECT_EQ(graph.devices(), 2U);
  EXPECT_EQ(graph.parts.back().output, "k.o");
  EXPECT_EQ(graph.parts[3].output, "k.d");
  EXPECT_EQ(graph.parts[3].reads,
            (std::vector<std::string>{"k.compute_80.cpp1.ii", "k.compute_90.cpp1.ii", "k.cpp4.ii"}));
  EXPECT_EQ(part_of(graph, "cicc compute_80").reads, (std::vector<std::string>{"k.module_id", "k.compute_80.cpp1.ii"}));
  EXPECT_EQ(part_of(graph, "host").reads,
            (std::vector<std::string>{"k.compute_90.cudafe1.cpp", "k.compute_90.cudafe1.stub.c", "k.fatbin.c"}));
  const std::vector<std::string> ptxas = argv_in(part_of(graph, "ptxas sm_90").argv, "/t");
  EXPECT_EQ(join(ptxas, " "), "ptxas -arch=sm_90 -m64 /t/k.compute_90.ptx -o /t/k.compute_90.sm_90.cubin");
  EXPECT_EQ(argv_in(part_of(graph, "host").argv, "/t").back(), "/t/result");
}

TEST(DryRunTest, ReadsOtherSpellings) {
  EXPECT_EQ(
      labels(graph_of(dry_runs::relocatable)),
      "preprocess, cudafe++, preprocess compute_80, cicc compute_80, ptxas sm_80, ptxas sm_86, preprocess compute_90a, "
      "cicc compute_90a, ptxas sm_90a, fatbinary, host");
  EXPECT_EQ(labels(graph_of(dry_runs::one_arch)),
            "preprocess, cudafe++, preprocess compute_90, cicc compute_90, ptxas sm_90, fatbinary, host");
  EXPECT_EQ(labels(graph_of(dry_runs::fatbin)), "preprocess compute_90, cicc compute_90, ptxas sm_90, fatbinary");
  EXPECT_EQ(labels(graph_of(dry_runs::link_time)),
            "preprocess, cudafe++, preprocess compute_90, cicc compute_90, fatbinary, host");
  const PartGraph clang = graph_of(dry_runs::by_clang);
  EXPECT_NE(std::find(clang.parts[0].argv.begin(), clang.parts[0].argv.end(), "-DX=a b"), clang.parts[0].argv.end());
  EXPECT_EQ(graph_of(dry_runs::native).messages,
            "nvcc warning : Cannot find valid GPU for '-arch=native', default arch is used\n");
}

TEST(DryRunTest, LeavesWhatItDoesNotKnowWhole) {
  EXPECT_EQ(why_whole(dry_runs::two_sources), "it has more than one source");
  EXPECT_EQ(why_whole(dry_runs::program), "it links");
  EXPECT_EQ(why_whole(dry_runs::kept), "it keeps its temporary files, or its result is preprocessed text");
  EXPECT_EQ(why_whole(dry_runs::threads), "nvcc runs a command that needs a shell");
  EXPECT_EQ(why_whole(""), "nvcc runs no command");
  struct {
    const char *from, *to, *why;
  } const rows[] = {
      {"#$ fatbinary", "#$ new_tool", "it links, or runs a command that is not known"},
      {"-arch=sm_80 -m64", "-arch=sm_80 --log /tmp/tmpxft_0000172d_00000000-9_log",
       "an argument looks like a temporary file"},
      {"#$ ptxas -arch=sm_90", "#$ NAME=value\n#$ ptxas -arch=sm_90", "nvcc sets a variable between its commands"},
      {"#$ ptxas -arch=sm_90", "a message\n#$ ptxas -arch=sm_90", "nvcc printed a message between its commands"},
      {"--module_id_file_name \"/tmp/tmpxft_0000172d_00000000-4_k.module_id\" --gen_c",
       "--module_id_file_name \"/tmp/m\" --gen_c", "a part reads a file that no other part makes"},
      {"-c -x c++", "-x c++", "it links, or runs a command that is not known"},
      {"$CICC_PATH", "$NO_PATH", "nvcc runs a command that needs a shell"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(why_whole(replaced(dry_runs::two_archs, row.from, row.to)), row.why) << row.from;
  // Two runs of nvcc in one text: other temporary files with the same names.
  const std::string other = replaced(dry_runs::one_arch, "tmpxft_0000172d", "tmpxft_0000172e");
  EXPECT_NE(why_whole(std::string(dry_runs::one_arch) + other), "it is not");
}

TEST(DryRunTest, NamesAPartTheSameBesideOtherArchitectures) {
  const PartGraph two = graph_of(dry_runs::two_archs);
  const PartGraph one =
      graph_of(replaced(replaced(dry_runs::two_archs, "LIST__=800,900", "LIST__=800"), "0000172d", "0000999d"));
  for (const char* label : {"preprocess compute_80", "cicc compute_80", "ptxas sm_80"})
    EXPECT_EQ(part_unit(part_of(two, label), {"d"}), part_unit(part_of(one, label), {"d"})) << label;
  EXPECT_NE(part_unit(part_of(two, "cicc compute_80"), {"d"}), part_unit(part_of(two, "cicc compute_90"), {"d"}));
  EXPECT_NE(part_unit(part_of(two, "cicc compute_80"), {"d"}), part_unit(part_of(two, "cicc compute_80"), {"e"}));
}

TEST(ClangJobsTest, AreAGraphToo) {
  auto read = read_clang_jobs(dry_runs::hip);
  ASSERT_TRUE(std::holds_alternative<PartGraph>(read)) << std::get<Whole>(read).why;
  const PartGraph& graph = std::get<PartGraph>(read);
  EXPECT_EQ(labels(graph), "clang gfx1151, clang gfx90a:xnack+, clang-offload-bundler, host");
  EXPECT_EQ(graph.messages, "");
  EXPECT_EQ(graph.source, "k.hip");
  const Part& device = graph.parts[1];
  EXPECT_EQ(device.writes, std::vector<std::string>{"k-gfx90a:xnack+.out"});
  EXPECT_EQ(device.headers, "k-gfx90a:xnack+.o.d");
  EXPECT_EQ(base_name(device.then.front()), "lld");
  EXPECT_NE(std::find(device.argv.begin(), device.argv.end(), std::string(k_place) + device.headers),
            device.argv.end());
  EXPECT_EQ(graph.parts[2].reads, (std::vector<std::string>{"k-gfx1151.out", "k-gfx90a:xnack+.out"}));
  EXPECT_EQ(graph.parts[3].output, "k.o");
}

TEST(ClangJobsTest, LeaveWhatIsNotKnownWhole) {
  struct {
    const char* from;
    const char* to;
  } const rows[] = {
      {"-fcuda-is-device", "-fother"},
      {"\"-emit-obj\"", "\"-S\""},
      {"clang-offload-bundler", "llvm-new"},
      {"k-gfx1151-", "k-gfx1151_"},
      {"-input=/tmp", "-input=/other"},
      {"\"-o\" \"k.o\"", "\"-o\" \"/tmp/k-123456.o\""},
      {"hipv4-", "x-"},
      {"-fcuda-include-gpubinary", "-fnone"},
  };
  for (const auto& row : rows)
    EXPECT_TRUE(std::holds_alternative<Whole>(read_clang_jobs(replaced(dry_runs::hip, row.from, row.to)))) << row.from;
  EXPECT_TRUE(std::holds_alternative<Whole>(read_clang_jobs("clang version 19\n")));
}

TEST(ClangJobsTest, AskForTheCodeOfOneGpu) {
  const std::vector<std::string> argv{
      "clang++", "-x",    "hip", "-O2", "--offload-arch=gfx90a", "--offload-arch", "gfx1151", "-MD", "-MF", "k.d",
      "-c",      "k.hip", "-o",  "k.o"};
  EXPECT_EQ(join(offload_request(argv, "gfx90a", "/t/o", "/t/d").value(), " "),
            "clang++ -x hip -O2 -c k.hip --offload-arch=gfx90a --cuda-device-only -MD -MF /t/d -o /t/o");
  for (const char* word : {"@file", "--no-offload-arch=gfx90a", "-Xarch_device", "-ok.o", "--cuda-host-only"})
    EXPECT_EQ(offload_request({"clang++", word}, "gfx90a", "o", "d"), std::nullopt) << word;
}

TEST(ShellWordsTest, AreReadAsAShellDoes) {
  const ShellVariables variables{{"P", "/a b"}, {"E", ""}};
  struct {
    const char* text;
    std::vector<std::string> words;
  } const rows[] = {
      {"a  b\tc ", {"a", "b", "c"}},
      {"\"$P/x\" 'a $P' a\\ b", {"/a b/x", "a $P", "a b"}},
      {"-DX=\"a b\" \"\\\"q\\\"\" \"\\n\" ''", {"-DX=a b", "\"q\"", "\\n", ""}},
      {"a#b a~ \"*\" '?'", {"a#b", "a~", "*", "?"}},
      {"\"$E\"", {""}},
  };
  for (const auto& row : rows) EXPECT_EQ(shell_words(row.text, variables), row.words) << row.text;
  for (const char* text : {"a > b", "a|b", "a;b", "$(a)", "`a`", "\"`a`\"", "$Q", "$P",    "a*", "a?",   "[a]",
                           "~",     "#a",  "\"a", "'a",   "a\\", "${P}",    "$1", "{a,b}", "!a", "a\nb", "a&"})
    EXPECT_EQ(shell_words(text, variables), std::nullopt) << text;
}

TEST(LineMarkersTest, GiveNvccsDependencies) {
  std::vector<std::string> files;
  add_files(
      "# 0 \"k.cu\"\n# 0 \"<built-in>\"\n# 1 \"a b.h\" 1 3\nint x;\n# 2 \"k.cu\" 2\n#pragma once\n# x \"y\"\n# 3 \"q",
      files);
  add_files("# 1 \"k.cu\"\n# 1 \"c\\\"d.h\" 1\n", files);
  EXPECT_EQ(files, (std::vector<std::string>{"k.cu", "a b.h", "c\"d.h"}));
  EXPECT_EQ(nvcc_dependencies("k.o", "k.cu", {"k.cu", "a b.h", "c.h"}, false),
            "k.o : k.cu \\\n    a\\ b.h \\\n    c.h\n");
  EXPECT_EQ(nvcc_dependencies("x", "k.cu", {"k.cu", "c.h", "d.h"}, true),
            "x : k.cu \\\n    c.h \\\n    d.h\n\nc.h:\n\nd.h:\n");
}

}  // namespace
}  // namespace wheelsmith::governor
