#include "report/doctor_text.h"

#include <gtest/gtest.h>

namespace wheelsmith::report {
namespace {

using doctor::Check;
using doctor::State;

std::vector<Check> some() {
  return {{.id = "python", .found = "3.11.2", .wanted = "Python 3", .package = "demo", .step = "demo-cpu-cp311"},
          {.id = "compiler",
           .state = State::bad,
           .found = "none\x1b[31m",
           .wanted = "a C++ compiler",
           .why = "it is compiled",
           .fix = "apt-get install build-essential",
           .package = "demo",
           .step = "demo-cpu-cp311"},
          {.id = "recipe", .state = State::unknown, .found = "none\xff", .package = "other"}};
}

TEST(DoctorText, OneBlockForEachStepAndWhatMends) {
  EXPECT_EQ(doctor_text(some(), {}),
            "demo-cpu-cp311\n"
            "  good     python                3.11.2\n"
            "  bad      compiler              none\\x1b[31m\n"
            "                                 wanted: a C++ compiler\n"
            "                                 it is compiled\n"
            "                                 fix: apt-get install build-essential\n"
            "\n"
            "other\n"
            "  unknown  recipe                none\\xff\n"
            "1 good, 1 bad, 1 unknown\n");
}

TEST(DoctorText, JsonHasEveryKeyAndIsUtf8) {
  const std::string json = doctor_json(some());
  for (const char* key : {"\"schema\": 1", "\"checks\"", "\"id\": \"compiler\"", "\"state\": \"bad\"", "\"found\"",
                          "\"wanted\"", "\"why\"", "\"fix\"", "\"package\": \"demo\"", "\"step\": \"demo-cpu-cp311\""})
    EXPECT_NE(json.find(key), std::string::npos) << key;
  EXPECT_EQ(json.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace wheelsmith::report
