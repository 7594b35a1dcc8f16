#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "sys/process/process.h"

// A sandbox for foreign programs: a package's build script, its backend, its tests. docs/security.md explains its
// purpose; confine_linux.cc how it is built.

namespace wheelsmith::sys {

// How a program's file access is restricted. Independently of this, it has no capabilities, cannot gain any, and the
// kernel denies it the calls that builds never need.
enum class SandboxMode : std::uint8_t {
  off,         // no restrictions
  calls,       // neither of the following works here: only capabilities and system calls are restricted
  landlock,    // the kernel denies access to all files except the policy's
  namespaces,  // its own file system, processes, IPC and network
};

struct SandboxPolicy {
  SandboxMode mode = SandboxMode::off;
  std::vector<std::filesystem::path> readable;  // files and folders besides the system's own
  std::vector<std::filesystem::path> writable;
  std::vector<std::filesystem::path> devices;  // in /dev, besides the standard ones
  std::vector<std::filesystem::path> hidden;   // even inside a readable folder
  std::filesystem::path temporary;             // mounted as its private /tmp; writable
  bool network = false;
};

// What the kernel supports here. Tried once, in a child.
struct SandboxSupport {
  bool namespaces = false;
  std::string why_no_namespaces;  // "mounting /proc: Operation not permitted"
  int landlock = 0;               // the Landlock version; 0: none
  // Every mode but `off` needs the system call filter. qemu's user mode, which runs containers of another architecture,
  // has none.
  std::string why_no_filter;  // "the system call filter: Invalid argument"; "": it works
};
const SandboxSupport& sandbox_support();

// What a program in such a sandbox cannot and can do, as recorded in the provenance.
struct Protections {
  std::vector<std::string> present, absent;
};
Protections protections_of(SandboxMode mode, bool network);

// The command wrapped in the sandbox: this program, which reads the policy from standard input, creates the sandbox and
// runs the command in it. The command's own input follows the policy.
Command in_sandbox(const Command& command, const SandboxPolicy& policy);

// The other side: `wheelsmith confine -- COMMAND`. Exits as the command does. Throws Error when the sandbox cannot be
// created exactly as the policy says: nothing runs then.
int run_confined(const SandboxPolicy& policy, const std::vector<std::string>& argv);
SandboxPolicy read_policy_from_input();

std::string to_text(const SandboxPolicy& policy);
SandboxPolicy parse_policy(std::string_view text);  // throws Error

}  // namespace wheelsmith::sys

template <>
struct wheelsmith::EnumNames<wheelsmith::sys::SandboxMode> {
  static constexpr std::array list = {"off", "calls", "landlock", "namespaces"};
};
