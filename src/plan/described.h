#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

// Sources and wheels where the machine is a described one (toolchain/description.h). What its description tells is
// taken from there, without a repository, a registry or a network; a source that it does not name is the real one,
// since that is the same for every machine. Wheels are never resolved: pip answers only for an interpreter that it runs
// in.

namespace wheelsmith::plan {

// As source::pin() where nothing is described.
source::Pin pin_source(const recipe::Recipe& recipe, const std::optional<source::Override>& user,
                       const PlanInputs& inputs, const source::PinOptions& options);

// The commit that a description gives a ref. Nothing where it does not name the repository; Error where it names it,
// but not the ref.
std::optional<std::string> described_commit(const std::string& url, const std::string& project, const std::string& ref,
                                            const PlanInputs& inputs);

// What can be seen in a described source, and one of its files. Nothing for other sources; `text` is nothing where the
// source has no such file.
std::optional<recipe::SourceFacts> described_facts(const source::Pin& pin, const std::string& subfolder,
                                                   const PlanInputs& inputs);
struct DescribedFile {
  std::optional<std::string> text;
};
std::optional<DescribedFile> described_file(const source::Pin& pin, const std::string& path, const PlanInputs& inputs);

// The lock that resolving might have given. A requirement's version is the one in [wheels] if it fits, else the lowest
// that the requirement names, else "0"; a label in [wheels] ("2.13.0+cu130") is given to another version, too: it tells
// the kind of build that this machine's index has.
env::Lock described_lock(const std::vector<std::string>& requirements, const toolchain::Python& python,
                         const toolchain::Description& machine);

}  // namespace wheelsmith::plan
