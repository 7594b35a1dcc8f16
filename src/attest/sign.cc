#include "attest/sign.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::attest {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::minutes k_sign_timeout(10);  // a person may have to touch a security key
constexpr std::size_t k_shown = 2'000;
// ssh-keygen's namespace of a signature; its manual suggests this one for files.
constexpr const char* k_namespace = "file";

std::string_view program_of(SignMethod method) {
  switch (method) {
    case SignMethod::gpg: return "gpg";
    case SignMethod::ssh: return "ssh-keygen";
    case SignMethod::cosign: break;
  }
  return "cosign";
}

std::string said_by(const sys::Captured& captured) {
  const std::string said(trim(captured.errors.empty() ? captured.output : captured.errors));
  return printable(said.substr(0, k_shown));
}

void require_program(SignMethod method) {
  const std::string_view program = program_of(method);
  if (sys::find_program(program).empty())
    throw Error(
        fmt::format("{} is not installed or not in PATH; the signing method {} needs it", program, enum_name(method)));
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// ssh-keygen must not ask on the terminal, which shows the status lines of the build; it uses an agent or
// SSH_ASKPASS.
sys::Environment signing_environment() {
  sys::Environment environment = sys::current_environment();
  environment["SSH_ASKPASS_REQUIRE"] = "force";
  environment.try_emplace("SSH_ASKPASS", "/bin/false");
  return environment;
}

// A separate gpg home that contains only the trusted keys, so that neither the user's settings nor other keys matter.
class GpgHome {
 public:
  explicit GpgHome(const Trusted& trusted) {
    fs::permissions(m_home.path(), fs::perms::owner_all);
    sys::Command import{.argv = command({"--import"})};
    import.input =
        trusted.gpg_keyring.empty() ? exported(trusted.gpg_key) : sys::read_file(trusted.gpg_keyring, 64 << 20);
    if (import.input.empty())
      throw Error(fmt::format("gpg has no public key {} to check signatures with", printable(trusted.gpg_key)));
    const sys::Captured captured = sys::capture(import);
    if (!captured.exit.good())
      throw Error(fmt::format("{} contains no public keys that gpg can import: {}",
                              trusted.gpg_keyring.empty() ? "its keyring" : printable(trusted.gpg_keyring.string()),
                              said_by(captured)));
  }

  [[nodiscard]] std::vector<std::string> command(std::vector<std::string> more) const {
    std::vector<std::string> argv = {"gpg",
                                     "--homedir",
                                     m_home.path().string(),
                                     "--batch",
                                     "--no-tty",
                                     "--no-autostart",
                                     "--no-auto-key-retrieve",
                                     "--trust-model",
                                     "always",
                                     "--status-fd",
                                     "1"};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }

 private:
  static std::string exported(const std::string& key) {
    return sys::capture({.argv = {"gpg", "--batch", "--no-tty", "--export", "--", key}}).output;
  }

  sys::TempDir m_home;
};

Verification verify_gpg(const fs::path& file, const fs::path& signature, const Trusted& trusted) {
  if (trusted.gpg_key.empty() && trusted.gpg_keyring.empty())
    return {Verification::State::unchecked, "", "pass --key or --keyring to name the trusted signers"};
  const GpgHome home(trusted);
  const sys::Captured captured =
      sys::capture({.argv = home.command({"--verify", "--", signature.string(), file.string()})});
  Verification result = read_gpg_status(captured.output, trusted.gpg_key);
  if (result.state == Verification::State::good && !captured.exit.good())
    return {Verification::State::bad, "", "gpg ended with " + sys::to_string(captured.exit)};
  return result;
}

Verification verify_ssh(const fs::path& file, const fs::path& signature, const Trusted& trusted) {
  if (trusted.allowed_signers.empty() || trusted.identity.empty())
    return {Verification::State::unchecked, "", "pass --allowed-signers and --identity to name the trusted signers"};
  sys::Command command{.argv = ssh_verify_command(trusted, signature)};
  command.input_file = file;
  const sys::Captured captured = sys::capture(command);
  if (captured.exit.good()) return {Verification::State::good, trusted.identity, ""};
  return {Verification::State::bad, "", said_by(captured)};
}

Verification verify_cosign(const fs::path& file, const fs::path& signature, const Trusted& trusted) {
  const bool by_certificate = !trusted.certificate_identity.empty() && !trusted.certificate_issuer.empty();
  if (trusted.cosign_key.empty() && !by_certificate)
    return {Verification::State::unchecked, "",
            "pass --cosign-key, or --certificate-identity with --certificate-oidc-issuer, to name the trusted signers"};
  const sys::Captured captured = sys::capture({.argv = cosign_verify_command(trusted, file, signature)});
  if (captured.exit.good())
    return {Verification::State::good, by_certificate ? trusted.certificate_identity : trusted.cosign_key, ""};
  return {Verification::State::bad, "", said_by(captured)};
}

}  // namespace

Signer parse_signer(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto method = enum_named<SignMethod>(text.substr(0, colon));
  if (!method) throw Error(fmt::format("--sign {}: expected gpg:FINGERPRINT, ssh:KEYFILE or cosign", printable(text)));
  Signer signer{*method, colon < text.size() ? text.substr(colon + 1) : ""};
  if (*method == SignMethod::ssh && signer.key.empty())
    throw Error("--sign ssh: the key file is missing, as in ssh:~/.ssh/id_ed25519");
  if (*method == SignMethod::ssh && signer.key.starts_with("~/")) {
    const sys::Environment environment = sys::current_environment();
    const auto found = environment.find("HOME");
    if (found != environment.end()) signer.key = found->second + signer.key.substr(1);
  }
  if (signer.key.starts_with("-"))
    throw Error(fmt::format("--sign {}: a key name cannot begin with \"-\"", printable(text)));
  return signer;
}

void check_signer(const Signer& signer) {
  require_program(signer.method);
  std::error_code ignored;
  if (signer.method == SignMethod::ssh && !fs::is_regular_file(signer.key, ignored))
    throw Error(fmt::format("--sign ssh: key {} does not exist", printable(signer.key)));
  if (signer.method != SignMethod::gpg) return;
  std::vector<std::string> argv = {"gpg", "--batch", "--no-tty", "--list-secret-keys"};
  if (!signer.key.empty()) argv.insert(argv.end(), {"--", signer.key});
  const sys::Captured captured = sys::capture({.argv = argv});
  if (!captured.exit.good() || trim(captured.output).empty())
    throw Error(
        fmt::format("--sign gpg: gpg has no secret key{}", signer.key.empty() ? "" : " " + printable(signer.key)));
}

fs::path signature_of(const fs::path& file, SignMethod method) {
  switch (method) {
    case SignMethod::gpg: return file.string() + ".asc";
    case SignMethod::ssh: return file.string() + ".sig";
    case SignMethod::cosign: break;
  }
  return file.string() + ".sigstore.json";
}

std::vector<std::string> sign_command(const Signer& signer, const fs::path& file) {
  const std::string signature = signature_of(file, signer.method).string();
  std::vector<std::string> argv = {std::string(program_of(signer.method))};
  const auto add = [&](std::initializer_list<std::string> words) { argv.insert(argv.end(), words); };
  switch (signer.method) {
    case SignMethod::gpg:
      add({"--batch", "--yes", "--armor", "--detach-sign"});
      if (!signer.key.empty()) add({"--local-user", signer.key});
      add({"--output", signature, "--", file.string()});
      break;
    case SignMethod::ssh: add({"-Y", "sign", "-f", signer.key, "-n", k_namespace, file.string()}); break;
    case SignMethod::cosign:
      add({"sign-blob", "--yes", "--bundle", signature});
      if (!signer.key.empty()) add({"--key", signer.key});
      add({file.string()});
      break;
  }
  return argv;
}

fs::path sign_file(const Signer& signer, const fs::path& given) {
  const fs::path file = fs::absolute(given);  // never an option
  const fs::path signature = signature_of(file, signer.method);
  std::error_code error;
  fs::remove(signature, error);  // ssh-keygen would ask whether to replace it
  const sys::Captured captured = sys::capture(
      {.argv = sign_command(signer, file), .environment = signing_environment(), .timeout = k_sign_timeout});
  if (!captured.exit.good())
    throw Error(fmt::format("cannot sign {}: {} ended with {}: {}", file.string(), program_of(signer.method),
                            sys::to_string(captured.exit), said_by(captured)));
  if (!fs::is_regular_file(signature, error))
    throw Error(fmt::format("cannot sign {}: {} wrote no {}", file.string(), program_of(signer.method),
                            signature.filename().string()));
  return signature;
}

std::vector<std::string> ssh_verify_command(const Trusted& trusted, const fs::path& signature) {
  return {"ssh-keygen", "-Y", "verify",          "-f", trusted.allowed_signers.string(), "-I", trusted.identity, "-n",
          k_namespace,  "-s", signature.string()};
}

std::vector<std::string> cosign_verify_command(const Trusted& trusted, const fs::path& file,
                                               const fs::path& signature) {
  std::vector<std::string> argv = {"cosign", "verify-blob", "--bundle", signature.string()};
  if (!trusted.cosign_key.empty()) {
    argv.insert(argv.end(), {"--key", trusted.cosign_key});
  } else {
    argv.insert(argv.end(), {"--certificate-identity", trusted.certificate_identity, "--certificate-oidc-issuer",
                             trusted.certificate_issuer});
  }
  argv.push_back(file.string());
  return argv;
}

Verification read_gpg_status(std::string_view status, const std::string& wanted_key) {
  Verification result{Verification::State::bad, "", "gpg found no valid signature"};
  std::size_t good = 0;
  std::vector<std::string> fingerprints;
  for (const std::string_view line : lines(status)) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 2 || words[0] != "[GNUPG:]") continue;
    const std::string_view word = words[1];
    if (word == "GOODSIG") ++good;
    if (word == "VALIDSIG" && words.size() > 2) {
      fingerprints.assign({std::string(words[2]), std::string(words.back())});  // of the key, and of its primary key
    }
    if (word == "BADSIG") return {Verification::State::bad, "", "the file differs from the one that was signed"};
    if (word == "NO_PUBKEY")
      return {
          Verification::State::bad, "",
          fmt::format("it was made with key {}, which is not trusted", printable(words.size() > 2 ? words[2] : ""))};
    if (word == "EXPKEYSIG") return {Verification::State::bad, "", "its key has expired"};
    if (word == "REVKEYSIG") return {Verification::State::bad, "", "its key has been revoked"};
    if (word == "EXPSIG") return {Verification::State::bad, "", "the signature has expired"};
  }
  if (good != 1 || fingerprints.empty()) return result;
  std::string wanted = wanted_key;
  replace_all(wanted, " ", "");
  if (wanted.starts_with("0x")) wanted.erase(0, 2);
  if (!wanted.empty()) {
    // Short key ids can collide.
    if (wanted.size() < 32 || !is_hex(wanted))
      return {Verification::State::bad, "", "--key must be a full fingerprint"};
    const auto same = [&](const std::string& one) { return to_lower(one) == to_lower(wanted); };
    if (!same(fingerprints[0]) && !same(fingerprints[1]))
      return {Verification::State::bad, "", fmt::format("it was made with key {}, not with --key", fingerprints[1])};
  }
  return {Verification::State::good, fingerprints[1], ""};
}

Verification verify_file(SignMethod method, const fs::path& given, const fs::path& signature, const Trusted& trusted) {
  require_program(method);
  const fs::path file = fs::absolute(given);
  switch (method) {
    case SignMethod::gpg: return verify_gpg(file, fs::absolute(signature), trusted);
    case SignMethod::ssh: return verify_ssh(file, fs::absolute(signature), trusted);
    case SignMethod::cosign: break;
  }
  return verify_cosign(file, fs::absolute(signature), trusted);
}

}  // namespace wheelsmith::attest
