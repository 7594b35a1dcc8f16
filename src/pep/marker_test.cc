#include "pep/marker.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::pep {
namespace {

const MarkerEnvironment& linux_environment() {
  static const MarkerEnvironment k_environment = {{"python_version", "3.11"},
                                                  {"python_full_version", "3.11.7"},
                                                  {"sys_platform", "linux"},
                                                  {"os_name", "posix"},
                                                  {"platform_release", "6.1.0-1-amd64"},
                                                  {"platform_machine", "x86_64"},
                                                  {"extra", "CUDA_13"},
                                                  {"extras", "a-b, c"}};
  return k_environment;
}

TEST(Marker, Evaluate) {
  struct Row {
    const char* text;
    bool expected;
  };
  for (const Row& row : {Row{"python_version < '3.9'", false},
                         {"python_version>='3.9'and sys_platform=='linux'", true},
                         {"'3.9' <= python_version", true},
                         {"python_full_version == '3.11.*'", true},
                         {"python_version ~= '3.8'", true},
                         {"sys_platform == 'win32' or os_name == 'posix' and python_version > '3'", true},
                         {"(os_name == 'posix' or sys_platform == 'win32') and python_version < '3'", false},
                         {"os_name == 'posix' or sys_platform == 'win32' and python_version < '3'", true},
                         {"'lin' in sys_platform", true},
                         {"sys_platform not   in 'win32 darwin'", true},
                         {"extra == 'cuda-13'", true},
                         {"extra != 'cuda.13'", false},
                         {"'A_B' in extras", true},
                         {"'ab' in extras", false},
                         {"os.name == 'posix'", true},
                         {"platform_release >= '5'", false},
                         {"os_name > 'a'", false},
                         {"os_name >= 'posix'", true}}) {
    EXPECT_EQ(Marker::parse(row.text).evaluate(linux_environment()), row.expected) << row.text;
  }
  EXPECT_FALSE(Marker::parse("extra == 'x'").evaluate({}));
  EXPECT_THROW((void)Marker::parse("os_name == 'x'").evaluate({}), Error);
  EXPECT_THROW((void)Marker::parse("os_name ~= 'x'").evaluate(linux_environment()), Error);
}

TEST(Marker, PrintsToItself) {
  for (const char* text : {"os_name == \"a\"", "os_name == 'a\"b' or extra == \"it's\"",
                           "os_name == \"a\" and (os_name == \"b\" or os_name == \"c\")",
                           "os_name == \"a\" or (os_name == \"b\" or os_name == \"c\")",
                           "(os_name == \"a\" or os_name == \"b\") and os_name not in \"c\""}) {
    EXPECT_EQ(Marker::parse(text).to_string(), text);
    EXPECT_EQ(Marker::parse(Marker::parse(text).to_string()), Marker::parse(text));
  }
  EXPECT_EQ(Marker::parse("((os.name=='a'))and(python_implementation=='b')").to_string(),
            "os_name == \"a\" and platform_python_implementation == \"b\"");
}

TEST(Marker, Extras) {
  EXPECT_EQ(Marker::parse("extra == 'a' or (os_name == 'x' and 'b' == extra)").extras(),
            (std::vector<std::string>{"a", "b"}));
}

TEST(Marker, WhatIsNone) {
  for (const char* text : {"", "os_name", "os_name ==", "os_name == 'a", "os_name == a", "(os_name == 'a'",
                           "os_name == 'a')", "os_name == 'a' and", "os_name == 'a' xor os_name == 'b'", "()",
                           "os_name not 'a'", "os_name is 'a'", "os_name == 'a' 'b'", "and", "os_name inn 'a'"}) {
    EXPECT_THROW(Marker::parse(text), Error) << text;
  }
}

TEST(Marker, DepthIsAnErrorAndNotTheEndOfTheStack) {
  EXPECT_THROW(Marker::parse(std::string(1000000, '(')), Error);
  const std::string deep = std::string(100, '(') + "os_name == 'a'" + std::string(100, ')');
  EXPECT_EQ(Marker::parse(deep).to_string(), "os_name == \"a\"");
  std::string wide = "os_name == 'a'";
  for (int i = 0; i < 10000; ++i) wide += " or os_name == 'a'";
  EXPECT_EQ(Marker::parse(Marker::parse(wide).to_string()), Marker::parse(wide));
}

}  // namespace
}  // namespace wheelsmith::pep
