#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sys/io/fd.h"

// An open folder and the entries below it. Names come from untrusted sources (requests, archives, shared folders):
// whatever a name contains and wherever links point, nothing outside of the folder is opened, written or removed.

namespace wheelsmith::sys {

// Detects a changed file without reading it. Times in nanoseconds since 1970.
struct FileStat {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;  // of the inode: cannot be set back
  friend bool operator==(const FileStat&, const FileStat&) = default;
};

// A regular file, open for reading. Move-only.
class OpenFile {
 public:
  OpenFile(Fd fd, const FileStat& stat) : m_fd(std::move(fd)), m_stat(stat) {}

  [[nodiscard]] const Fd& fd() const { return m_fd; }
  // Its state when it was opened.
  [[nodiscard]] const FileStat& stat() const { return m_stat; }
  [[nodiscard]] FileStat stat_now() const;
  // Reads as much as the file has there; throws Error on failure.
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> into) const;

 private:
  Fd m_fd;
  FileStat m_stat;
};

class OpenFolder {
 public:
  // Throws Error when it is not a folder.
  explicit OpenFolder(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

  // Names are relative, with '/' between components; "" is the folder itself.
  struct Entry {
    enum class Kind : std::uint8_t { file, folder, link, other } kind = Kind::file;
    std::string name;  // one component
    FileStat stat;     // of files
  };
  // Sorted by name; links are not followed. Empty when the folder does not exist. Only files whose name `wanted`
  // accepts are examined and listed; folders and links always are.
  [[nodiscard]] std::vector<Entry> entries(const std::string& folder, bool (*wanted)(std::string_view)) const;

  // Nothing when it does not exist, is not a regular file, or lies outside (links inside are followed).
  [[nodiscard]] std::optional<OpenFile> open_file(const std::string& name) const;
  // Of a folder: its time changes when an entry is added or removed.
  [[nodiscard]] std::optional<FileStat> folder_stat(const std::string& name) const;
  [[nodiscard]] std::optional<FileStat> stat_of(const std::string& name) const;
  // The same in one system call, as a first guess: the last component may not be a link, parent folders may.
  [[nodiscard]] std::optional<FileStat> glance(const std::string& name) const;
  // Throws Error over the limit.
  [[nodiscard]] std::optional<std::string> read_file(const std::string& name, std::uint64_t limit = 1ull << 30) const;

  // Atomic for readers; creates parent folders; links are not followed. Survives a power failure only after sync(), or
  // with `durable`. Returns the file's new state.
  FileStat write_file(const std::string& name, std::string_view text, bool durable) const;
  // A missing file is fine. Folders left empty are removed, too.
  void remove_file(const std::string& name) const;
  // Syncs all writes so far to disk.
  void sync() const;

 private:
  [[nodiscard]] Fd open_parent(const std::string& name, bool make) const;

  std::filesystem::path m_path;
  Fd m_fd;
};

}  // namespace wheelsmith::sys
