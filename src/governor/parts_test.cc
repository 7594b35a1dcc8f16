#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "governor/governor.h"
#include "governor/model/oom_signs.h"
#include "governor/record.h"
#include "governor/server/pools.h"
#include "governor/server/run_file.h"
#include "governor/server/sampler.h"
#include "governor/server/wire.h"
#include "governor/shim/node_compile.h"
#include "governor/shim/shim.h"
#include "governor/shim/shim_folder.h"
#include "governor/waiting_text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::governor {
namespace {

namespace fs = std::filesystem;

TEST(WireTest, RoundTrips) {
  const Message message{Word::ask, {{"name", "a\tb\n%c"}, {"empty", ""}, {"size", "17"}, {"share", "0.5"}}};
  const std::string line = to_line(message);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = parse_message(line.substr(0, line.size() - 1));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->fields, message.fields);
  EXPECT_EQ(read->number("size"), 17U);
  EXPECT_EQ(read->number("name", 3), 3U);
}

TEST(WireTest, RejectsInvalidLines) {
  for (const char* line : {"", "\t", "Ask", "ask\tx", "ask\tx=%", "ask\tx=%zz", "ask\t=1", "ask\tx=%4"}) {
    EXPECT_FALSE(parse_message(line)) << line;
  }
}

TEST(OomSignsTest, RecognizesCompilerMessages) {
  struct {
    int exit, signal;
    const char* output;
    bool memory;
  } const rows[] = {
      {137, 9, "", true},
      {137, 0, "", true},
      {1, 0, "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.", true},
      {1, 0, "nvcc error   : 'cicc' died due to signal 9 (Kill signal)", true},
      {1, 0, "collect2: fatal error: ld terminated with signal 9 [Killed]", true},
      {1, 0, "clang: error: unable to execute command: Killed", true},
      {1, 0, "a.cc:3: error: 'Killed' was not declared", false},
      {139, 11, "", false},
      {0, 0, "warning: terminated with signal 9", false},
  };
  for (const auto& row : rows) EXPECT_EQ(ended_for_memory(row.exit, row.signal, row.output), row.memory) << row.output;
}

TEST(ShimTest, RemovesShimsBelowAGrant) {
  const std::vector<std::string> below = environment_below(
      {"A=1", "PATH=/s/1/bin:/usr/bin:/bin", "LD_PRELOAD=/s/1/exec_hook.so:/x.so", "_WHEELSMITH_GRANT=3"}, "/s/1",
      "_WHEELSMITH_GRANT=77");
  EXPECT_EQ(below, (std::vector<std::string>{"A=1", "PATH=/usr/bin:/bin", "LD_PRELOAD=/x.so", "_WHEELSMITH_GRANT=77"}));
  EXPECT_EQ(environment_below({"LD_PRELOAD=/s/1/exec_hook.so"}, "/s/1", "X=1"), std::vector<std::string>{"X=1"});
}

TEST(ShimTest, FindsTheRealCompiler) {
  EXPECT_EQ(note_of_real("/s/1", "gcc"), "/s/1/real/gcc");
  EXPECT_EQ(note_of_real("/s/1", "/s/1/bin/gcc"), "/s/1/real/gcc");
  EXPECT_EQ(note_of_real("/s/1", "/s/1/cuda/bin/nvcc"), "/s/1/real/cuda/nvcc");
}

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  sys::write_file(path, text);
}

TEST(PoolsTest, CountsEveryParentLimit) {
  const sys::TempDir root;
  put(root.path() / "proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\n");
  put(root.path() / "proc/7/cgroup", "4:memory:/a/b\n3:cpuset:/x\n0::/\n");
  const fs::path memory = root.path() / "sys/fs/cgroup/memory";
  put(memory / "memory.limit_in_bytes", "9223372036854771712\n");
  put(memory / "a/memory.limit_in_bytes", "8000000000\n");
  put(memory / "a/memory.usage_in_bytes", "7000000000\n");
  put(memory / "a/memory.stat",
      "inactive_file 1\ntotal_inactive_file 2000000000\ntotal_active_file 1000000000\ntotal_dirty 500000000\n");
  put(memory / "a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  put(memory / "a/b/memory.limit_in_bytes", "9223372036854771712\n");
  const std::vector<std::string> pools = pools_in(cgroups_of(7, root.path()), root.path());
  ASSERT_EQ(pools, (std::vector<std::string>{k_machine, "1:sys/fs/cgroup/memory/a"}));
  const PoolReading reading = read_pool(pools[1], root.path());
  EXPECT_EQ(reading.pool.limit, 8'000'000'000U);
  EXPECT_EQ(reading.pool.available, 3'500'000'000U) << "clean page cache can be had";
  EXPECT_EQ(reading.kills, 3U);
  EXPECT_EQ(read_pool(k_machine, root.path()).pool.available, 60'000'000ULL * 1024);
}

TEST(PoolsTest, ReadsCgroupVersion2) {
  const sys::TempDir root;
  put(root.path() / "proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\n");
  put(root.path() / "proc/7/cgroup", "0::/user/session\n");
  const fs::path place = root.path() / "sys/fs/cgroup";
  put(place / "user/memory.max", "4000000000\n");
  put(place / "user/memory.current", "3000000000\n");
  put(place / "user/memory.stat", "anon 1\ninactive_file 1000000000\nslab_reclaimable 100\nfile_dirty 0\n");
  put(place / "user/memory.events", "low 0\noom 2\noom_kill 2\n");
  put(place / "user/session/memory.max", "max\n");
  put(place / "user/session/memory.high", "2000000000\n");
  const std::vector<std::string> pools = pools_in(cgroups_of(7, root.path()), root.path());
  ASSERT_EQ(pools.size(), 3U);
  EXPECT_EQ(read_pool(pools[1], root.path()).pool.limit, 2'000'000'000U) << "memory.high slows down until it hangs";
  EXPECT_EQ(read_pool(pools[2], root.path()).pool.available, 2'000'000'100U);
  EXPECT_EQ(read_pool(pools[2], root.path()).kills, 2U);
  EXPECT_EQ(read_pool("2:sys/fs/cgroup/gone", root.path()).pool.limit, UINT64_MAX);
}

TEST(PoolsTest, MeasuresPressureAsAShareOfTime) {
  const sys::TempDir root;
  const fs::path file = root.path() / "proc/pressure/memory";
  put(file, "some avg10=0.00 total=9000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n");
  Pressure pressure(root.path());
  EXPECT_FALSE(pressure.look(10)) << "what was before us does not count";
  put(file, "some total=9\nfull avg10=0.00 total=1100000\n");
  EXPECT_FALSE(pressure.look(11));
  put(file, "some total=9\nfull avg10=0.00 total=1700000\n");
  EXPECT_FALSE(pressure.look(11.1)) << "not again so soon";
  EXPECT_TRUE(pressure.look(12));
  EXPECT_FALSE(pressure.look(13));
}

TEST(RunFileTest, RoundTrips) {
  const sys::TempDir folder;
  RunFile run;
  run.name = "demo (cp311)";
  run.id = "x";
  run.jobs = 3;
  run.memory = 5'000'000'000;
  run.record = "/a b/c\td";
  run.write(folder.path() / "run");
  const auto read = RunFile::read(folder.path() / "run");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, run.name);
  EXPECT_EQ(read->jobs, 3U);
  EXPECT_EQ(read->memory, 5'000'000'000U);
  EXPECT_EQ(read->record, run.record);
  EXPECT_FALSE(RunFile::read(folder.path() / "none"));
  sys::write_file(folder.path() / "run", "nonsense");
  EXPECT_FALSE(RunFile::read(folder.path() / "run"));
}

TEST(NodeCompileTest, RequestsAndResultsRoundTrip) {
  const sys::TempDir temp;
  const fs::path file = temp.path() / "request";
  NodeRequest request;
  request.program = "/usr/bin/g++";
  request.folder = "/tree/a b";
  request.argv = {"g++", "-DX=\"a\tb\n\"", "", "\xff.cc"};
  request.environment = {"A=1\n2", "B="};
  request.digest = "abc";
  request.one_stream = true;
  request.umask = 027;
  request.write(file);
  const auto read = NodeRequest::read(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->argv, request.argv);
  EXPECT_EQ(read->environment, request.environment);
  EXPECT_EQ(read->folder, request.folder);
  EXPECT_EQ(read->umask, 027u);
  EXPECT_TRUE(read->one_stream);
  NodeResult result;
  result.exit.code = 139;
  result.exit.signal = 11;
  result.exit.largest_process = 12345;
  result.output = std::string("a\0b\n", 4);
  result.write(result_of(file));
  EXPECT_EQ(NodeResult::read(result_of(file))->output, result.output);
  EXPECT_EQ(NodeResult::read(result_of(file))->exit.signal, 11);
  // Half a file, or none: the node failed.
  const std::string whole = sys::read_file(result_of(file));
  sys::write_file(result_of(file), whole.substr(0, whole.size() - 1));
  EXPECT_FALSE(NodeResult::read(result_of(file)));
  EXPECT_FALSE(NodeResult::read(temp.path() / "none"));
}

TEST(NodeCompileTest, RunsAsHere) {
  const sys::TempDir temp;
  const fs::path file = temp.path() / "request";
  NodeRequest request;
  request.program = "/bin/sh";
  request.folder = temp.path().string();
  request.argv = {"sh", "-c", "pwd; umask; echo $X; cat; echo wrong >&2; exit 3"};
  request.environment = {"PATH=/usr/bin:/bin", "X=y"};
  request.digest = program_digest("/bin/sh");
  request.umask = 027;
  request.write(file);
  EXPECT_EQ(run_node_compile(file), 0);
  const auto result = NodeResult::read(result_of(file));
  ::umask(022);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit.code, 3);
  EXPECT_EQ(result->output, fs::canonical(temp.path()).string() + "\n0027\ny\n");
  EXPECT_EQ(result->errors, "wrong\n");
  fs::current_path("/");
  // Another compiler under the same path makes other objects.
  request.digest = program_digest("/bin/cat");
  request.write(file);
  EXPECT_EQ(run_node_compile(file), 0);
  EXPECT_NE(NodeResult::read(result_of(file))->unfit, "");
}

TEST(WaitingTextTest, NamesTheReason) {
  using Fields = std::map<std::string, std::string, std::less<>>;
  const std::vector<std::pair<Fields, std::string>> table = {
      {{{"running", "0"}, {"waiting", "0"}, {"others", "2"}}, ""},
      {{{"running", "0"},
        {"waiting", "1"},
        {"why", "cores"},
        {"others", "2"},
        {"other_builds", "1"},
        {"other", "torch"}},
       "2 compiles of torch"},
      {{{"running", "0"}, {"waiting", "1"}, {"why", "cores"}, {"others", "1"}, {"other_builds", "1"}, {"other", ""}},
       "1 compile of another build"},
      {{{"running", "0"}, {"waiting", "3"}, {"why", "memory"}, {"others", "5"}, {"other_builds", "2"}},
       "5 compiles of 2 other builds"},
      {{{"running", "2"}, {"waiting", "9"}, {"why", "cores"}}, ""},
      {{{"running", "2"}, {"waiting", "9"}, {"why", "memory"}, {"others", "1"}}, "memory"},
  };
  for (const auto& [fields, text] : table) EXPECT_EQ(waiting_text({Word::status, fields}), text);
}

TEST(SamplerTest, SumsATree) {
  const sys::Process process({.argv = {"/bin/sh", "-c", "sh -c 'sleep 5; :' & sleep 5; :"}});
  TreeUse use;
  for (int i = 0; i < 100 && use.pids.size() < 4; ++i) {
    ::usleep(20'000);
    use = tree_use(::getpid());
  }
  EXPECT_GE(use.pids.size(), 4U) << "two shells, two sleeps";
  EXPECT_GT(use.bytes, 400'000U);
  EXPECT_LT(use.bytes, 100'000'000U);
  EXPECT_TRUE(is_ancestor(::getppid()));
  EXPECT_FALSE(is_ancestor(process.pid()));
}

TEST(RecordTest, IsSummarized) {
  const sys::TempDir folder;
  const fs::path file = folder.path() / "record";
  sys::write_file(file, R"({"event":"build"}
{"event":"compile","name":"a","outcome":"out-of-memory","again":true,"peak":5,"why":"","wait":0,"seconds":1}
{"event":"compile","name":"a","outcome":"done","peak":900,"why":"alone","wait":2.5,"seconds":1,"paused":0.5}
{"event":"compile","name":"b","outcome":"set-back","peak":7,"why":"cores","wait":1,"seconds":1}
{"event":"memory","used":1000,"limit":3000}
{"event":"unreached","program":"/x/gcc"}
{"event":"unreached","program":"/x/gcc"}
{"event":"comp)");
  const Summary summary = summarize(file);
  EXPECT_EQ(summary.compiles, 1U);
  EXPECT_EQ(summary.tried_again, 1U);
  EXPECT_EQ(summary.set_back, 1U);
  EXPECT_EQ(summary.largest_name, "a");
  EXPECT_EQ(summary.most_used, 1000U);
  EXPECT_EQ(summary.waited_for_memory, 2.5);
  EXPECT_EQ(summary.unreached, std::vector<std::string>{"/x/gcc"});
}

void put_program(const fs::path& path) {
  put(path, "#!/bin/sh\n");
  fs::permissions(path, fs::perms::owner_all);
}

TEST(ShimFolderTest, LinksShimsAndRemembersCompilers) {
  const sys::TempDir root;
  const fs::path at = root.path();
  put_program(at / "one/gcc");
  put_program(at / "two/gcc");
  put_program(at / "two/nvcc");
  put_program(at / "two/gcc-ar");
  put_program(at / "cuda/bin/nvcc");
  put_program(at / "cuda/bin/ptxas");
  put(at / "cuda/include/cuda_runtime_api.h", "");
  sys::Environment environment{{"PATH", (at / "one").string() + ":" + (at / "two").string() + ":relative"},
                               {"CUDA_HOME", (at / "cuda").string()},
                               {"CC", (at / "two/gcc").string()},
                               {"CXX", "g++"}};
  const ShimFolder folder(at / "shims", environment, "/bin/true");
  EXPECT_EQ(fs::read_symlink(folder.path() / "real/gcc"), at / "one/gcc");
  EXPECT_EQ(fs::read_symlink(folder.path() / "real/nvcc"), at / "two/nvcc");
  EXPECT_EQ(fs::read_symlink(folder.path() / "real/cuda/nvcc"), at / "cuda/bin/nvcc");
  EXPECT_EQ(fs::read_symlink(folder.path() / "real/CC/gcc"), at / "two/gcc");
  EXPECT_FALSE(fs::exists(folder.path() / "bin/gcc-ar"));
  EXPECT_TRUE(fs::equivalent(folder.path() / "cuda/bin/nvcc", folder.path() / "bin/wheelsmith-shim"));
  EXPECT_EQ(fs::canonical(folder.path() / "cuda/bin/ptxas"), fs::canonical(at / "cuda/bin/ptxas"));
  EXPECT_TRUE(fs::exists(folder.path() / "cuda/include/cuda_runtime_api.h"));

  sys::Environment inside = environment;
  folder.enter(inside);
  EXPECT_EQ(inside["CUDA_HOME"], (folder.path() / "cuda").string());
  EXPECT_EQ(inside["CC"], (folder.path() / "CC/bin/gcc").string());
  EXPECT_EQ(inside["CXX"], "g++");
  EXPECT_FALSE(inside.contains("CUDA_PATH"));
  // A compile cache sees a different compiler exactly when the compiler is different.
  const std::string bytes = sys::read_file(folder.path() / "bin/wheelsmith-shim");
  EXPECT_EQ(sys::read_file("/bin/true"), bytes.substr(0, fs::file_size("/bin/true")));
  put(at / "one/gcc", "#!/bin/sh\n# newer\n");
  fs::permissions(at / "one/gcc", fs::perms::owner_all);
  const ShimFolder later(at / "shims", environment, "/bin/true");
  EXPECT_EQ(later.path(), folder.path());
  EXPECT_NE(sys::read_file(folder.path() / "bin/wheelsmith-shim"), bytes);
  sys::Environment changed = environment;
  later.enter(changed);
  EXPECT_NE(changed["CCACHE_COMPILERCHECK"], inside["CCACHE_COMPILERCHECK"]);
  // Another build with the same compilers elsewhere shares the program; a changed program is rewritten.
  fs::create_directories(at / "three");
  fs::create_hard_link(at / "two/nvcc", at / "three/nvcc");
  fs::create_hard_link(at / "two/nvcc", at / "one/nvcc");
  const ShimFolder first(at / "shims", {{"PATH", (at / "one").string()}}, "/bin/true");
  fs::create_hard_link(at / "one/gcc", at / "three/gcc");
  const ShimFolder there(at / "shims", {{"PATH", (at / "three").string()}}, "/bin/true");
  const ShimFolder here(at / "shims", {{"PATH", (at / "one").string()}}, "/bin/true");
  EXPECT_NE(there.path(), here.path());
  EXPECT_TRUE(fs::equivalent(there.path() / "bin/wheelsmith-shim", here.path() / "bin/wheelsmith-shim"));
  put(there.path() / "bin/wheelsmith-shim", "damaged");
  const ShimFolder repaired(at / "shims", {{"PATH", (at / "three").string()}}, "/bin/true");
  EXPECT_EQ(sys::read_file("/bin/true"),
            sys::read_file(repaired.path() / "bin/wheelsmith-shim").substr(0, fs::file_size("/bin/true")));
  fs::remove(at / "one/nvcc");
  // A build inside a build: the same compilers.
  sys::Environment again = environment;
  again["PATH"] = inside["PATH"];
  const ShimFolder second(at / "shims", again, "/bin/true");
  EXPECT_EQ(second.path(), folder.path());
}

}  // namespace
}  // namespace wheelsmith::governor
