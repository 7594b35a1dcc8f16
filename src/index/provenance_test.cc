#include "index/provenance.h"

#include <gtest/gtest.h>

namespace wheelsmith::index {
namespace {

// {"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"a-1-py3-none-any.whl","digest":{"sha256":"ab"}}],
//  "predicateType":"x"}, encoded by coreutils' base64
constexpr const char* k_statement =
    "eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEiLCJzdWJqZWN0IjpbeyJuYW1lIjoiYS0xLXB5My1ub25lLWFueS53aGwi"
    "LCJkaWdlc3QiOnsic2hhMjU2IjoiYWIifX1dLCJwcmVkaWNhdGVUeXBlIjoieCJ9";

std::string attestation(const std::string& statement = k_statement) {
  return R"({"version":1,"verification_material":{"certificate":"YQ==","transparency_entries":[{}]},"envelope":{"statement":")" +
         statement + R"(","signature":"YWI="}})";
}

std::string provenance(const std::string& attestations) {
  return R"({"version":1,"attestation_bundles":[{"publisher":{"kind":"GitHub"},"attestations":[)" + attestations +
         "]}]}";
}

TEST(Provenance, GoodOne) {
  EXPECT_EQ(provenance_problem(provenance(attestation()), "a-1-py3-none-any.whl", "ab"), "");
  EXPECT_EQ(attestation_problem(attestation(), "a-1-py3-none-any.whl", "ab"), "");
}

TEST(Provenance, OfAnotherFile) {
  EXPECT_EQ(provenance_problem(provenance(attestation()), "a-1-py3-none-any.whl", "cd"),
            "its statement has another SHA-256 for that name");
  EXPECT_EQ(provenance_problem(provenance(attestation()), "b-1-py3-none-any.whl", "ab"),
            "its statement is about a-1-py3-none-any.whl");
}

TEST(Provenance, OtherShapes) {
  const auto bad = [](const std::string& text) {
    return !provenance_problem(text, "a-1-py3-none-any.whl", "ab").empty();
  };
  for (const std::string& text : {std::string(), std::string("["), std::string("[]"), std::string("{}"),
                                  std::string("null"), std::string(R"({"version":2,"attestation_bundles":[]})"),
                                  std::string(R"({"version":1,"attestation_bundles":[]})"),
                                  std::string(R"({"version":1,"attestation_bundles":[7]})"), provenance(""),
                                  provenance("{}"), provenance(attestation("")), provenance(attestation("====")),
                                  provenance(attestation("YQ==")), provenance(attestation("e30="))})
    EXPECT_TRUE(bad(text)) << text;
}

}  // namespace
}  // namespace wheelsmith::index
