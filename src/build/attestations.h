#pragma once

#include <optional>
#include <vector>

#include "attest/sign.h"
#include "run/outcome.h"

namespace wheelsmith::build {

// What goes with each delivered wheel: its in-toto statement beside it (WHEEL.intoto.json), and, with a signer, the
// signatures of both. Where the wheel replaced another one of its name, the signatures of that one are removed first:
// they are of other bytes. Throws Error; what was written before it stays.
void attest_wheels(std::vector<run::StepOutcome>& outcomes, const std::optional<attest::Signer>& signer);

}  // namespace wheelsmith::build
