#include "governor/record.h"

#include <gtest/gtest.h>

#include "document/value.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::governor {
namespace {

std::string compile_line(const std::string& name, const std::string& more) {
  return R"({"event":"compile","at":1,"seconds":4,"kind":"c++","name":")" + name + R"(","output":")" + name +
         R"(.o",)" + more + "}\n";
}

const std::string k_done = R"("outcome":"done")";

TEST(Record, SaysWhereObjectsCameFrom) {
  const struct {
    const char* line;
    Origin origin;
  } rows[] = {
      {R"({"outcome":"done"})", Origin::compiled},
      {R"({"outcome":"done","cache":"miss"})", Origin::compiled},
      {R"({"outcome":"done","cache":"hit"})", Origin::cache},
      {R"({"outcome":"done","cache":"hit","remote":true})", Origin::remote_cache},
      {R"({"outcome":"done","cache":"miss","parts":7,"part_hits":2})", Origin::parts},
      {R"({"outcome":"failed","cache":"miss"})", Origin::unknown},
      {R"({"event":"kept","origin":"tree"})", Origin::tree},
      {R"({"origin":"the moon"})", Origin::unknown},
      {R"({"origin":7,"part_hits":-1})", Origin::unknown},
  };
  for (const auto& row : rows) EXPECT_EQ(origin_of(document::parse_json(row.line, "row")), row.origin) << row.line;
}

TEST(Record, AddsUpWhatTheCacheSaved) {
  const sys::TempDir folder;
  const auto file = folder.path() / "record";
  sys::write_file(file, compile_line("a", k_done + R"(,"cache":"hit","saved":40.5)") +
                            compile_line("b", k_done + R"(,"cache":"miss","parts":5,"part_hits":2,"saved":20)") +
                            compile_line("c", k_done + R"(,"cache":"miss","cpu":3)") +
                            compile_line("d", k_done + R"(,"cache":"hit","saved":-5)") +
                            compile_line("e", k_done + R"(,"cache":"hit","saved":1e999)"));
  const Summary summary = summarize(file);
  EXPECT_EQ(summary.cache.saved_seconds, 60.5);
  EXPECT_EQ(summary.origins[static_cast<std::size_t>(Origin::cache)], 2u);
  EXPECT_EQ(summary.origins[static_cast<std::size_t>(Origin::parts)], 1u);
  EXPECT_EQ(summary.origins[static_cast<std::size_t>(Origin::compiled)], 1u);
  EXPECT_NE(summary.cache.to_text().find("1.0 min of CPU time saved"), std::string::npos) << summary.cache.to_text();
  EXPECT_EQ(CacheCounts::from_value(summary.cache.to_value()).saved_seconds, 60.5);
}

TEST(Record, KeepsWhatEarlierAttemptsCompiled) {
  const sys::TempDir folder;
  const auto first = folder.path() / "1", second = folder.path() / "2", now = folder.path() / "3";
  sys::write_file(first, compile_line("a", k_done + R"(,"cpu":3.5,"unit":"u")") + compile_line("b", k_done) +
                             compile_line("c", k_done) + compile_line("d", R"("outcome":"failed")") +
                             R"({"event":"compile","kind":"link","name":"x.so","output":"x.so","outcome":"done"})"
                             "\n");
  // Its second try of c did not end.
  sys::write_file(
      second, compile_line("c", R"("outcome":"lost")") + R"({"event":"kept","name":"z","output":"z.o"})" + "\nrubbish");
  sys::write_file(now, compile_line("b", k_done) + compile_line("d", k_done));
  const auto lines = kept_lines(now, {first, folder.path() / "gone", second});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(
      document::to_json(lines[0], -1),
      R"({"event":"kept","kind":"c++","name":"a","output":"a.o","unit":"u","family":"","seconds":4.0,"cpu":3.5,"origin":"tree"})");
  EXPECT_EQ(document::Value(lines[1])["name"].text_or(), "z");
}

}  // namespace
}  // namespace wheelsmith::governor
