#include "plan/step/carried.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::plan {
namespace {

BuildSpec spec_of_a_machine() {
  BuildSpec spec;
  spec.id = "small-cuda-cp311";
  spec.identity = "small-cuda-cp311";
  spec.package = spec.project = "small";
  spec.version = "1.0";
  spec.variant = recipe::Variant::cuda;
  spec.recipe_text = "name = \"small\"\n";
  spec.recipe_origin = "/home/me/recipes/small.toml";
  spec.python.executable = "/home/me/env/bin/python";
  spec.python.prefix = "/home/me/env";
  spec.python.version = "3.11.7";
  spec.python.abi = "cp311";
  spec.source.kind = source::Pin::Kind::git;
  spec.source.git_url = "https://me:word@host/small.git";
  spec.source.git_commit = std::string(40, 'c');
  spec.source.git_ref = "main";
  spec.source.digest = "git:" + spec.source.git_commit;
  spec.environment.isolated = false;
  spec.environment.requirements = {"torch @ file:///home/me/torch.whl", "ninja"};
  spec.environment.lock.wheels = {{"ninja", "1.13", "ninja-1.13.whl", "https://me:word@index/ninja.whl", "ab"}};
  spec.environment.torch.wheelhouses = {"/home/me/wheels"};
  spec.tools.cc = "/home/me/bin/gcc";
  spec.tools.programs = {{"cmake", "/home/me/bin/cmake"}};
  spec.tools.cuda = {"/home/me/cuda", "", "13.0"};
  spec.tools.libraries.push_back({.name = "cudnn",
                                  .version = "9.1",
                                  .root = "/home/me/cudnn",
                                  .header = "/home/me/cudnn/a.h",
                                  .file = "/home/me/cudnn/a.so",
                                  .file_version = "",
                                  .found_by = "/home/me",
                                  .digest = "dd"});
  spec.variables.fixed = {{"PATH", "${env}/bin:/home/me/env/bin:/usr/bin"}, {"HF_TOKEN", "abc"}, {"FLAG", "1"}};
  spec.variables.loose = {{"RUSTUP_HOME", "/home/me/.rustup"}};
  spec.actions = {{Phase::build, CallHook{}}};
  spec.manifest.set("env:PATH", "${env}/bin:/home/me/env/bin:/usr/bin");
  spec.manifest.set("env:HF_TOKEN", "sha256 of abc");
  spec.manifest.set("requires:torch @ file:///home/me/torch.whl", "as resolved");
  spec.key = "key";
  return spec;
}

TEST(CarriedSpec, ContainsNoMachineDataAndNoSecret) {
  const std::string text = document::to_json(carried_value(spec_of_a_machine()));
  EXPECT_EQ(text.find("/home/me"), std::string::npos) << text;
  EXPECT_EQ(text.find("word"), std::string::npos) << text;
  EXPECT_EQ(text.find("abc"), std::string::npos) << text;
  EXPECT_NE(text.find("https://host/small.git"), std::string::npos) << text;
}

TEST(CarriedSpec, HidesValuesThatLookSecret) {
  for (const char* value : {"https://me:word@host/simple", "a b=redis://:word@host c", "ghp_0123456789abcdef",
                            "-----BEGIN OPENSSH PRIVATE KEY-----", "hf_0123456789abcdef"}) {
    BuildSpec spec;
    spec.variables.fixed = {{"PLAIN", value}};
    spec.manifest.set("env:PLAIN", "sha256 ab");
    const BuildSpec read = read_carried(carried_value(spec), "");
    EXPECT_EQ(*read.variable("PLAIN"), "(hidden)") << value;
    EXPECT_EQ(read.manifest.inputs().at("env:PLAIN"), "(hidden)") << value;
  }
  for (const char* value : {"https://host/simple", "1", "sk-", "me@host", "-O3 -DX=1", "https://host/a@b"}) {
    BuildSpec spec;
    spec.variables.fixed = {{"PLAIN", value}};
    EXPECT_EQ(*read_carried(carried_value(spec), "").variable("PLAIN"), value);
  }
}

TEST(CarriedSpec, IsReadBack) {
  const BuildSpec spec = spec_of_a_machine();
  const std::string text = document::to_json(carried_value(spec));
  const BuildSpec read = read_carried(document::parse_json(text, "build.json"), spec.recipe_text);
  EXPECT_EQ(read.package, spec.package);
  EXPECT_EQ(read.variant, recipe::Variant::cuda);
  EXPECT_EQ(read.recipe_text, spec.recipe_text);
  EXPECT_EQ(read.python.version, "3.11.7");
  EXPECT_EQ(read.source.git_commit, spec.source.git_commit);
  EXPECT_EQ(read.environment.lock.wheels.at(0).sha256, "ab");
  EXPECT_FALSE(read.environment.isolated);
  EXPECT_EQ(read.tools.cuda.root, k_of_machine);
  EXPECT_EQ(read.tools.libraries.at(0).digest, "dd");
  EXPECT_EQ(*read.variable("FLAG"), "1");
  EXPECT_EQ(hidden_variables(read), std::vector<std::string>{"HF_TOKEN"});
  EXPECT_EQ(read.actions.size(), 1u);
  // Storing a stored specification again changes nothing.
  EXPECT_EQ(document::to_json(carried_value(read)["spec"]["source"]),
            document::to_json(carried_value(spec)["spec"]["source"]));
}

TEST(CarriedSpec, RejectsInvalidDocuments) {
  EXPECT_THROW((void)read_carried(document::parse_json("{}", "x"), ""), Error);
  EXPECT_THROW((void)read_carried(document::parse_json(R"({"schema":1,"spec":{"id":7}})", "x"), ""), Error);
  EXPECT_THROW((void)read_carried(document::parse_json(R"({"schema":1,"spec":{"variant":"tpu"}})", "x"), ""), Error);
  // A document of an older version has fewer members.
  EXPECT_EQ(read_carried(document::parse_json(R"({"schema":1,"spec":{"package":"a"}})", "x"), "").package, "a");
}

}  // namespace
}  // namespace wheelsmith::plan
