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
  std::filesystem::path statement;           // empty if there is none
  std::vector<std::string> statement_problems;
  std::vector<CheckedSignature> statement_signatures;
  std::string error;  // the wheel cannot be read

  // A wheel is good if a trusted key signed it, no signature is invalid, and its statement, if there is one, names
  // this wheel and agrees with it.
  [[nodiscard]] bool good() const;
  // Why it is bad, in one sentence; "" if it is good.
  [[nodiscard]] std::string why() const;
};

// Never throws Error: problems are part of the answer.
WheelVerification verify_wheel(const std::filesystem::path& wheel, const Trusted& trusted);

}  // namespace wheelsmith::attest
