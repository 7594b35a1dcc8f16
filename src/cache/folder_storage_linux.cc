#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/error.h"
#include "cache/storage.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/new_file.h"

namespace wheelsmith::cache {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_leftover_seconds = 3600;

struct Stored {
  fs::path path;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;
};

std::vector<Stored> stored_below(const fs::path& folder) {
  std::vector<Stored> result;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    struct stat status{};
    if (::lstat(at->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (at.depth() == 0) continue;  // not an entry
    result.push_back({at->path(), static_cast<std::uint64_t>(status.st_blocks) * 512, status.st_mtim.tv_sec});
  }
  return result;
}

}  // namespace

FolderStorage::FolderStorage(fs::path folder) : m_folder(std::move(folder)) { sys::make_folders(m_folder); }

fs::path FolderStorage::path_of(const std::string& key) const { return m_folder / key.substr(0, 2) / key.substr(2); }

std::optional<std::string> FolderStorage::get(const std::string& key) const {
  const fs::path path = path_of(key);
  auto bytes = sys::read_file_if_possible(path, k_largest_entry);
  if (bytes) sys::touch(path);
  return bytes;
}

void FolderStorage::put(const std::string& key, std::string_view bytes) const {
  static std::atomic<unsigned> number{0};
  const fs::path path = path_of(key);
  const fs::path beside = fmt::format("{}.{}.{}", path.string(), ::getpid(), ++number);
  std::error_code error;
  if (!fs::is_directory(path.parent_path(), error)) sys::make_folders(path.parent_path());
  try {
    sys::NewFile file = sys::NewFile::replacing(beside, 0600);
    file.write(Bytes(bytes));
    file.close();
    fs::rename(beside, path, error);
    if (error) sys::throw_sys_error(error.value(), "write", path);
  } catch (const Error&) {
    ::unlink(beside.c_str());
    throw;
  }
}

void FolderStorage::remove(const std::string& key) const { ::unlink(path_of(key).c_str()); }

std::uint64_t trim_folder(const fs::path& folder, std::uint64_t size) {
  std::vector<Stored> all = stored_below(folder);
  std::uint64_t total = 0;
  for (const Stored& one : all) total += one.bytes;
  const std::int64_t now = ::time(nullptr);
  // Remove more than the excess, or the next build would remove again.
  const std::uint64_t wanted = total > size ? size / 10 * 9 : size;
  std::sort(all.begin(), all.end(), [](const Stored& a, const Stored& b) { return a.used < b.used; });
  for (const Stored& one : all) {
    const bool leftover = one.path.filename().string().find('.') != std::string::npos;  // of a killed build
    if (leftover ? one.used + k_leftover_seconds > now : total <= wanted) continue;
    if (::unlink(one.path.c_str()) == 0) total -= std::min(total, one.bytes);
  }
  return total;
}

}  // namespace wheelsmith::cache
