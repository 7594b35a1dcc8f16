#include "attest/sign.h"

#include <gtest/gtest.h>

#include "attest/verify.h"
#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::attest {
namespace {

using Words = std::vector<std::string>;

TEST(Sign, ReadsTheOption) {
  EXPECT_EQ(parse_signer("gpg").method, SignMethod::gpg);
  EXPECT_EQ(parse_signer("gpg:me@host").key, "me@host");
  EXPECT_EQ(parse_signer("ssh:/keys/a").key, "/keys/a");
  EXPECT_EQ(parse_signer("cosign:azurekms://x").key, "azurekms://x");
  for (const char* text : {"", "pgp", "ssh", "ssh:", "gpg:--output=x", "cosign:-x"})
    EXPECT_THROW((void)parse_signer(text), Error) << text;
}

// The programs' own manuals are the judge of these; gpg's and ssh-keygen's are tried for real in tests/sign.sh.
TEST(Sign, Commands) {
  EXPECT_EQ(sign_command({SignMethod::gpg, "KEY"}, "/w/a.whl"),
            (Words{"gpg", "--batch", "--yes", "--armor", "--detach-sign", "--local-user", "KEY", "--output",
                   "/w/a.whl.asc", "--", "/w/a.whl"}));
  EXPECT_EQ(sign_command({SignMethod::ssh, "/k"}, "/w/a.whl"),
            (Words{"ssh-keygen", "-Y", "sign", "-f", "/k", "-n", "file", "/w/a.whl"}));
  EXPECT_EQ(sign_command({SignMethod::cosign, ""}, "/w/a.whl"),
            (Words{"cosign", "sign-blob", "--yes", "--bundle", "/w/a.whl.sigstore.json", "/w/a.whl"}));
  EXPECT_EQ(
      sign_command({SignMethod::cosign, "k.key"}, "/w/a.whl"),
      (Words{"cosign", "sign-blob", "--yes", "--bundle", "/w/a.whl.sigstore.json", "--key", "k.key", "/w/a.whl"}));
  Trusted trusted;
  trusted.certificate_identity = "me@host";
  trusted.certificate_issuer = "https://issuer";
  EXPECT_EQ(cosign_verify_command(trusted, "/w/a.whl", "/w/s"),
            (Words{"cosign", "verify-blob", "--bundle", "/w/s", "--certificate-identity", "me@host",
                   "--certificate-oidc-issuer", "https://issuer", "/w/a.whl"}));
  trusted.cosign_key = "k.pub";
  EXPECT_EQ(cosign_verify_command(trusted, "/w/a.whl", "/w/s"),
            (Words{"cosign", "verify-blob", "--bundle", "/w/s", "--key", "k.pub", "/w/a.whl"}));
}

// Status lines as gpg's doc/DETAILS describes them.
TEST(Sign, GpgStatus) {
  const std::string key(40, 'A'), primary(40, 'B');
  const std::string valid = "[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG AAAA Me <me@host>\n[GNUPG:] VALIDSIG " + key +
                            " 2026-11-16 1794800000 0 4 0 22 10 00 " + primary + "\n";
  EXPECT_EQ(read_gpg_status(valid, "").state, Verification::State::good);
  EXPECT_EQ(read_gpg_status(valid, "").signer, primary);
  EXPECT_EQ(read_gpg_status(valid, primary).state, Verification::State::good);
  EXPECT_EQ(read_gpg_status(valid, "0x" + std::string(40, 'a')).state, Verification::State::good);
  EXPECT_EQ(read_gpg_status(valid, std::string(40, 'C')).state, Verification::State::bad);
  EXPECT_EQ(read_gpg_status(valid, "BBBBBBBB").state, Verification::State::bad);
  for (const char* line : {"BADSIG A B", "NO_PUBKEY A", "EXPKEYSIG A B", "REVKEYSIG A B", "EXPSIG A B"})
    EXPECT_EQ(read_gpg_status(valid + "[GNUPG:] " + line + "\n", "").state, Verification::State::bad) << line;
  EXPECT_EQ(read_gpg_status("", "").state, Verification::State::bad);
  EXPECT_EQ(read_gpg_status(valid + valid, "").state, Verification::State::bad);
  // A name in a user ID is no status line.
  EXPECT_EQ(read_gpg_status("gpg: Good signature from \"[GNUPG:] GOODSIG\"\n", "").state, Verification::State::bad);
}

TEST(Verify, AWheelWithoutASignatureIsNotGood) {
  const sys::TempDir folder;
  const std::filesystem::path wheel = folder.path() / "small-1.0-py3-none-any.whl";
  sys::write_file(wheel, "bytes");
  EXPECT_EQ(verify_wheel(wheel, {}).why(), "there is no signature next to it (.asc, .sig or .sigstore.json)");
  EXPECT_FALSE(verify_wheel(folder.path() / "absent.whl", {}).good());
  // A signature without a trusted signer is not good either.
  sys::write_file(wheel.string() + ".sigstore.json", "{}");
  EXPECT_FALSE(verify_wheel(wheel, {}).good());
}

}  // namespace
}  // namespace wheelsmith::attest
