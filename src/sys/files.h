#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/bytes.h"
#include "base/sink.h"
#include "sys/io/fd.h"

// Changes on disk that happen completely or not at all.

namespace wheelsmith::sys {

// A file that appears under its name only with commit(): written beside it (or in `temporary_folder`, on the same file
// system), synced, renamed. Without commit() nothing is left behind.
class AtomicFile final : public Sink {
 public:
  // The file has `mode`, less the umask, from the start.
  explicit AtomicFile(std::filesystem::path target, std::filesystem::path temporary_folder = {}, unsigned mode = 0666);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(Bytes bytes) override;
  void write(std::string_view text) { write(Bytes(text)); }
  // At a position already written (for headers whose sizes are known at the end).
  void write_at(std::uint64_t offset, Bytes bytes);
  [[nodiscard]] std::uint64_t size() const { return m_size; }
  [[nodiscard]] const std::filesystem::path& temporary_path() const { return m_temporary; }
  void set_mode(unsigned mode);
  void commit();

 private:
  std::filesystem::path m_target;
  std::filesystem::path m_temporary;
  Fd m_fd;
  std::uint64_t m_size = 0;
};

// Throws Error; "no space left" says how much was needed and where.
void write_file(const std::filesystem::path& path, std::string_view text);  // atomically
// The same for private files, readable only by their owner at all times.
void write_private_file(const std::filesystem::path& path, std::string_view text);
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = 1ull << 30);
std::optional<std::string> read_file_if_there(const std::filesystem::path& path, std::uint64_t limit = 1ull << 30);
// Also nothing for files that are unreadable, too large or not regular: for uses where they count as absent.
std::optional<std::string> read_file_if_possible(const std::filesystem::path& path, std::uint64_t limit = 1ull << 30);
// Reads the beginning of a file into the buffer without using the heap; returns the size. Nothing for files that cannot
// be opened.
std::optional<std::size_t> read_start(const char* path, std::span<char> into);

// Appends with a single write, so that lines of several processes do not mix. Creates the file if needed.
std::error_code append_text(const std::filesystem::path& path, std::string_view text);

// Syncs to disk: a file's bytes, or the names in a folder, without which a power failure may undo a rename. File
// systems that cannot sync folders are ignored.
std::error_code sync_file(const std::filesystem::path& path);
std::error_code sync_folder(const std::filesystem::path& path);

// Sets its time to now; best effort.
void touch(const std::filesystem::path& path);

// An advisory lock on a file (flock), held while the object lives; the kernel releases it when the process dies.
class FileLock {
 public:
  // Waits; `on_wait` is called once, with the lock's path, before waiting.
  explicit FileLock(const std::filesystem::path& path, void (*on_wait)(const std::filesystem::path&) = nullptr);
  // Nothing when another process holds it.
  static std::optional<FileLock> try_take(const std::filesystem::path& path);
  // A shared lock: several processes may hold it while none holds it exclusively. Waits.
  static FileLock shared(const std::filesystem::path& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  FileLock() = default;
  Fd m_fd;
};

void make_folders(const std::filesystem::path& path);
// Recursively; a missing path is fine; links are not followed; folders without write permission are made writable
// first.
void remove_tree(const std::filesystem::path& path);
// Recursively; links stay links; hard links where `hard_links` and the file system allow it, otherwise copies (reflinks
// where possible). Modes and times are kept.
void copy_tree(const std::filesystem::path& from, const std::filesystem::path& to, bool hard_links = false);
void copy_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Digest of all regular files, links and modes (executable or not) below a folder; times, owners and the folder's own
// path do not matter. `skip` lists base names to leave out (".git", "__pycache__").
struct TreeFile {
  std::string name;  // relative, '/' between parts
  bool executable = false;
  bool link = false;
  std::string link_target;
  std::uint64_t size = 0;
};
// Sorted by name; folders are not listed. Throws for entries that are not files, links or folders.
std::vector<TreeFile> list_tree(const std::filesystem::path& root, const std::vector<std::string>& skip = {});

std::uint64_t free_disk_bytes(const std::filesystem::path& path);
// Whether a disk is effectively full: the remaining space is reserved for cleaning up.
bool is_nearly_full(const std::filesystem::path& path);

struct Memory {
  std::uint64_t total = 0;      // of the machine, or the cgroup's limit if lower
  std::uint64_t available = 0;  // likewise
};
Memory memory();

}  // namespace wheelsmith::sys
