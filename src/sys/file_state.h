#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

// Facts about a file's content that are remembered by its stat, so that an unchanged file is not read again.
//
// A file system stamps changes with a clock that ticks every 1 to 10 ms, some once in 1 or 2 seconds. A file that is
// written twice within one tick has the same size and times afterwards as before, so a stat taken between the two does
// not identify the content (git calls this a racy index). A fact is therefore kept only if the file's times were at
// least 2 s old when reading began: every later change then gets another time.

namespace wheelsmith::sys {

// Whether both times, in nanoseconds, were at least 2 s old at `now`. Times in the future are not: the clock was set
// back, and will show them again.
bool is_settled(std::int64_t modified, std::int64_t changed, std::int64_t now);
bool is_settled(const struct stat& status, std::int64_t now);

// The clock that stamps files on local file systems; it lags behind the usual one by up to a tick.
std::int64_t file_clock_nanoseconds();

class FileState {
 public:
  // Create it before reading the file, or pass the time before. Links are followed.
  explicit FileState(std::filesystem::path path, std::int64_t before_reading = file_clock_nanoseconds());

  // Device, inode, size and both times: facts are looked up by this text. Empty if the file is missing.
  [[nodiscard]] const std::string& key() const { return m_key; }
  // The same text, under which facts that were read since the construction may be kept. Nothing if a later change of
  // the file could have the same one.
  [[nodiscard]] std::optional<std::string> key_to_keep() const;

 private:
  std::filesystem::path m_path;
  std::string m_key;
  bool m_settled = false;
};

// Device, inode, size, mtime and ctime as text, to tell files apart. Not for remembering what a file contains: use
// FileState. Nothing for a missing file. Links are followed.
std::optional<std::string> stat_fingerprint(const std::filesystem::path& path);

}  // namespace wheelsmith::sys
