#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/fd.h"
#include "sys/process/process.h"

namespace wheelsmith::sys {

namespace {

bool leads_out(const std::filesystem::path& name) {
  return name.is_absolute() || std::any_of(name.begin(), name.end(), [](const auto& part) { return part == ".."; });
}

// The result of map_file(), or its error.
struct Mapping {
  Blob blob;
  std::string problem;
};

Mapping mapping_of(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return {{}, sys_error_text(errno, "open", path)};
  struct stat status{};
  if (::fstat(fd.raw(), &status) != 0) return {{}, sys_error_text(errno, "read", path)};
  if (!S_ISREG(status.st_mode)) return {{}, fmt::format("{} is not a regular file", printable(path.string()))};
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.raw(), 0);
  if (data == MAP_FAILED) return {{}, sys_error_text(errno, "map", path)};
  return {{std::shared_ptr<const void>(data, [size](const void* p) { ::munmap(const_cast<void*>(p), size); }),
           Bytes(data, size)},
          {}};
}

}  // namespace

std::string sys_error_text(int error_number, const char* action, const std::filesystem::path& path) {
  return fmt::format("cannot {} {}: {}", action, printable(path.string()),
                     std::generic_category().message(error_number));
}

void throw_sys_error(int error_number, const char* action, const std::filesystem::path& path) {
  throw Error(sys_error_text(error_number, action, path));
}

bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Blob map_file(const std::filesystem::path& path) {
  Mapping mapping = mapping_of(path);
  if (!mapping.problem.empty()) throw Error(mapping.problem);
  return std::move(mapping.blob);
}

std::optional<Blob> map_file_if_possible(const std::filesystem::path& path) {
  Mapping mapping = mapping_of(path);
  if (!mapping.problem.empty()) return std::nullopt;
  return std::move(mapping.blob);
}

bool read_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& take) {
  const bool standard = path == "-";
  Fd opened;
  while (!standard && !opened.is_open()) {  // opening a pipe waits for a writer
    opened = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (opened.is_open()) break;
    if (errno != EINTR) throw_sys_error(errno, "open", path);
    if (interrupted()) return false;
  }
  const int fd = standard ? STDIN_FILENO : opened.raw();
  std::string piece(256 << 10, '\0');
  for (;;) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count == 0) return true;
    if (count > 0) {
      take(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
      if (interrupted()) return false;
    } else if (errno != EINTR) {
      throw_sys_error(errno, "read", standard ? std::filesystem::path("standard input") : path);
    } else if (interrupted()) {
      return false;
    }
  }
}

std::vector<FileTree::File> FolderTree::files() const {
  namespace fs = std::filesystem;
  std::vector<File> result;
  std::error_code error;
  fs::recursive_directory_iterator walk(m_root, fs::directory_options::skip_permission_denied, error);
  if (error) throw_sys_error(error.value(), "read", m_root);
  const std::size_t prefix = m_root.string().size() + (m_root.string().ends_with('/') ? 0 : 1);
  for (; walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    if (error) throw_sys_error(error.value(), "read", m_root);
    std::error_code ignored;  // a dangling link is not a file
    if (!walk->is_regular_file(ignored)) continue;
    const std::uintmax_t size = walk->file_size(ignored);
    result.push_back({walk->path().string().substr(prefix), ignored ? 0 : size});
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::optional<std::filesystem::path> FolderTree::locate(const std::string& name) const {
  if (leads_out(name)) return std::nullopt;
  std::filesystem::path path = m_root / name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  return path;
}

std::optional<Blob> FolderTree::open(const std::string& name) const {
  const std::optional<std::filesystem::path> path = locate(name);
  if (!path) return std::nullopt;
  return map_file(*path);
}

// A site-packages has tens of thousands of files: reading a few bytes is much cheaper than mapping.
std::optional<std::string> FolderTree::head(const std::string& name, std::size_t count) const {
  const std::optional<std::filesystem::path> path = locate(name);
  if (!path) return std::nullopt;
  const Fd fd(::open(path->c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) throw_sys_error(errno, "open", *path);
  std::string text(count, '\0');
  const ssize_t size = ::pread(fd.raw(), text.data(), text.size(), 0);
  if (size < 0) throw_sys_error(errno, "read", *path);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

namespace {

// A job on a node of a cluster has the TMPDIR of the machine that submitted it.
std::filesystem::path temporary_folder() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : folder;
}

}  // namespace

TempDir::TempDir() : TempDir(temporary_folder()) {}

TempDir::TempDir(const std::filesystem::path& parent) {
  std::string pattern = (parent / "wheelsmith-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw_sys_error(errno, "make", pattern);
  m_path = pattern;
}

TempDir::~TempDir() {
  try {
    remove_tree(m_path);
  } catch (const Error&) {  // a leftover temporary folder is not fatal
  }
}

}  // namespace wheelsmith::sys
