#include "pep/variant_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::pep {
namespace {

VariantFile sample(VariantDialect dialect) {
  VariantFile file;
  file.dialect = dialect;
  file.namespaces = {"nvidia", "amd"};
  if (dialect != VariantDialect::pep825)
    file.providers = {{"nvidia", {{"nvidia-variant-provider"}, "nvidia_variant_provider.plugin:NvidiaVariantPlugin"}},
                      {"amd", {{"amd-variant-provider"}, ""}}};
  add_property(file.variants["cuda13.0"], "nvidia::sm_arch :: 90_real");
  add_property(file.variants["cuda13.0"], "nvidia :: sm_arch :: 100_real");
  add_property(file.variants["cuda13.0"], "nvidia :: cuda_version_lower_bound :: 13.0");
  return file;
}

TEST(VariantFile, ReadsBackWhatItWrites) {
  for (const char* name : {"pep817", "pep825", "pep850"}) {
    const VariantFile file = sample(variant_dialect(name).value());
    const VariantReading reading = read_variant_file(variant_file_text(file));
    EXPECT_EQ(reading.file, file) << name;
    EXPECT_TRUE(reading.problems.empty()) << name << ": " << join(reading.problems, "; ");
  }
  VariantFile null_variant = sample(VariantDialect::pep825);
  null_variant.variants = {{"null", {}}};
  EXPECT_TRUE(read_variant_file(variant_file_text(null_variant)).problems.empty());
}

TEST(VariantFile, SaysWhatIsWrong) {
  const std::string schema = R"("$schema":"https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json",)";
  const std::string priorities = R"("default-priorities":{"namespace":["n"]},)";
  const std::string good = R"("variants":{"x":{"n":{"f":["1","2"]}}})";
  const std::string schema_850 = R"("$schema":"https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",)";
  const struct {
    std::string text;
    const char* problem;
  } cases[] = {
      {"", "variant.json"},
      {"[]", "not a table"},
      {"{" + priorities + good + "}", "$schema is missing"},
      {"{" + schema + good + "}", "default-priorities is missing"},
      {"{" + schema + R"("default-priorities":{"namespace":[]},)" + good + "}", "at least one value"},
      {"{" + schema + R"("default-priorities":{"namespace":["n","n"]},)" + good + "}", "twice"},
      {"{" + schema + R"("default-priorities":{"namespace":["m"]},)" + good + "}", "is used, but not in"},
      {"{" + schema + R"("default-priorities":{"namespace":["n"],"feature":{}},)" + good + "}", "not a key of pep825"},
      {"{" + schema + priorities + R"("providers":{},)" + good + "}", "providers is not a key of pep825"},
      {"{" + schema + priorities + R"("variants":{}})", "variants is missing"},
      {"{" + schema + priorities + R"("variants":{"X":{"n":{"f":["1"]}}}})", "label X is not valid"},
      {"{" + schema + priorities + R"("variants":{"x":{}}})", "must be \"null\""},
      {"{" + schema + priorities + R"("variants":{"null":{"n":{"f":["1"]}}}})", "has properties"},
      {"{" + schema + priorities + R"("variants":{"x":{"n":{"f":["2","1"]}}}})", "not sorted"},
      {"{" + schema + priorities + R"("variants":{"x":{"n":{"f":["A"]}}}})", "invalid value A"},
      {"{" + schema + priorities + R"("variants":{"x":{"n":{"f-g":["1"]}}}})", "invalid feature"},
      {"{" + schema_850 + priorities + good + "}", "providers is missing"},
      {"{" + schema_850 + priorities + R"("providers":{"n":{}},)" + good + "}", "exactly one of"},
      {"{" + schema_850 + priorities + R"("providers":{"n":{"requires":["n"]},"m":{"requires":["m"]}},)" + good + "}",
       "m is not in default-priorities"},
      {"{" + priorities + R"("providers":{"n":{}},)" + good + "}", "no \"requires\""},
      {"{" + priorities + R"("providers":{"n":{"requires":["n"]}},"variants":{"a2345678901234567":{"n":{"f":["1"]}}}})",
       "more than 16"},
  };
  for (const auto& [text, problem] : cases) {
    const VariantReading reading = read_variant_file(text);
    EXPECT_NE(join(reading.problems, "; ").find(problem), std::string::npos)
        << text << ": " << join(reading.problems, "; ");
  }
}

// The form of torch 2.8 to 2.10: no schema, static properties, priorities of features.
TEST(VariantFile, ReadsThePublishedFormOfPep817) {
  const VariantReading reading = read_variant_file(R"({
    "default-priorities": {"namespace": ["nvidia", "priority"], "feature": {}, "property": {}},
    "providers": {"nvidia": {"requires": ["nvidia-variant-provider>=0.0.1"], "enable-if": "sys_platform == 'linux'"},
                  "priority": {"install-time": false}},
    "static-properties": {"priority": {"order": ["1", "2"]}},
    "variants": {"cuda12.8": {"nvidia": {"sm_arch": ["90_real", "80_real"]}, "priority": {"order": ["1"]}}}})");
  EXPECT_TRUE(reading.problems.empty()) << join(reading.problems, "; ");
  EXPECT_EQ(reading.file.dialect, VariantDialect::pep817);
  EXPECT_EQ(join(to_strings(reading.file.variants.at("cuda12.8")), ", "),
            "nvidia :: sm_arch :: 80_real, nvidia :: sm_arch :: 90_real, priority :: order :: 1");
}

TEST(VariantFile, RefusesOtherPropertyTexts) {
  VariantProperties properties;
  for (const char* text : {"", "a", "a :: b", "a :: b :: c :: d", "A :: b :: c", "a :: b.c :: d", "a :: b :: c d"})
    EXPECT_THROW(add_property(properties, text), Error) << text;
  EXPECT_TRUE(properties.empty());
}

}  // namespace
}  // namespace wheelsmith::pep
