#pragma once

#include <functional>
#include <string>

#include "source/patches/patch_work.h"

// Trust in patch sets of the current folder. A patch is code: one that came with a clone and is named like the ref
// would go into the wheel without the user's consent. So patch sets that the user did not select are applied only from
// folders that the user trusts: --patch-dir, the folder beside a trusted wheelsmith.toml, the folder of the user's
// recipes, or a folder trusted by `wheelsmith trust`.

namespace wheelsmith::cli {

// Asks on a terminal, and throws UsageError for a folder that is not trusted.
std::function<void(const std::string& package, const std::string& patchset)> patch_trust(
    const source::PatchFolder& folder);

// The folder `patches` in a folder, as `trust` takes it.
std::filesystem::path patches_in(const std::filesystem::path& folder);

// Patches saved from the user's own commits are trusted: a folder that is new or trusted stays trusted when they change
// it.
class PatchFolderKeeper {
 public:
  explicit PatchFolderKeeper(const source::PatchFolder& folder);
  void keep_trust() const;

 private:
  source::PatchFolder m_folder;
  bool m_own = false;
};

}  // namespace wheelsmith::cli
