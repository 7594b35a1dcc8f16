#pragma once

#include <vector>

#include "attest/sbom.h"
#include "run/step/phases.h"
#include "wheel/read/inspect.h"
#include "wheel/write/edit.h"

namespace wheelsmith::run {

// The repositories that make up the source, including submodules, each at its commit; empty for other sources.
std::vector<attest::VcsSource> repositories_of(const source::Pin& pin, const StepServices& services);

// The software bill of materials, as a file in the .dist-info folder.
wheel::AddedFile sbom_file(const FinishInputs& inputs, const wheel::Inspection& inspection, Bytes built,
                           const std::vector<attest::VcsSource>& repositories);

}  // namespace wheelsmith::run
