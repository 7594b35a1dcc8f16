#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "source/worktree/git_folder.h"

namespace wheelsmith::source {

// Patches for a package and one of its release lines:
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
  // Reads the whole set; throws Error for a patch in an unknown folder. A missing folder is an empty set.
  PatchSet(std::string name, std::filesystem::path folder, std::string root_name);

  // The folder of a package's sets, in any spelling of the name.
  [[nodiscard]] static std::filesystem::path folder_of(const std::filesystem::path& patch_folder,
                                                       const std::string& package);
  // The sets of a package, sorted.
  [[nodiscard]] static std::vector<std::string> names(const std::filesystem::path& patch_folder,
                                                      const std::string& package);

  [[nodiscard]] const std::string& name() const { return m_name; }
  [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
  [[nodiscard]] const std::string& root_name() const { return m_root_name; }
  // Sorted by part, base first, then by name: the order of application within a part.
  [[nodiscard]] const std::vector<PatchFile>& files() const { return m_files; }
  // Removes those to apply after hipify; returns how many.
  std::size_t drop_hipified();
  // The folder for a part's patches.
  [[nodiscard]] std::filesystem::path folder_of(const std::string& part, bool hipified) const;

 private:
  std::string m_name;
  std::filesystem::path m_folder;
  std::string m_root_name;
  bool m_root_is_dot = false;
  std::vector<PatchFile> m_files;
};

// As a commit on top of HEAD. Throws an Error that names the patch, the file, the hunk and the actual text; nothing has
// changed then.
void apply_patch(const GitFolder& git, const PatchFile& patch);

struct SavedPatches {
  std::vector<std::string> written, removed, kept;  // names relative to the set's folder
};
// The commits between the tags and HEAD of every part as patches. Before anything is written, they are applied again
// and must give the same trees. Throws Error when a tree has uncommitted changes, or a history that patches cannot
// represent.
SavedPatches save_patches(const std::filesystem::path& root, const PatchSet& set);

// Applies those of the set that the checkout does not have yet. Returns their names. All or none; throws Error like
// apply_patch(), and for base patches when hipify is already committed.
std::vector<std::string> apply_set(const std::filesystem::path& root, const PatchSet& set);

}  // namespace wheelsmith::source
