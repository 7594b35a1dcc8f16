#include "attest/sbom.h"

#include <gtest/gtest.h>

namespace wheelsmith::attest {
namespace {

// Names and versions as the specification of package URLs has them; its own parser judges whole documents in
// tests/sbom.sh.
TEST(Sbom, PackageUrls) {
  EXPECT_EQ(pypi_purl("Flash_Attn", "2.8.3+cu130"), "pkg:pypi/flash-attn@2.8.3%2Bcu130");
  EXPECT_EQ(pypi_purl("a.b", ""), "pkg:pypi/a-b");
  EXPECT_EQ(generic_purl("c++ x/y", "1"), "pkg:generic/c%2B%2B%20x%2Fy@1");
}

TEST(Sbom, PublicUrls) {
  EXPECT_EQ(public_url("https://user:word@host/a.git"), "https://host/a.git");
  EXPECT_EQ(public_url("https://host/a@b"), "https://host/a@b");
  EXPECT_EQ(public_url("ssh://git@host:22/a"), "ssh://host:22/a");
  EXPECT_EQ(public_url("https://a@b@host/"), "https://host/");
  EXPECT_EQ(public_url("https://user:p@host"), "https://host");
  EXPECT_EQ(public_url("file:///home/me/a"), "");
  EXPECT_EQ(public_url("/home/me/a"), "");
  EXPECT_EQ(public_url("me@host:a.git"), "");
}

SbomInputs sample_sbom() {
  SbomInputs inputs{.name = "small", .version = "1.0", .builder_version = "0.1.0"};
  inputs.used = {{"library", "setuptools", "80.9.0", pypi_purl("setuptools", "80.9.0"), std::string(64, 'a')}};
  inputs.bundled = {{"library", "libx.so", "", "", std::string(64, 'b')}, {"library", "libx.so", "", "", ""}};
  return inputs;
}

TEST(Sbom, SerialNumberFollowsFromTheContent) {
  const SbomInputs inputs = sample_sbom();
  const std::string first = make_sbom(inputs)["serialNumber"].text_or();
  EXPECT_EQ(first, make_sbom(inputs)["serialNumber"].text_or());
  EXPECT_EQ(first.size(), std::string("urn:uuid:").size() + 36);
  EXPECT_EQ(first[9 + 14], '8');
  SbomInputs other = inputs;
  other.used[0].sha256[0] = 'c';
  EXPECT_NE(first, make_sbom(other)["serialNumber"].text_or());
}

TEST(Sbom, ReferencesAreUnique) {
  const document::Value sbom = make_sbom(sample_sbom());
  const document::Array& components = *sbom["components"].array();
  ASSERT_EQ(components.size(), 2u);
  EXPECT_NE(components[0]["bom-ref"].text_or(), components[1]["bom-ref"].text_or());
  EXPECT_EQ((*sbom["dependencies"].array())[0]["dependsOn"].texts().size(), 2u);
  EXPECT_EQ((*(*sbom["formulation"].array())[0]["components"].array())[0]["name"].text_or(), "setuptools");
}

}  // namespace
}  // namespace wheelsmith::attest
