// `verify`: checks who signed a wheel, and whether its in-toto statement describes it.

#include "attest/verify.h"

#include "cli/command.h"
#include "report/verification.h"

namespace wheelsmith::cli {

namespace {

struct VerifyCommand {
  OutputOptions output;
  attest::Trusted trusted;
  std::vector<std::string> paths;
};

int verify_wheels(const VerifyCommand& command) {
  const attest::Trusted& trusted = command.trusted;
  if (trusted.allowed_signers.empty() != trusted.identity.empty())
    throw UsageError("--allowed-signers FILE and --identity NAME must be used together");
  if (trusted.certificate_identity.empty() != trusted.certificate_issuer.empty())
    throw UsageError("--certificate-identity and --certificate-oidc-issuer must be used together");
  std::vector<attest::WheelVerification> items;
  bool good = true;
  for (const std::string& path : command.paths) {
    items.push_back(attest::verify_wheel(path, trusted));
    good = good && items.back().good();
    if (!command.output.json) print(report::verification_text(items.back(), command.output.style()));
  }
  if (command.output.json) print(report::verifications_json(items));
  return good ? k_fine : k_not_fine;
}

}  // namespace

void add_verify(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<VerifyCommand>();
  CLI::App* sub = app.add_subcommand("verify", "Check the signatures of wheels and their in-toto statements");
  sub->footer(
      "Reads the signatures beside each wheel: WHEEL.asc (gpg), WHEEL.sig (ssh-keygen) and WHEEL.sigstore.json "
      "(cosign), and the\n"
      "statement WHEEL.intoto.json. A wheel passes if a key that you give signed it, no signature is invalid, and the "
      "statement names the wheel's SHA-256 and agrees with the provenance in the wheel. A wheel without a signature "
      "fails.\n\n"
      "Examples:\n"
      "  wheelsmith verify wheelhouse/*.whl --keyring release-keys.asc\n"
      "  wheelsmith verify small-1.0-py3-none-any.whl --allowed-signers signers.txt --identity me@example.com");
  sub->add_option("WHEEL", command->paths, "Wheels")->required();
  attest::Trusted& trusted = command->trusted;
  sub->add_option("--key", trusted.gpg_key, "Fingerprint of the gpg key that must have signed")
      ->type_name("FINGERPRINT");
  sub->add_option("--keyring", trusted.gpg_keyring, "File of exported public gpg keys that may sign")
      ->type_name("FILE");
  sub->add_option("--allowed-signers", trusted.allowed_signers, "Allowed signers file of ssh-keygen")
      ->type_name("FILE");
  sub->add_option("--identity", trusted.identity, "Identity in --allowed-signers whose key must have signed")
      ->type_name("NAME");
  sub->add_option("--cosign-key", trusted.cosign_key, "Public key for cosign's signatures")->type_name("KEY");
  sub->add_option("--certificate-identity", trusted.certificate_identity,
                  "Identity that the certificate of a cosign signature must have")
      ->type_name("NAME");
  sub->add_option("--certificate-oidc-issuer", trusted.certificate_issuer, "OIDC issuer of that identity")
      ->type_name("URL");
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return verify_wheels(*command); }; });
}

}  // namespace wheelsmith::cli
