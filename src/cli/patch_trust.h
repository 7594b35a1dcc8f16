#pragma once

#include <functional>
#include <string>

#include "source/patches/patch_work.h"

// Patch sets in the current folder. A patch is code: one that came with a clone, and has the name of the ref that is
// built, would go into the wheel unasked. So sets that nobody named are applied only from folders that the user vouches
// for: --patch-dir, beside a trusted wheelsmith.toml, of the user's recipes, or trusted themselves (`wheelsmith
// trust`).

namespace wheelsmith::cli {

// Asks on a terminal, and throws UsageError for a folder that is not trusted.
std::function<void(const std::string& package, const std::string& patchset)> patch_trust(
    const source::PatchFolder& folder);

// The folder as something that `trust` takes: `patches` of a folder.
std::filesystem::path patches_in(const std::filesystem::path& folder);

// What the user's own commits become is the user's own: a folder that is new or trusted stays trusted when it changes.
class PatchFolderKeeper {
 public:
  explicit PatchFolderKeeper(const source::PatchFolder& folder);
  void keep_trust() const;

 private:
  source::PatchFolder m_folder;
  bool m_own = false;
};

}  // namespace wheelsmith::cli
