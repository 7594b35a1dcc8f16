#include "pep/wheel_name.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::pep {
namespace {

TEST(WheelName, AllForms) {
  struct Row {
    const char* text;
    WheelName expected;
  };
  for (const Row& row :
       {Row{"torch-2.15.0+cu130-cp311-cp311-manylinux_2_28_x86_64.whl",
            {"torch", "2.15.0+cu130", "", "cp311", "cp311", "manylinux_2_28_x86_64", ""}},
        {"a_b-1!2.0-3local-py2.py3-none-any.whl", {"a_b", "1!2.0", "3local", "py2.py3", "none", "any", ""}},
        {"torch-2.13.0-cp313-cp313-linux_x86_64-cuda13.0.whl",
         {"torch", "2.13.0", "", "cp313", "cp313", "linux_x86_64", "cuda13.0"}},
        {"torch-2.13.0-1-cp313-cp313-linux_x86_64-null.whl",
         {"torch", "2.13.0", "1", "cp313", "cp313", "linux_x86_64", "null"}}}) {
    EXPECT_EQ(WheelName::parse(row.text), row.expected) << row.text;
    EXPECT_EQ(WheelName::parse(row.text).to_string(), row.text);
  }
}

TEST(WheelName, SaysWhichPartIsWrong) {
  struct Row {
    const char *text, *message;
  };
  for (const Row& row : {Row{"a-1-py3-none-any.zip", "does not end in .whl"},
                         {".whl", "it has 1 part separated"},
                         {"a-1-py3-none.whl", "it has 4 parts"},
                         {"a-1-1-py3-none-any-x-y.whl", "it has 8 parts"},
                         {"dir/a-1-py3-none-any.whl", "path separator"},
                         {"dir\\a-1-py3-none-any.whl", "path separator"},
                         {"-1-py3-none-any.whl", "its name is empty"},
                         {"a--py3-none-any.whl", "its version is empty"},
                         {"a-1--none-any.whl", "its Python tag is empty"},
                         {"a-1-py3--any.whl", "its ABI tag is empty"},
                         {"a-1-py3-none-.whl", "its platform tag is empty"},
                         {"a-1-py3-none-any-.whl", "its variant label is empty"},
                         {"a-1-x-py3-none-any-label.whl", "its build number \"x\" does not begin with a digit"},
                         {"a-1-b-2-none-any-label.whl", "its build number \"b\""},
                         {"a-1-1-3.11-none-any.whl", "its Python tag \"3.11\" begins with a digit"}}) {
    try {
      WheelName::parse(row.text);
      ADD_FAILURE() << row.text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << row.text << ": " << error.what();
    }
  }
}

TEST(WheelName, Check) {
  struct Row {
    const char *text, *id;
    Severity severity;
  };
  for (const Row& row :
       {Row{"Pillow-1-py3-none-any.whl", "wheel-name-spelling", Severity::note},
        {"a b-1-py3-none-any.whl", "wheel-name-project", Severity::error},
        {"a-1.0%2Bcu130-py3-none-any.whl", "wheel-name-version", Severity::error},
        {"flash-attn-2.8-py3-none-any.whl", "wheel-name-version", Severity::error},
        {"a-1.0.alpha1-py3-none-any.whl", "wheel-name-version-spelling", Severity::note},
        {"a-1-1 2-py3-none-any.whl", "wheel-name-build", Severity::error},
        {"a-1-py3-none-any-CUDA.whl", "wheel-name-label", Severity::error},
        {"a-1-py3-none-any-abcdefghijklmnopq.whl", "wheel-name-label-length", Severity::warning},
        {"a-1-py3-none-any..linux_x86_64.whl", "wheel-name-tag", Severity::error},
        {"a-1-py3.py3-none-any.whl", "wheel-name-tag-repeated", Severity::warning},
        {"a-1-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "wheel-name-tag-order", Severity::note}}) {
    const std::vector<Finding> findings = check_wheel_name(WheelName::parse(row.text), row.text);
    ASSERT_EQ(findings.size(), 1u) << row.text;
    EXPECT_EQ(findings[0].id, row.id);
    EXPECT_EQ(findings[0].severity, row.severity) << row.text;
  }
  for (const char* text : {"torch-2.15.0+cu130-cp311-cp311-manylinux_2_28_x86_64.whl", "a-1-py2.py3-none-any.whl",
                           "fbgemm_gpu-1!1.9.0-2-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64-cu13.0.whl"}) {
    EXPECT_TRUE(check_wheel_name(WheelName::parse(text), text).empty()) << text;
  }
}

TEST(Tag, ExpandsInOrderAndWithinALimit) {
  const std::vector<Tag> expected = {
      {"py2", "none", "a"}, {"py2", "none", "b"}, {"py3", "none", "a"}, {"py3", "none", "b"}};
  EXPECT_EQ(Tag::expand("py2.py3-none-a.b"), expected);
  EXPECT_EQ(WheelName::parse("x-1-py2.py3-none-a.b.whl").tags(), expected);
  EXPECT_EQ(Tag::parse("cp311-abi3-any").to_string(), "cp311-abi3-any");
  for (const char* text : {"", "py3", "py3-none", "py3-none-any-x", "py3--any"})
    EXPECT_THROW(Tag::parse(text), Error) << text;
  const std::string many(5000, '.');
  EXPECT_THROW(Tag::expand("a" + many + "-b" + many + "-c" + many), Error);
  EXPECT_EQ(Tag::expand("a-b-c" + std::string(9999, '.')).size(), 10000u);
  EXPECT_THROW(Tag::expand("a-b-c" + std::string(10000, '.')), Error);
}

TEST(Name, NormalForms) {
  EXPECT_EQ(normalized_name("Foo__Bar.-baz"), "foo-bar-baz");
  EXPECT_EQ(normalized_name("_a_"), "-a-");
  EXPECT_EQ(escaped_name("FBGEMM-GPU.genai"), "fbgemm_gpu_genai");
}

}  // namespace
}  // namespace wheelsmith::pep
