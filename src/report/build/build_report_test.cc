#include "report/build/build_report.h"

#include <gtest/gtest.h>

#include <map>

namespace wheelsmith::report {
namespace {

std::string compile(double at, double seconds, const std::string& more = "") {
  return R"({"event":"compile","at":)" + std::to_string(at) + R"(,"seconds":)" + std::to_string(seconds) +
         R"(,"outcome":"done")" + more + "}\n";
}

TEST(BuildRecord, ReadsEveryEvent) {
  const BuildRecord record = read_record(
      R"({"event":"build","schema":1,"id":"x1","name":"ninja","jobs":3,"cores":8,"memory":5000})"
      "\n"
      R"({"event":"compile","at":110.5,"wait":1.5,"why":"memory","seconds":4,"paused":1,"peak":700,"reserved":900,"estimate":800,"from":"family","unit":"u","family":"f","kind":"cuda","name":"a.cu","output":"a.o","threads":2,"pid":7,"try":1,"outcome":"out-of-memory","again":true,"early":true,"exit":137})"
      "\n"
      R"({"event":"memory","at":112,"running":1,"waiting":2,"paused":1,"used":600,"reserved":900,"available":100,"limit":1000})"
      "\n"
      R"({"event":"unreached","at":113,"program":"/opt/cc"})"
      "\n"
      R"({"event":"ungoverned","at":114,"name":"b.c","why":"no governor"})"
      "\n"
      R"({"event":"cache","hits":3,"misses":1})"
      "\n"
      R"({"event":"of a later version"})"
      "\n"
      R"({"event":"end","at":120,"exit":2})"
      "\n");
  EXPECT_EQ(record.name, "ninja");
  EXPECT_EQ(record.cores, 8u);
  ASSERT_EQ(record.compiles.size(), 1u);
  const Compile& one = record.compiles[0];
  EXPECT_EQ(one.why + one.kind + one.name + one.output + one.from + one.outcome,
            "memorycudaa.cua.ofamilyout-of-memory");
  EXPECT_EQ(one.peak + one.reserved + one.estimate, 2400u);
  EXPECT_EQ(one.threads + one.tries, 3u);
  EXPECT_TRUE(one.again && one.early);
  EXPECT_DOUBLE_EQ(record.started, 109);  // when it started to wait
  EXPECT_DOUBLE_EQ(record.ended, 120);
  EXPECT_EQ(record.exit, 2);
  ASSERT_EQ(record.samples.size(), 1u);
  EXPECT_EQ(record.samples[0].limit, 1000u);
  EXPECT_EQ(record.unreached.at(0).name, "/opt/cc");
  EXPECT_EQ(record.ungoverned.at(0).why, "no governor");
  ASSERT_TRUE(record.cache);
  EXPECT_EQ(record.cache->hits, 3u);
  EXPECT_EQ(record.skipped_lines, 0u);
}

TEST(BuildRecord, ShowsACompileWithItsParts) {
  const std::string part = R"({"event":"part","name":"k.cu","outcome":"done","of":7,)";
  const BuildRecord record =
      read_record(part + R"("part":"cicc compute_80","at":1,"seconds":4,"peak":9})" + "\n" + part +
                  R"("part":"ptxas sm_80","at":5,"seconds":1})" + "\n" + part + R"("at":5})" + "\n" +
                  compile(0.5, 6, R"(,"name":"k.cu","parts":7,"part_hits":2)"));
  ASSERT_EQ(record.compiles.size(), 2u);
  EXPECT_EQ(record.compiles[0].name, "k.cu: cicc compute_80");
  EXPECT_EQ(record.slots, 1u);
  ASSERT_EQ(record.in_parts.size(), 1u);
  EXPECT_EQ(record.in_parts[0].parts + record.in_parts[0].part_hits, 9u);
  EXPECT_EQ(record.skipped_lines, 1u);  // a part without a name
}

TEST(BuildReport, SaysWhereObjectsCameFromAndWhatWasSaved) {
  BuildReport report;
  report.records.push_back(
      read_record(compile(1, 1, R"(,"cache":"hit","saved":1800)") +
                  compile(2, 1, R"(,"cache":"hit","remote":true,"saved":1799.5,"origin":"remote-cache")") +
                  compile(3, 1, R"(,"cache":"miss","parts":3,"part_hits":1,"saved":0.5)") +
                  compile(4, 1, R"(,"cpu":7)") + R"({"event":"compile","at":5,"seconds":1,"outcome":"failed"})" + "\n" +
                  R"({"event":"kept","name":"a.cc","output":"a.o","seconds":3,"origin":"tree"})" + "\n" +
                  R"({"event":"cache","hits":2,"misses":2,"saved_seconds":3600})" + "\n"));
  document::Value document = to_value(report);
  const auto origins = [&](const char* name) { return document["summary"]["origins"][name].integer_or(-1); };
  EXPECT_EQ(origins("compiled") * 10000 + origins("cache") * 1000 + origins("remote-cache") * 100 +
                origins("parts") * 10 + origins("tree"),
            11111);
  EXPECT_EQ(document::to_json(document["summary"]["saved"], -1), R"({"seconds":3600.0})");
  EXPECT_EQ((*document["kept"].array())[0]["name"].text_or(), "a.cc");
  EXPECT_EQ((*document["compiles"].array())[3]["origin"].text_or("?"), "");  // it failed
  EXPECT_EQ((*document["compiles"].array())[2]["cpu"].number(), 7);
  report.price = settings::read_price("0.04 EUR");
  document = to_value(report);
  EXPECT_EQ(document::to_json(document["summary"]["saved"], -1),
            R"({"seconds":3600.0,"amount":0.04,"currency":"EUR"})");
  EXPECT_EQ(saved_text(3600, report.price), "60.0 min of CPU time (0.04 EUR)");
  EXPECT_EQ(saved_text(36000, settings::read_price("1")), "10.0 h of CPU time (10.00)");
  EXPECT_EQ(saved_text(3, std::nullopt), "3 s of CPU time");
}

TEST(BuildRecord, CountsUnreadableLines) {
  const struct {
    std::string text;
    std::size_t compiles, skipped;
  } cases[] = {
      {"", 0, 0},
      {"\n\n", 0, 0},
      {"rubbish\n", 0, 1},
      {"[1]\n7\nnull\n\"event\"\n", 0, 4},
      {"{\"event\":7}\n{}\n", 0, 2},
      {compile(5, 1) + "{\"event\":\"comp", 1, 1},  // its writer was killed
      {compile(5, 1) + "\xff\xfe\n" + compile(6, 1), 2, 1},
      {"{\"event\":\"compile\"}\n", 0, 1},
      {"{\"event\":\"compile\",\"at\":\"now\"}\n", 0, 1},
      {"{\"event\":\"compile\",\"at\":1e999}\n", 0, 1},
      {"{\"event\":\"unheard of\",\"at\":1}\n", 0, 0},
      {std::string(100, '[') + "\n" + compile(1, 1), 1, 1},
  };
  for (const auto& one : cases) {
    const BuildRecord record = read_record(one.text);
    EXPECT_EQ(record.compiles.size(), one.compiles) << one.text;
    EXPECT_EQ(record.skipped_lines, one.skipped) << one.text;
  }
}

TEST(BuildRecord, ClampsNumbers) {
  const BuildRecord record = read_record(
      R"({"event":"compile","at":50,"seconds":-3,"wait":1e300,"paused":9,"peak":-5,"reserved":1e300,"threads":-1,"try":1e99,"exit":99999999,"name":7})"
      "\n"
      R"({"event":"memory","at":-1e300,"used":"many","limit":18446744073709551615})"
      "\n");
  const Compile& one = record.compiles.at(0);
  EXPECT_EQ(one.seconds, 0);
  EXPECT_LE(one.wait, 50);
  EXPECT_EQ(one.paused, 0);
  EXPECT_EQ(one.peak, 0u);
  EXPECT_LE(one.reserved, 1'000'000'000'000'000u);
  EXPECT_EQ(one.threads, 1u);
  EXPECT_EQ(one.exit, 1000);
  EXPECT_EQ(one.name, "");
  EXPECT_EQ(record.samples.at(0).at, 0);
  EXPECT_EQ(record.samples.at(0).limit, 0u);  // none
}

TEST(BuildRecord, PutsEachCompileOnTheLowestFreeSlot) {
  // Records are written when compiles end, so they are not in start order.
  const BuildRecord record = read_record(compile(11, 1) + compile(10, 4) + compile(10.5, 3) + compile(12.0005, 5) +
                                         compile(13.6, 1) + compile(14, 1));
  std::string slots;
  for (const Compile& one : record.compiles) slots += std::to_string(one.slot);
  EXPECT_EQ(slots, "012210");
  EXPECT_EQ(record.slots, 3u);
  for (const Compile& a : record.compiles) {
    for (const Compile& b : record.compiles) {
      if (&a == &b || a.slot != b.slot || a.start > b.start) continue;
      EXPECT_LE(a.end(), b.start + 0.002);
    }
  }
}

MemorySample sample(double at, std::uint64_t used, std::uint64_t available) {
  MemorySample result;
  result.at = at;
  result.used = used;
  result.reserved = 2 * used;
  result.available = available;
  return result;
}

TEST(BuildRecord, AddsTheMemoryOfSeveralBuilds) {
  BuildRecord one, other;
  one.samples = {sample(1, 10, 90), sample(2, 20, 70), sample(9, 30, 60)};
  other.samples = {sample(2.5, 5, 65), sample(3, 6, 64)};
  const std::vector<BuildRecord> records{one, other};
  const std::vector<MemorySample> merged = merged_memory(records);
  std::vector<std::uint64_t> used, reserved, available;
  for (const MemorySample& each : merged) {
    used.push_back(each.used);
    reserved.push_back(each.reserved);
    available.push_back(each.available);
  }
  EXPECT_EQ(used, (std::vector<std::uint64_t>{10, 20, 25, 26, 30}));  // at 9 the other is over
  EXPECT_EQ(reserved, (std::vector<std::uint64_t>{20, 40, 50, 52, 60}));
  EXPECT_EQ(available, (std::vector<std::uint64_t>{90, 70, 65, 64, 60}));
}

BuildReport small_report() {
  BuildReport report;
  report.title = "small";
  report.records.push_back(
      read_record(R"({"event":"build","name":"<b>","cores":2})"
                  "\n" +
                  compile(100, 2, R"(,"name":"a.c","kind":"c","peak":5)") +
                  compile(101, 2, R"(,"name":"</script><script>alert(1)</script>","wait":0.5,"why":"cores","peak":9)") +
                  R"({"event":"compile","at":103,"seconds":1,"outcome":"set-back","name":"c.c"})"
                  "\n"
                  R"({"event":"compile","at":104,"seconds":1,"outcome":"failed","name":"c.c","try":1,"exit":1})"
                  "\n"
                  R"({"event":"memory","at":102,"used":14,"reserved":20,"available":80,"limit":100})"
                  "\n"));
  return report;
}

TEST(BuildReport, CountsRetriesOnce) {
  const document::Value value = to_value(small_report());
  const document::Value& summary = value["summary"];
  EXPECT_EQ(value["compiles"].array()->size(), 4u);
  EXPECT_EQ(summary["compiles"].integer_or(-1), 3);
  EXPECT_EQ(summary["failed"].integer_or(-1), 1);
  EXPECT_EQ(summary["set_back"].integer_or(-1), 1);
  EXPECT_EQ(summary["largest"].integer_or(-1), 9);
  EXPECT_EQ(summary["most_used"].integer_or(-1), 14);
  EXPECT_DOUBLE_EQ(summary["compile_seconds"].number(), 6);
  ASSERT_EQ(summary["waits"].array()->size(), 1u);
  EXPECT_EQ(summary["waits"].array()->at(0)["why"].text_or(), "cores");
  EXPECT_DOUBLE_EQ(value["compiles"].array()->at(1)["start"].number(), 1);
  EXPECT_EQ(value["verdict"].text_or(), "");
}

TEST(BuildReport, ReportsTheVerdict) {
  const struct {
    std::vector<run::Outcome> outcomes;
    bool optional;
    std::string verdict;
  } cases[] = {{{}, false, ""},
               {{run::Outcome::built, run::Outcome::cached}, false, "good"},
               {{run::Outcome::built, run::Outcome::failed}, false, "failed"},
               {{run::Outcome::failed, run::Outcome::built}, true, "good"}};
  for (const auto& one : cases) {
    BuildReport report;
    for (const run::Outcome outcome : one.outcomes) {
      report.steps.emplace_back();
      report.steps.back().outcome = outcome;
      report.steps.back().optional = one.optional;
    }
    EXPECT_EQ(to_value(report)["verdict"].text_or(), one.verdict);
  }
}

TEST(BuildReport, AddsDeviceCodeByArchitectureAndKind) {
  const auto code = [](unsigned number, gpu::CodeKind kind, const char* section, std::uint64_t bytes) {
    gpu::CodeSum sum;
    sum.arch = gpu::nvidia_arch(number);
    sum.kind = kind;
    sum.section = section;
    sum.bytes = bytes;
    sum.unpacked_bytes = 3 * bytes;
    return sum;
  };
  BuildReport report;
  WheelSizes wheel, broken;
  wheel.path = "a.whl";
  wheel.gpu = {code(80, gpu::CodeKind::sass, ".nv_fatbin", 10), code(80, gpu::CodeKind::sass, "__nv_relfatbin", 5),
               code(80, gpu::CodeKind::ptx, ".nv_fatbin", 2), code(90, gpu::CodeKind::sass, ".nv_fatbin", 7)};
  broken.error = "gone";
  report.wheels = {wheel, broken};
  const document::Value value = to_value(report);
  std::string found;
  for (const document::Value& arch : *value["wheels"].array()->at(0)["archs"].array()) {
    found += arch["arch"].text_or() + " " + std::to_string(arch["bytes"].integer_or(-1)) + " " +
             std::to_string(arch["unpacked_bytes"].integer_or(-1)) + "; ";
  }
  EXPECT_EQ(found, "sm_80 15 45; compute_80 2 6; sm_90 7 21; ");
  EXPECT_EQ(value["wheels"].array()->at(1)["error"].text_or(), "gone");
}

TEST(BuildReport, PageContainsNoMarkupFromTheData) {
  const std::string page = to_html(small_report());
  EXPECT_EQ(page.find("alert(1)</script>"), page.npos);
  EXPECT_EQ(page.find("\"<b>\""), page.npos);
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(opening) + opening.size();
  const std::size_t to = page.find("</script>", from);
  EXPECT_EQ(document::parse_json(page.substr(from, to - from), "page"), to_value(small_report()));
  EXPECT_EQ(page.find("http:"), page.npos);
  EXPECT_EQ(page.find("https:"), page.npos);
  for (const char* place : {"@POLICY@", "@STYLE@", "@DATA@", "@SCRIPT@", "@VERSION@"})
    EXPECT_EQ(page.find(place), page.npos) << place;
}

TEST(Trace, HoldsCompilesWaitsAndMemory) {
  const document::Value trace = document::parse_json(to_trace(small_report()), "trace");
  std::map<std::string, std::size_t> phases;
  double dur = 0;
  for (const document::Value& event : *trace["traceEvents"].array()) {
    ++phases[event["ph"].text_or()];
    EXPECT_TRUE(event["ts"].is_number());
    EXPECT_TRUE(event["pid"].is_number() && event["tid"].is_number());
    if (event["ph"].text_or() == "X") dur += event["dur"].number();
  }
  EXPECT_EQ(phases, (std::map<std::string, std::size_t>{{"M", 3}, {"X", 4}, {"b", 1}, {"e", 1}, {"C", 2}}));
  EXPECT_DOUBLE_EQ(dur, 6e6);
  EXPECT_EQ(trace["traceEvents"].array()->at(0)["args"]["name"].text_or(), "<b>");
}

}  // namespace
}  // namespace wheelsmith::report
