#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "sys/process/process.h"

// Detached signatures by programs that users have: gpg, ssh-keygen and cosign. Keys stay with these programs:
// Wheelsmith passes the name of a key, never a key or passphrase, and the programs use their agents.

namespace wheelsmith::attest {

enum class SignMethod : std::uint8_t { gpg, ssh, cosign };
inline constexpr std::array k_sign_methods = {SignMethod::gpg, SignMethod::ssh, SignMethod::cosign};

struct Signer {
  SignMethod method = SignMethod::gpg;
  std::string key;  // gpg: whatever --local-user takes, "" for its default; ssh: a key's file; cosign: what --key takes
};

// "gpg", "gpg:FINGERPRINT", "ssh:KEYFILE", "cosign", "cosign:KEY". Throws Error.
Signer parse_signer(const std::string& text);
// Throws Error if the program is not installed or the key file does not exist, before anything is built.
void check_signer(const Signer& signer);

// WHEEL.asc, WHEEL.sig, WHEEL.sigstore.json
std::filesystem::path signature_of(const std::filesystem::path& file, SignMethod method);
// Replaces an existing signature. Throws Error. Returns the path of the signature.
std::filesystem::path sign_file(const Signer& signer, const std::filesystem::path& file);

// The command that sign_file() runs.
std::vector<std::string> sign_command(const Signer& signer, const std::filesystem::path& file);

// The accepted signers. An empty field accepts no signature of that kind.
struct Trusted {
  std::string gpg_key;                                   // a key of the user's own keyring, or of `gpg_keyring`
  std::filesystem::path gpg_keyring;                     // exported public keys
  std::filesystem::path allowed_signers;                 // ssh: see ssh-keygen(1), ALLOWED SIGNERS
  std::string identity;                                  // ssh: whose key of that file
  std::string cosign_key;                                // what cosign's --key takes, …
  std::string certificate_identity, certificate_issuer;  // … or the identity in a certificate, and its issuer
};

struct Verification {
  enum class State : std::uint8_t { good, bad, unchecked } state = State::unchecked;
  std::string signer;  // of a good signature: a fingerprint or an identity
  std::string why;     // of the others
};

// Checks the signature file against the file. Throws Error only if a program cannot be run.
Verification verify_file(SignMethod method, const std::filesystem::path& file, const std::filesystem::path& signature,
                         const Trusted& trusted);

// The commands for it.
std::vector<std::string> ssh_verify_command(const Trusted& trusted, const std::filesystem::path& signature);
std::vector<std::string> cosign_verify_command(const Trusted& trusted, const std::filesystem::path& file,
                                               const std::filesystem::path& signature);
// Reads gpg's status lines (doc/DETAILS) about a signature.
Verification read_gpg_status(std::string_view status, const std::string& wanted_key);

}  // namespace wheelsmith::attest

template <>
struct wheelsmith::EnumNames<wheelsmith::attest::SignMethod> {
  static constexpr std::array list = {"gpg", "ssh", "cosign"};
};

template <>
struct wheelsmith::EnumNames<wheelsmith::attest::Verification::State> {
  static constexpr std::array list = {"good", "bad", "unchecked"};
};
