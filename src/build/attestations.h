#pragma once

#include <optional>
#include <vector>

#include "attest/sign.h"
#include "run/outcome.h"

namespace wheelsmith::build {

// Writes the in-toto statement beside each delivered wheel (WHEEL.intoto.json) and, with a signer, the signatures of
// both. If the wheel replaced another one of the same name, removes the old signatures first. Throws Error; files
// written before it are kept.
void attest_wheels(std::vector<run::StepOutcome>& outcomes, const std::optional<attest::Signer>& signer);

}  // namespace wheelsmith::build
