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

// Changes on disk that are whole or not at all.

namespace wheelsmith::sys {

// A file that appears under its name only with commit(): written beside it (or in `temporary_folder`, same file
// system), synced, renamed. Without commit() nothing stays behind.
class AtomicFile final : public Sink {
 public:
  // It has `mode`, less the umask, from its first moment.
  explicit AtomicFile(std::filesystem::path target, std::filesystem::path temporary_folder = {}, unsigned mode = 0666);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(Bytes bytes) override;
  void write(std::string_view text) { write(Bytes(text)); }
  // Somewhere inside what has been written already (headers whose sizes are known at the end).
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

// Throws Error; "no space left" says how much was wanted and where.
void write_file(const std::filesystem::path& path, std::string_view text);  // atomically
// The same for what only its owner may read, at no moment anybody else.
void write_private_file(const std::filesystem::path& path, std::string_view text);
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = 1ull << 30);
std::optional<std::string> read_file_if_there(const std::filesystem::path& path, std::uint64_t limit = 1ull << 30);
// Nothing also for what is forbidden, too large or no file: for what is as good as absent then.
std::optional<std::string> read_file_if_possible(const std::filesystem::path& path, std::uint64_t limit = 1ull << 30);
// The first bytes of a file, as many as there is room for and without the heap; how many. Nothing for what cannot be
// opened.
std::optional<std::size_t> read_start(const char* path, std::span<char> into);

// Appends by one write, so that lines of several processes do not mix. The file is made where it is not there.
std::error_code append_text(const std::filesystem::path& path, std::string_view text);

// What was written reaches the disk: a file's bytes, or the names in a folder, without which a rename may be lost in a
// power cut. Folders on disks that cannot do it are left alone.
std::error_code sync_file(const std::filesystem::path& path);
std::error_code sync_folder(const std::filesystem::path& path);

// Sets its time to now. What cannot be changed stays as it is.
void touch(const std::filesystem::path& path);

// An advisory lock on a file (flock), held while the object lives; the kernel drops it when we die.
class FileLock {
 public:
  // Waits; `on_wait` is called once, with the lock's path, before it has to.
  explicit FileLock(const std::filesystem::path& path, void (*on_wait)(const std::filesystem::path&) = nullptr);
  // Nothing when another holds it.
  static std::optional<FileLock> try_take(const std::filesystem::path& path);
  // Several processes may hold it so at a time, while none holds it alone. Waits.
  static FileLock shared(const std::filesystem::path& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  FileLock() = default;
  Fd m_fd;
};

void make_folders(const std::filesystem::path& path);
// All below too; what is not there is fine; links are not followed; folders without write permission are opened first.
void remove_tree(const std::filesystem::path& path);
// All below; links stay links; hard links where `hard_links` and the file system allow it, else copies (reflinks where
// possible). Modes and times are kept.
void copy_tree(const std::filesystem::path& from, const std::filesystem::path& to, bool hard_links = false);
void copy_file(const std::filesystem::path& from, const std::filesystem::path& to);

// What tells a file that changed from one that did not, without reading it: device, inode, size, mtime and ctime in
// nanoseconds, as text. Nothing for what is not there. Links are followed.
std::optional<std::string> stat_fingerprint(const std::filesystem::path& path);

// Digest of all regular files, links and modes (executable or not) below a folder; times, owners and the folder's own
// place do not matter. `skip` names base names to leave out (".git", "__pycache__").
struct TreeFile {
  std::string name;  // relative, '/' between parts
  bool executable = false;
  bool link = false;
  std::string link_target;
  std::uint64_t size = 0;
};
// Sorted by name; folders are not listed. Throws on what is neither file, link nor folder.
std::vector<TreeFile> list_tree(const std::filesystem::path& root, const std::vector<std::string>& skip = {});

std::uint64_t free_disk_bytes(const std::filesystem::path& path);
// Whether a disk is as good as full: what is left is for those who have to clean up, not for what fills it.
bool is_nearly_full(const std::filesystem::path& path);

struct Memory {
  std::uint64_t total = 0;      // of the machine, or the cgroup's limit where that is less
  std::uint64_t available = 0;  // likewise
};
Memory memory();

}  // namespace wheelsmith::sys
