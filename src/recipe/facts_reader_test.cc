#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "recipe/facts_test.h"
#include "recipe/table_reader.h"

namespace wheelsmith::recipe {

namespace data {
extern const std::string_view facts_aiter_toml, facts_common_toml, facts_fbgemm_gpu_toml, facts_flash_attn_toml,
    facts_flash_attn_rocm_toml, facts_pytorch_toml, facts_torchaudio_toml, facts_torchvision_toml, facts_triton_toml,
    facts_vllm_toml;
}  // namespace data

namespace {

// The values of a fact; the walk in facts_test.cc compares each of them.
const std::vector<std::string>& value_keys() {
  static const std::vector<std::string> keys = {
      "torch",
      "python",
      "gcc",
      "clang",
      "cmake",
      "cuda-range",
      "rocm-range",
      "cxx-standard",
      "archs",
      "suffixes",
      "fixed-archs",
      "features",
      "submodules",
      "variables",
      "submodules-needed",
      "options",
      "option-texts",
      "variables-required",
      "libraries",
      "no-libraries",
      "requirements",
      "variable-values",
      "project",
      "members",
      "requirements-named",
      "declared",
      "told",
      "not-told",
      "files",
      "folder",
      "optional-members",
      "no-files",
      "texts",
      "fetches",
      "preload-known",
      "preload-needed",
      "environment",
      "no-environment",
      "impossible",
      "asked",
      "code",
  };
  return keys;
}

Fact read_fact(TableReader& in, const std::string& file_name) {
  Fact fact;
  std::string from;
  in.text("from", from);
  if (from.empty()) in.problems().add(in.line(), "a fact says where it comes from");
  in.texts("variants", fact.variants);
  in.texts("targets", fact.targets);
  // Without an `if` it holds always.
  if (in.table().find("if") != nullptr) fact.condition = read_condition(in);
  bool any = false;
  for (const std::string& key : value_keys()) any = in.take(key) != nullptr || any;
  if (!any) in.problems().add(in.line(), "a fact without a value");
  fact.values = in.table();
  fact.where = fmt::format("{}:{} ({})", file_name, in.line(), from);
  return fact;
}

std::vector<std::string> one_or_several(const document::Value& value) {
  return value.text() != nullptr ? std::vector<std::string>{*value.text()} : value.texts();
}

bool names(const std::vector<std::string>& list, std::string_view word) {
  return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

bool Fact::holds(Variant variant, const std::string& target, const Conditions& conditions) const {
  return names(variants, to_string(variant)) && names(targets, target.empty() ? "default" : target) &&
         condition.holds(conditions);
}

PackageFacts read_facts(std::string_view toml, const std::string& file_name) {
  const document::Table table = document::parse_toml(toml, file_name);
  document::Problems problems(file_name);
  TableReader in(table, "the facts", 1, problems);
  PackageFacts facts;
  in.text("recipe", facts.recipe);
  in.text("prefix", facts.prefix);
  in.texts("tags", facts.tags);
  in.texts("ahead", facts.ahead);
  in.texts("cuda", facts.cuda);
  in.texts("rocm", facts.rocm);
  in.texts("compilers", facts.compilers);
  in.texts("machines", facts.machines);
  in.texts("torch", facts.torch);
  in.texts("build-types", facts.build_types);
  in.texts("needs", facts.needs);
  in.within("archs", [&](TableReader& archs) {
    for (const auto& [variant, lists] : archs.table()) archs.texts(variant, facts.archs[variant]);
  });
  in.each("settings", [&](TableReader& one) {
    auto& settings = facts.settings.emplace_back();
    for (const auto& [name, value] : one.table()) one.text(name, settings[name]);
  });
  in.each("published", [&](TableReader& one) {
    std::string tag, from;
    one.text("tag", tag);
    one.text("from", from);
    if (const document::Value* torch = one.take("torch")) facts.published[tag] = one_or_several(*torch);
    if (from.empty()) one.problems().add(one.line(), "say where it comes from");
  });
  in.each("fact", [&](TableReader& one) { facts.facts.push_back(read_fact(one, file_name)); });
  in.finish();
  problems.throw_if_any();
  return facts;
}

std::vector<PackageFacts> all_facts() {
  return {read_facts(data::facts_aiter_toml, "aiter.toml"),
          read_facts(data::facts_fbgemm_gpu_toml, "fbgemm_gpu.toml"),
          read_facts(data::facts_flash_attn_toml, "flash-attn.toml"),
          read_facts(data::facts_flash_attn_rocm_toml, "flash-attn-rocm.toml"),
          read_facts(data::facts_pytorch_toml, "pytorch.toml"),
          read_facts(data::facts_torchaudio_toml, "torchaudio.toml"),
          read_facts(data::facts_torchvision_toml, "torchvision.toml"),
          read_facts(data::facts_triton_toml, "triton.toml"),
          read_facts(data::facts_vllm_toml, "vllm.toml")};
}

std::vector<std::string> variables_of_tools() {
  std::vector<std::string> all;
  const document::Value root = document::parse_toml(data::facts_common_toml, "common.toml");
  for (const auto& [tool, list] : *root["variables"].table()) {
    for (const std::string& name : list.texts()) all.push_back(name);
  }
  return all;
}

namespace {

TEST(FactsReader, MistakesAreTold) {
  const auto problem = [](const char* toml) -> std::string {
    try {
      (void)read_facts(toml, "f.toml");
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(problem("recipe = \"x\"\n[[fact]]\npython = \">=3\"\nfrom = \"setup.py\"\n"), "no error");
  EXPECT_EQ(problem("[[fact]]\npython = \">=3\"\n"), "f.toml:1: a fact says where it comes from");
  EXPECT_EQ(problem("[[fact]]\nfrom = \"setup.py\"\n"), "f.toml:1: a fact without a value");
  EXPECT_NE(problem("[[fact]]\npyton = \">=3\"\nfrom = \"x\"\npython = \"\"\n").find("unknown key pyton"),
            std::string::npos);
}

}  // namespace
}  // namespace wheelsmith::recipe
