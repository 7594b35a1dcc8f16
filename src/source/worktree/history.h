#pragma once

#include <filesystem>
#include <vector>

#include "store/store.h"

namespace wheelsmith::source {

// Gives `tree`, which contains the files of the checkout `folder`, a repository in which `git describe`, `git rev-parse
// HEAD` and `git status` give the same results as in the checkout, including changed files: packages derive their
// version from git. The objects stay where they are; nothing done in the tree reaches the checkout. A repository of the
// same state stays as it is. Does nothing for a folder that is not a checkout.
void bring_history(const std::filesystem::path& folder, const std::filesystem::path& tree, store::Store& store);

// The object folders that such a repository borrows from: the checkout's own, and those that it borrows from itself.
std::vector<std::filesystem::path> borrowed_objects(const std::filesystem::path& folder);

}  // namespace wheelsmith::source
