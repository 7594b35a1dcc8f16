#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/fd.h"
#include "sys/io/write_linux.h"
#include "sys/process/own_process.h"
#include "sys/shared_folder.h"

namespace wheelsmith::sys {

namespace {

// <linux/magic.h> lacks the numbers of file systems that are not part of the kernel.
constexpr std::array<std::pair<std::uint32_t, const char*>, 15> k_network_file_systems = {{
    {0x00006969, "nfs"},
    {0x0000517b, "smb"},
    {0xff534d42, "cifs"},
    {0xfe534d42, "smb2"},
    {0x0bd00bd0, "lustre"},
    {0x47504653, "gpfs"},
    {0x00c36400, "ceph"},
    {0x19830326, "beegfs"},
    {0xaad7aaea, "panfs"},
    {0x20030528, "orangefs"},
    {0x7461636f, "ocfs2"},
    {0x01161970, "gfs2"},
    {0x5346414f, "afs"},
    {0x73757245, "coda"},
    {0x0000564c, "ncp"},
}};

std::error_code last_shared_error() { return {errno, std::generic_category()}; }

// A temporary file in a folder, removed with the object.
class ProbeFile {
 public:
  explicit ProbeFile(const std::filesystem::path& folder) : m_path(folder / (".probe-" + random_hex(8))) {
    m_fd = Fd(::open(m_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!m_fd.is_open()) throw_sys_error(errno, "create a file in", folder);
  }
  ~ProbeFile() { ::unlink(m_path.c_str()); }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  [[nodiscard]] const Fd& fd() const { return m_fd; }

 private:
  std::filesystem::path m_path;
  Fd m_fd;
};

std::string one_line_of(const char* path) {
  const auto text = read_file_if_possible(path, 4096);
  return text ? std::string(trim(*text)) : "";
}

}  // namespace

std::error_code create_exclusively(const std::filesystem::path& path, std::string_view text) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.is_open()) return last_shared_error();
  std::error_code error;
  if (::write(fd.raw(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    error = errno == 0 ? std::make_error_code(std::errc::no_space_on_device) : last_shared_error();
  if (!error && ::fsync(fd.raw()) != 0) error = last_shared_error();
  if (::close(fd.release()) != 0 && !error) error = last_shared_error();
  if (error) ::unlink(path.c_str());
  return error;
}

std::error_code overwrite_start(const std::filesystem::path& path, std::string_view text) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.is_open()) return last_shared_error();
  if (::pwrite(fd.raw(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return last_shared_error();
  if (::fsync(fd.raw()) != 0 || ::close(fd.release()) != 0) return last_shared_error();
  return {};
}

std::string network_file_system(const std::filesystem::path& path) {
  struct statfs status{};
  if (::statfs(path.c_str(), &status) != 0) return "";
  for (const auto& [magic, name] : k_network_file_systems) {
    if (static_cast<std::uint32_t>(status.f_type) == magic) return name;
  }
  return "";
}

bool has_file_locks(const std::filesystem::path& folder) {
  const ProbeFile probe(folder);
  return ::syscall(SYS_flock, probe.fd().raw(), LOCK_EX | LOCK_NB) == 0;
}

std::int64_t file_system_seconds(const std::filesystem::path& folder) {
  const ProbeFile probe(folder);
  struct stat status{};
  // The time is the server's only if a byte reaches the server.
  const bool written = ::write(probe.fd().raw(), "x", 1) == 1 && ::fsync(probe.fd().raw()) == 0;
  if (!written || ::fstat(probe.fd().raw(), &status) != 0) throw_sys_error(errno, "write to", folder);
  return status.st_mtim.tv_sec;
}

void refresh(const std::filesystem::path& path) {
  const Fd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::string random_hex(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes * 2) {
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) throw Error("the kernel has no random numbers");
    text += fmt::format("{:016x}", random);
  }
  text.resize(bytes * 2);
  return text;
}

// The second field, the program's name, may contain blanks and parentheses.
std::string process_start(std::uint64_t pid) {
  const auto text = read_file_if_possible(fmt::format("/proc/{}/stat", pid), 1 << 16);
  if (!text) return "";  // it may have ended since it was listed
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return "";
  const auto fields = split(std::string_view(*text).substr(name_end + 1), ' ');
  // A zombie has ended.
  if (fields.size() <= 20 || fields[1] == "Z" || fields[1] == "X") return "";
  return std::string(fields[20]);
}

ProcessIdentity own_identity() {
  ProcessIdentity own;
  own.host = host_name();
  own.boot = one_line_of("/proc/sys/kernel/random/boot_id");
  own.pid = static_cast<std::uint64_t>(::getpid());
  own.start = process_start(own.pid);
  std::error_code ignored;
  own.space = std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
  return own;
}

bool has_ended(const ProcessIdentity& process) {
  const ProcessIdentity own = own_identity();
  if (own.boot.empty() || own.space.empty() || own.start.empty()) return false;
  if (process.boot != own.boot || process.space != own.space) return false;
  return process_start(process.pid) != process.start;
}

}  // namespace wheelsmith::sys
