#include "attest/statement.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "testing/wheel_builder.h"

namespace wheelsmith::attest {
namespace {

CarriedFiles carried() {
  CarriedFiles files;
  files.dist_info = "small-1.0.dist-info";
  files.recipe = "name = \"small\"\n";
  files.provenance = document::parse_json(R"({"schema":1,"builder":"wheelsmith 0.1.0","key":"k","recipe":"small",
    "variant":"cpu","source":{"digest":"git:c0ffee","commit":"c0ffee","url":"https://host/small.git",
      "submodules":[{"path":"third_party/x","url":"https://host/x","commit":"abc"}]},
    "patches":[{"name":"a.patch","sha256":"11"}],
    "build_requirements":[{"name":"setuptools","version":"80.9.0","sha256":"22","file":"setuptools-80.9.0.whl"}],
    "network":"none","sandbox":{"kind":"namespaces","missing":[]}})",
                                          "provenance");
  files.build = document::parse_json(R"json({"spec":{"variables":{"fixed":[["A","1"],["B_TOKEN","(hidden)"],["C","3"]]},
    "manifest":{"inputs":[["env:A","sha256 ff"],["env:B_TOKEN","(hidden)"],["env:C","3"]]}}})json",
                                     "build");
  return files;
}

TEST(Statement, SaysWhatTheSpecificationsAskFor) {
  const document::Value statement = make_statement("small-1.0-py3-none-any.whl", "ab", carried());
  EXPECT_EQ(statement["_type"].text_or(), "https://in-toto.io/Statement/v1");
  EXPECT_EQ(statement["predicateType"].text_or(), "https://slsa.dev/provenance/v1");
  EXPECT_EQ((*statement["subject"].array())[0]["name"].text_or(), "small-1.0-py3-none-any.whl");
  EXPECT_EQ((*statement["subject"].array())[0]["digest"]["sha256"].text_or(), "ab");
  const document::Value& definition = statement["predicate"]["buildDefinition"];
  EXPECT_FALSE(definition["buildType"].text_or().empty());
  EXPECT_EQ(definition["internalParameters"]["sandbox"]["kind"].text_or(), "namespaces");
  EXPECT_EQ(definition["internalParameters"]["network"].text_or(), "none");
  // What the user set: external, and without the secret.
  EXPECT_EQ(document::to_json(definition["externalParameters"]["variables"], -1),
            R"json({"A":"1","B_TOKEN":"(hidden)"})json");
  const document::Array& dependencies = *definition["resolvedDependencies"].array();
  ASSERT_EQ(dependencies.size(), 4u);
  EXPECT_EQ(dependencies[0]["uri"].text_or(), "git+https://host/small.git@c0ffee");
  EXPECT_EQ(dependencies[0]["digest"]["gitCommit"].text_or(), "c0ffee");
  EXPECT_EQ(dependencies[1]["digest"]["gitCommit"].text_or(), "abc");
  EXPECT_EQ(dependencies[3]["uri"].text_or(), "pkg:pypi/setuptools@80.9.0");
  EXPECT_EQ(dependencies[3]["digest"]["sha256"].text_or(), "22");
  EXPECT_EQ(statement["predicate"]["runDetails"]["builder"]["version"]["wheelsmith"].text_or(), "0.1.0");
}

TEST(Statement, IsComparedWithTheWheel) {
  const std::string name = "small-1.0-py3-none-any.whl";
  const document::Value good = make_statement(name, "ab", carried());
  EXPECT_TRUE(compare_statement(good, name, "ab", carried()).empty());
  EXPECT_EQ(compare_statement(good, name, "cd", carried()).size(), 1u);
  EXPECT_EQ(compare_statement(good, "other-1.0-py3-none-any.whl", "ab", carried()).size(), 1u);
  CarriedFiles other = carried();
  (*other.provenance.table())["network"] = "open";
  const std::vector<std::string> problems = compare_statement(good, name, "ab", other);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0],
            "statement.predicate.buildDefinition.internalParameters.network: the statement says \"none\", the wheel "
            "says \"open\"");
  for (const char* text : {"[]", "7", "{}", R"({"subject":{}})", R"({"subject":[7]})", R"({"subject":[{"digest":7}]})"})
    EXPECT_FALSE(compare_statement(document::parse_json(text, "x"), name, "ab", carried()).empty()) << text;
}

testing::WheelBuilder wheel_with(const std::string& provenance) {
  return testing::WheelBuilder("small", "1.0", "py3-none-any")
      .add("small-1.0.dist-info/wheelsmith/provenance.json", provenance)
      .add("small-1.0.dist-info/wheelsmith/recipe.toml", "name = \"small\"");
}

TEST(CarriedFiles, AreReadFromAWheel) {
  const std::string wheel = wheel_with(R"({"schema":1,"key":"k"})").build();
  const CarriedFiles files = read_carried_files(Bytes(wheel));
  EXPECT_EQ(files.dist_info, "small-1.0.dist-info");
  EXPECT_EQ(files.provenance["key"].text_or(), "k");
  EXPECT_EQ(files.recipe, "name = \"small\"");
  EXPECT_FALSE(files.build);
}

TEST(CarriedFiles, RefuseOtherWheels) {
  const auto refused = [](const std::string& wheel) {
    try {
      (void)read_carried_files(Bytes(wheel));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_EQ(refused(testing::WheelBuilder("small", "1.0", "py3-none-any").build()),
            "the wheel was not built by wheelsmith: its .dist-info folder has no wheelsmith/provenance.json");
  EXPECT_EQ(refused(testing::WheelBuilder("small", "1.0", "py3-none-any")
                        .add("small/x.dist-info/wheelsmith/provenance.json", "{}")
                        .build()),
            "the wheel was not built by wheelsmith: its .dist-info folder has no wheelsmith/provenance.json");
  EXPECT_EQ(
      refused(wheel_with("{\"schema\":1}").add("b-2.dist-info/wheelsmith/provenance.json", "{}").build()).substr(0, 32),
      "the wheel has two provenances: s");
  EXPECT_NE(refused(wheel_with("7").build()), "read");
  EXPECT_NE(refused(wheel_with("{").build()), "read");
  EXPECT_NE(refused("no archive"), "read");
}

}  // namespace
}  // namespace wheelsmith::attest
