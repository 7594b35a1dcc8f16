#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sys/ownership.h"
#include "sys/process/process.h"

// Trust in a project's settings. A wheelsmith.toml comes with whatever repository somebody cloned, and its options can
// name programs to run, folders to take finished wheels from and servers to download from. So it may set only harmless
// options (Trust::not_needed in options.cc) until the user trusts it, with `wheelsmith trust` or at a prompt. Trust is
// for one file and its content: a file that changed, and the same file somewhere else, are not trusted.
//
// That the file belongs to the user proves nothing, since a clone does. A file that somebody else owns or may write to
// cannot even be trusted: what the user read is not what will be used.

namespace wheelsmith::settings {

struct TrustedFile {
  std::filesystem::path file;  // in the real path of its folder; the file itself may be a link. Or a folder of patches
  std::string sha256;          // of its content
};

enum class TrustState { trusted, changed, unknown };

// The file of all that is trusted. Nobody but the user can read or write it.
class TrustList {
 public:
  // Throws Error where neither XDG_STATE_HOME nor HOME is set, and for a list that others may write to.
  explicit TrustList(const sys::Environment& environment);
  explicit TrustList(std::filesystem::path file);

  [[nodiscard]] const std::vector<TrustedFile>& files() const { return m_files; }
  [[nodiscard]] TrustState state(const TrustedFile& wanted) const;
  // Written at once. Other processes may do the same at the same time.
  void add(const TrustedFile& trusted);
  // False: it was not trusted.
  bool remove(const std::filesystem::path& file);

 private:
  void load();
  void save() const;
  std::filesystem::path m_file;
  std::vector<TrustedFile> m_files;
};

// A folder that nobody but the user and root can put files into.
bool is_own_folder(const std::filesystem::path& folder);

// A folder without a settings file, as something to trust: its real path, and a digest of all its files.
TrustedFile identity_of_folder(const std::filesystem::path& folder);

// A project's file as it is read once: what is judged, trusted and used are the same bytes.
struct ProjectText {
  TrustedFile identity;
  std::string text;
  sys::Ownership file, folder;
};
// Throws Error.
ProjectText read_project_text(const std::filesystem::path& file);

// Why the file cannot be trusted by `user` whatever it holds, and the command that changes that; empty where it can.
struct OwnershipProblem {
  std::string what, fix;
  [[nodiscard]] bool empty() const { return what.empty(); }
};
OwnershipProblem ownership_problem(const ProjectText& project, unsigned user);

}  // namespace wheelsmith::settings
