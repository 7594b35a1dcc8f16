#pragma once

#include <string>
#include <vector>

#include "attest/verify.h"
#include "report/style.h"

namespace wheelsmith::report {

std::string verification_text(const attest::WheelVerification& item, const Style& style);
std::string verifications_json(const std::vector<attest::WheelVerification>& items);

}  // namespace wheelsmith::report
