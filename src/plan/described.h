#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

// Sources and wheels for a described machine (toolchain/description.h). Data in the description is used without a
// repository, package index or network. A source that is not in the description is the real one, because it is the same
// for every machine. Wheels are never resolved, because pip resolves only for the interpreter that it runs in.

namespace wheelsmith::plan {

// Like source::pin() if the source is not described.
source::Pin pin_source(const recipe::Recipe& recipe, const std::optional<source::Override>& user,
                       const PlanInputs& inputs, const source::PinOptions& options);

// The commit of a ref in the description. nullopt if the repository is not described; Error if it is, but the ref is
// not.
std::optional<std::string> described_commit(const std::string& url, const std::string& project, const std::string& ref,
                                            const PlanInputs& inputs);

// The facts of a described source, and one of its files. nullopt for other sources; `text` is nullopt if the file does
// not exist.
std::optional<recipe::SourceFacts> described_facts(const source::Pin& pin, const std::string& subfolder,
                                                   const PlanInputs& inputs);
struct DescribedFile {
  std::optional<std::string> text;
};
std::optional<DescribedFile> described_file(const source::Pin& pin, const std::string& path, const PlanInputs& inputs);

// An assumed lock. The version of a requirement is the one in [wheels] if it fits, else the lowest in the requirement,
// else "0". A label in [wheels] ("2.13.0+cu130") is also given to other versions, because it is the kind of build that
// the machine's index has.
env::Lock described_lock(const std::vector<std::string>& requirements, const toolchain::Python& python,
                         const toolchain::Description& machine);

}  // namespace wheelsmith::plan
