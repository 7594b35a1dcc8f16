#pragma once

#include <filesystem>

#include "store/store.h"

namespace wheelsmith::source {

// Gives `tree`, which holds the files of the checkout `folder`, a repository in which `git describe`, `git rev-parse
// HEAD` and `git status` say what they say in the checkout, changed files included: packages take their version from
// git. The objects stay where they are; nothing that the tree does reaches the checkout. A repository of the same state
// stays as it is. Does nothing for a folder that is no checkout.
void bring_history(const std::filesystem::path& folder, const std::filesystem::path& tree, store::Store& store);

}  // namespace wheelsmith::source
