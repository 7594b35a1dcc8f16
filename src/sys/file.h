#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/file_tree.h"

namespace wheelsmith::sys {

// An error message: "cannot open demo.whl: No such file or directory".
std::string sys_error_text(int error_number, const char* action, const std::filesystem::path& path);
[[noreturn]] void throw_sys_error(int error_number, const char* action, const std::filesystem::path& path);

// Whether a folder exists. False for paths that cannot be examined (a loop of links, a name that is too long); opening
// them reports why.
bool is_folder(const std::filesystem::path& path);

// Whether `path` is `folder` or below it, comparing names only: both absolute and without "..", or both canonical.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

// The file mapped into memory, read-only. Pages are read on access. Throws for anything but a regular file.
Blob map_file(const std::filesystem::path& path);

// nullopt if map_file() would throw.
std::optional<Blob> map_file_if_possible(const std::filesystem::path& path);

// Reads a file, a pipe or, for "-", standard input, in chunks as they arrive. False when an interrupt
// (sys::interrupted()) came before the end.
bool read_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& take);

// A folder as a FileTree; files are mapped when opened. With the root folder "/" it covers the whole machine (then only
// open() is useful).
class FolderTree final : public FileTree {
 public:
  explicit FolderTree(std::filesystem::path root) : m_root(std::move(root)) {}

  [[nodiscard]] std::vector<File> files() const override;
  [[nodiscard]] std::optional<Blob> open(const std::string& name) const override;
  [[nodiscard]] std::optional<std::string> head(const std::string& name, std::size_t count) const override;

 private:
  // Path of the file, or nothing if the folder does not contain it.
  [[nodiscard]] std::optional<std::filesystem::path> locate(const std::string& name) const;

  std::filesystem::path m_root;
};

// A temporary folder that is removed with the object.
class TempDir {
 public:
  TempDir();  // in $TMPDIR, where it remains after a kill
  explicit TempDir(const std::filesystem::path& parent);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

}  // namespace wheelsmith::sys
