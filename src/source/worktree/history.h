#pragma once

#include <filesystem>
#include <vector>

#include "store/store.h"

namespace wheelsmith::source {

// Gives `tree`, which holds the files of the checkout `folder`, a repository in which `git describe`, `git rev-parse
// HEAD` and `git status` say what they say in the checkout, changed files included: packages take their version from
// git. The objects stay where they are; nothing that the tree does reaches the checkout. A repository of the same state
// stays as it is. Does nothing for a folder that is no checkout.
void bring_history(const std::filesystem::path& folder, const std::filesystem::path& tree, store::Store& store);

// The folders of the objects that such a repository borrows: the checkout's own, and those that it borrows itself.
std::vector<std::filesystem::path> borrowed_objects(const std::filesystem::path& folder);

}  // namespace wheelsmith::source
