#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sys/ownership.h"
#include "sys/process/process.h"

// Trust in a project's settings. A wheelsmith.toml comes with a cloned repository, and its options can name programs to
// run, folders to take finished wheels from, and servers to download from. So it may set only harmless options
// (Trust::not_needed in options.cc) until the user trusts it, with `wheelsmith trust` or at a prompt. Trust applies to
// one file and its content: a changed file, or the same file elsewhere, is not trusted. Ownership proves nothing,
// because the user also owns the files of a clone. A file that another user owns or can write to cannot be trusted at
// all: it may change after the user has read it.

namespace wheelsmith::settings {

struct TrustedFile {
  std::filesystem::path file;  // in the real path of its folder; the file itself may be a link. Or a folder of patches
  std::string sha256;          // of its content
};

enum class TrustState { trusted, changed, unknown };

// The list of trusted files. Only the user can read or write it.
class TrustList {
 public:
  // Throws Error if neither XDG_STATE_HOME nor HOME is set, or if others can write to the list.
  explicit TrustList(const sys::Environment& environment);
  explicit TrustList(std::filesystem::path file);

  [[nodiscard]] const std::vector<TrustedFile>& files() const { return m_files; }
  [[nodiscard]] TrustState state(const TrustedFile& wanted) const;
  // Written immediately. Safe with concurrent processes.
  void add(const TrustedFile& trusted);
  // Returns false if the file was not trusted.
  bool remove(const std::filesystem::path& file);

 private:
  void load();
  void save() const;
  std::filesystem::path m_file;
  std::vector<TrustedFile> m_files;
};

// Whether only the user and root can put files into the folder.
bool is_own_folder(const std::filesystem::path& folder);

// The identity of a folder without a settings file: its real path and a digest of all its files.
TrustedFile identity_of_folder(const std::filesystem::path& folder);

// A project's file, read once, so that the same bytes are checked, trusted and used.
struct ProjectText {
  TrustedFile identity;
  std::string text;
  sys::Ownership file, folder;
};
// Throws Error.
ProjectText read_project_text(const std::filesystem::path& file);

// Why `user` cannot trust the file whatever its content, and the command that fixes it; empty if the user can.
struct OwnershipProblem {
  std::string what, fix;
  [[nodiscard]] bool empty() const { return what.empty(); }
};
OwnershipProblem ownership_problem(const ProjectText& project, unsigned user);

}  // namespace wheelsmith::settings
