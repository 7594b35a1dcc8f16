#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "source/worktree/git_folder.h"

namespace wheelsmith::source {

// Patches that belong to a package and a line of its history:
//
//   patches/PACKAGE/PATCHSET/ROOT/base/0001-subject.patch        before hipify; ROOT is the recipe's name, or left out
//   patches/PACKAGE/PATCHSET/third_party/x/base/0001-….patch     of a submodule, by its path
//   patches/PACKAGE/PATCHSET/ROOT/hipified/0001-….patch          after hipify
struct PatchFile {
  std::string part;  // path of the submodule; "" for the root
  bool hipified = false;
  std::string name;  // file name
  std::string text;
  std::string sha256;
};

inline constexpr const char* k_upstream_tag = "WHEELSMITH_UPSTREAM";
inline constexpr const char* k_hipify_tag = "WHEELSMITH_HIPIFY";
inline constexpr const char* k_hipify_subject = "wheelsmith: hipify";

class PatchSet {
 public:
  PatchSet() = default;
  // Reads all of it; throws Error for a patch that lies where none is looked for. What is not there is an empty set.
  PatchSet(std::string name, std::filesystem::path folder, std::string root_name);

  // The folder of a package's sets: of that name, or of another spelling of it.
  [[nodiscard]] static std::filesystem::path folder_of(const std::filesystem::path& patch_folder,
                                                       const std::string& package);
  // The sets of a package, sorted.
  [[nodiscard]] static std::vector<std::string> names(const std::filesystem::path& patch_folder,
                                                      const std::string& package);

  [[nodiscard]] const std::string& name() const { return m_name; }
  [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
  [[nodiscard]] const std::string& root_name() const { return m_root_name; }
  // Sorted by part, base first, then by name: the order in which they are applied within a part.
  [[nodiscard]] const std::vector<PatchFile>& files() const { return m_files; }
  // Leaves out those that belong behind hipify; how many there were.
  std::size_t drop_hipified();
  // Where the patches of a part belong.
  [[nodiscard]] std::filesystem::path folder_of(const std::string& part, bool hipified) const;

 private:
  std::string m_name;
  std::filesystem::path m_folder;
  std::string m_root_name;
  bool m_root_is_dot = false;
  std::vector<PatchFile> m_files;
};

// As a commit on top of HEAD. Throws Error that names the patch, the file, the hunk and what the tree has there;
// then nothing has changed.
void apply_patch(const GitFolder& git, const PatchFile& patch);

struct SavedPatches {
  std::vector<std::string> written, removed, kept;  // names below the set's folder
};
// The commits between the tags and HEAD of every part as patches. Before anything is written, they are put together
// again and must give the same trees. Throws Error when a tree has changes that are not committed, or a history that
// cannot be told in patches.
SavedPatches save_patches(const std::filesystem::path& root, const PatchSet& set);

// Those of the set that the checkout does not have yet, on top of what it is. Returns their names. All or none; throws
// Error as apply_patch() does, and for base patches where hipify has been committed already.
std::vector<std::string> apply_set(const std::filesystem::path& root, const PatchSet& set);

}  // namespace wheelsmith::source
