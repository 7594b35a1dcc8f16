#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

// Files that several machines use at once, possibly without flock(), and the identity of the process that wrote one.

namespace wheelsmith::sys {

// Creates a file with this content; errc::file_exists if it exists. If several machines do this, one wins.
std::error_code create_exclusively(const std::filesystem::path& path, std::string_view text);
// Replaces the first bytes of an existing file in place, and syncs it.
std::error_code overwrite_start(const std::filesystem::path& path, std::string_view text);

// The name of the network file system that holds the path ("nfs", "lustre"); "" for a local one or an unknown one.
std::string network_file_system(const std::filesystem::path& path);
// Whether flock() works in an existing, writable folder. Throws Error when no file can be created there.
bool has_file_locks(const std::filesystem::path& folder);
// The file server's time, in seconds since 1970: the modification time of a file that is created for this.
std::int64_t file_system_seconds(const std::filesystem::path& folder);

// Another machine has created or changed this file or a file in this folder: forgets what this machine's network file
// system client remembers of it, above all that a file is missing, which NFS remembers for up to a minute. Opening a
// folder or a file makes the client ask the server (close-to-open consistency).
void refresh(const std::filesystem::path& path);

std::string random_hex(std::size_t bytes);

// Identifies a process among all machines. `space` is its PID namespace, `start` its start time in clock ticks.
struct ProcessIdentity {
  std::string host, boot;
  std::uint64_t pid = 0;
  std::string start, space;

  bool operator==(const ProcessIdentity&) const = default;
};
ProcessIdentity own_identity();
// Whether it is known to have ended: it ran under this kernel, in this PID namespace, and no longer exists. False for
// processes of other machines and containers, about which nothing is known.
bool has_ended(const ProcessIdentity& process);
// Start time of a process, field 22 of /proc/PID/stat; "" when there is no such process or it is a zombie.
std::string process_start(std::uint64_t pid);

}  // namespace wheelsmith::sys
