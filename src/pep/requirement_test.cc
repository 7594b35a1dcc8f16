#include "pep/requirement.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::pep {
namespace {

TEST(Specifier, Contains) {
  struct Row {
    const char *specifiers, *version;
    bool expected;
  };
  for (const Row& row : {Row{"", "1.0", true},
                         {"==1.2", "1.2.0", true},
                         {"==1.2", "1.2+cu130", true},
                         {"==1.2+cu130", "1.2+cu130", true},
                         {"==1.2+cu130", "1.2", false},
                         {"!=1.2", "1.2+cu130", false},
                         {"==1.2.*", "1.2rc1", true},
                         {"==1.0.*", "1rc1", true},
                         {"==1.2.*", "1.20", false},
                         {"==1.2.*", "1!1.2", false},
                         {"!=3.0.*,!=3.1.*,>=2.7", "3.1.4", false},
                         {"!=3.0.*,!=3.1.*,>=2.7", "3.2", true},
                         {"~=1.2.3", "1.2.9", true},
                         {"~=1.2.3", "1.3", false},
                         {"~=1.2.3", "1.2.3rc1", false},
                         {"~=2.2.post3", "2.3", true},
                         {"~=2.2.post3", "3", false},
                         {"~=2.2", "2.2+local", true},
                         {"<1.2", "1.2rc1", false},
                         {"<1.2rc2", "1.2rc1", true},
                         {"<1.2", "1.1.post1", true},
                         {"<1.2.post1", "1.2rc1", true},
                         {">1.2", "1.2.post1", false},
                         {">1.2", "1.2+local", false},
                         {">1.2a1", "1.2.post1", true},
                         {">1.2a1", "1.2a1.post1", false},
                         {">1.2.post1", "1.2.post2", true},
                         {">1.2", "1.2.1", true},
                         {">=1.2", "1.2rc1", false},
                         {"<=1.2", "1.2+local", true},
                         {"===1.2.0", "1.2.0", true},
                         {"===1.2", "1.2.0", false},
                         {">=3.9,<3.15", "3.14", true},
                         {" >= 3.9 , < 3.15, ", "3.15", false}}) {
    EXPECT_EQ(contains(parse_specifiers(row.specifiers), Version::parse(row.version)), row.expected)
        << row.specifiers << " and " << row.version;
  }
}

TEST(Specifier, WhatIsNone) {
  for (const char* text : {"1.0", ">=", ">=x", ">=1.*", "~=1", "~=1.0+a", ">1+a", "==1.dev1.*", "==1+a.*", "==1a1.*",
                           "=1", ">=1 2", ">=1;", ">=1,,<2", ",>=1", "==*", "=>1", ">=3.6.*"}) {
    EXPECT_THROW(parse_specifiers(text), Error) << text;
  }
}

TEST(Requirement, Parts) {
  const Requirement r = Requirement::parse(" Foo.bar [ cuda , Rocm_7 ] (>= 1.0, <2) ; python_version < \"3.11\" ");
  EXPECT_EQ(r.name, "Foo.bar");
  EXPECT_EQ(r.extras, (std::vector<std::string>{"cuda", "Rocm_7"}));
  EXPECT_EQ(r.specifiers, (std::vector<Specifier>{{">=", "1.0"}, {"<", "2"}}));
  EXPECT_EQ(r.marker, "python_version < \"3.11\"");
  EXPECT_EQ(r.to_string(), "Foo.bar[cuda,Rocm_7]>=1.0,<2; python_version < \"3.11\"");
}

TEST(Requirement, Url) {
  const Requirement r = Requirement::parse("a@https://example.com/a;b.whl#sha256=0 ; os_name == 'nt'");
  EXPECT_EQ(r.url, "https://example.com/a;b.whl#sha256=0");
  EXPECT_EQ(r.marker, "os_name == 'nt'");
  EXPECT_EQ(Requirement::parse(r.to_string()), r);
}

TEST(Requirement, PrintsToItself) {
  for (const char* text : {"a", "a[]", "a[b]", "a==1.*", "nvidia-cublas-cu12==12.8.4.1; platform_system == 'Linux'",
                           "a>=1,", "a ()", "a===weird!", "a;extra=='x'", "triton==3.9.0;(sys_platform == 'linux')"}) {
    const Requirement r = Requirement::parse(text);
    EXPECT_EQ(Requirement::parse(r.to_string()), r) << text;
  }
}

TEST(Requirement, SaysWhereTheTextStopsBeingOne) {
  struct Row {
    const char *text, *message;
  };
  for (const Row& row : {Row{"", "the name of a project is missing (column 1)"},
                         {"-a", "begin and end with a letter or digit (column 1)"},
                         {"a-", "begin and end with a letter or digit (column 1)"},
                         {"a >= x", "\"x\" is not a valid version (column 6)"},
                         {"a 1.0", "expected a comparison such as \">=\" (column 3)"},
                         {"a[b", "expected \",\" or \"]\" (column 4)"},
                         {"a[b,]", "the name of an extra is missing (column 5)"},
                         {"a (>=1", "expected \",\" or \")\" (column 7)"},
                         {"a @ ", "expected a URL after \"@\" (column 4)"},
                         {"a @ u b", "expected \";\" or the end (column 7)"},
                         {"a>=1 b", "expected \";\" or the end (column 6)"},
                         {"a;", "expected a variable or a quoted string (column 3)"},
                         {"a; pythonversion > '3'", "\"pythonversion\" is not a marker variable (column 4)"}}) {
    try {
      Requirement::parse(row.text);
      ADD_FAILURE() << row.text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << row.text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace wheelsmith::pep
