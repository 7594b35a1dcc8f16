#pragma once

#include "pep/requirement.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::toolchain {

// Whether the requirement's marker applies to this interpreter.
bool applies_to(const pep::Requirement& requirement, const Python& python);

}  // namespace wheelsmith::toolchain
