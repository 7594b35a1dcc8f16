#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sys/io/fd.h"

// A folder held open, and what lies below it. Names come from strangers (requests, archives, other people's folders):
// whatever a name says and wherever links point, nothing outside of the folder is opened, written or removed.

namespace wheelsmith::sys {

// What tells a file that changed from one that did not, without reading it. Times in nanoseconds since 1970.
struct FileStat {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;  // of the inode: nobody can set it back
  friend bool operator==(const FileStat&, const FileStat&) = default;
};

// A regular file, open for reading. Move-only.
class OpenFile {
 public:
  OpenFile(Fd fd, const FileStat& stat) : m_fd(std::move(fd)), m_stat(stat) {}

  [[nodiscard]] const Fd& fd() const { return m_fd; }
  // As it was when it was opened.
  [[nodiscard]] const FileStat& stat() const { return m_stat; }
  [[nodiscard]] FileStat stat_now() const;
  // Fills as much as the file has there; throws Error when it cannot be read.
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> into) const;

 private:
  Fd m_fd;
  FileStat m_stat;
};

class OpenFolder {
 public:
  // Throws Error when it is none.
  explicit OpenFolder(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

  // Names below are relative, '/' between their parts; "" is the folder itself.
  struct Entry {
    enum class Kind : std::uint8_t { file, folder, link, other } kind = Kind::file;
    std::string name;  // one part
    FileStat stat;     // of files
  };
  // Sorted by name; links are not followed. Empty when there is no such folder. Only files that `wanted` takes by name
  // are looked at and told; folders and links always are.
  [[nodiscard]] std::vector<Entry> entries(const std::string& folder, bool (*wanted)(std::string_view)) const;

  // Nothing when it is not there, is no regular file, or lies outside (links inside are followed).
  [[nodiscard]] std::optional<OpenFile> open_file(const std::string& name) const;
  // Of a folder: its time changes when a name in it comes or goes.
  [[nodiscard]] std::optional<FileStat> folder_stat(const std::string& name) const;
  [[nodiscard]] std::optional<FileStat> stat_of(const std::string& name) const;
  // The same in one step, and only for a first guess: a link is not followed as the last part, but on the way it is.
  [[nodiscard]] std::optional<FileStat> glance(const std::string& name) const;
  // Throws Error over the limit.
  [[nodiscard]] std::optional<std::string> read_file(const std::string& name, std::uint64_t limit = 1ull << 30) const;

  // Whole or not at all for whoever reads it, folders made on the way; links are not followed. It survives a power cut
  // only after sync(), or when `durable`. The file's state as it lies there now.
  FileStat write_file(const std::string& name, std::string_view text, bool durable) const;
  // What is not there is fine. Folders that are empty then go, too.
  void remove_file(const std::string& name) const;
  // All that was written so far reaches the disk.
  void sync() const;

 private:
  [[nodiscard]] Fd open_parent(const std::string& name, bool make) const;

  std::filesystem::path m_path;
  Fd m_fd;
};

}  // namespace wheelsmith::sys
