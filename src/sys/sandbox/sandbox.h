#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "sys/process/process.h"

// A sandbox for programs that are not ours: a package's build script, its backend, its tests. docs/security.md says
// what it is for; confine_linux.cc how it is made.

namespace wheelsmith::sys {

// How files are kept from a program. What else is done to it does not depend on this: it has no capabilities, cannot
// get any, and the kernel refuses it the calls that builds never need.
enum class SandboxMode : std::uint8_t {
  off,         // nothing at all is done
  calls,       // neither of the following works here: only capabilities and system calls are taken away
  landlock,    // the kernel refuses access to all files but some
  namespaces,  // it has a file system, processes, IPC and network of its own
};

struct SandboxPolicy {
  SandboxMode mode = SandboxMode::off;
  std::vector<std::filesystem::path> readable;  // files and folders besides the system's own
  std::vector<std::filesystem::path> writable;
  std::vector<std::filesystem::path> devices;  // in /dev, besides those that every program has
  std::vector<std::filesystem::path> hidden;   // even where a folder around them is readable
  std::filesystem::path temporary;             // what it sees as /tmp, of its own; is writable
  bool network = false;
};

// What the kernel lets us do here. Tried once, in a child.
struct SandboxSupport {
  bool namespaces = false;
  std::string why_no_namespaces;  // "mounting /proc: Operation not permitted"
  int landlock = 0;               // the version of its interface; 0: none
};
const SandboxSupport& sandbox_support();

// What a program in such a sandbox is kept from, and what it is not, in the words of the provenance.
struct Protections {
  std::vector<std::string> present, absent;
};
Protections protections_of(SandboxMode mode, bool network);

// The command as one that runs in the sandbox: our own program, which reads the policy from its standard input, makes
// the sandbox and then the command in it. The command's own input comes behind the policy.
Command in_sandbox(const Command& command, const SandboxPolicy& policy);

// The other side of it: `wheelsmith confine -- COMMAND`. Ends as the command does. Throws Error when the sandbox cannot
// be made as the policy says: nothing runs then.
int run_confined(const SandboxPolicy& policy, const std::vector<std::string>& argv);
SandboxPolicy read_policy_from_input();

std::string to_text(const SandboxPolicy& policy);
SandboxPolicy parse_policy(std::string_view text);  // throws Error

}  // namespace wheelsmith::sys

template <>
struct wheelsmith::EnumNames<wheelsmith::sys::SandboxMode> {
  static constexpr std::array list = {"off", "calls", "landlock", "namespaces"};
};
