#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attest/sign.h"

namespace wheelsmith::attest {

struct CheckedSignature {
  std::filesystem::path path;
  SignMethod method = SignMethod::gpg;
  Verification result;
};

// Verifies the files next to a wheel.
struct WheelVerification {
  std::filesystem::path path;
  std::string sha256;
  std::vector<CheckedSignature> signatures;  // of the wheel
  std::filesystem::path statement;           // empty where there is none
  std::vector<std::string> statement_problems;
  std::vector<CheckedSignature> statement_signatures;
  std::string error;  // the wheel cannot be read

  // A wheel is good when a trusted key signed it, no signature is bad, and its statement, where there is one, is about
  // this wheel and says what the wheel says.
  [[nodiscard]] bool good() const;
  // Why it is not, in one sentence; "" for one that is.
  [[nodiscard]] std::string why() const;
};

// Never throws Error: what goes wrong becomes part of the answer.
WheelVerification verify_wheel(const std::filesystem::path& wheel, const Trusted& trusted);

}  // namespace wheelsmith::attest
