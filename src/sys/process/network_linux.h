#pragma once

#include <array>

// A child without a network. Only src/sys includes this.

namespace wheelsmith::sys {

// The text that the kernel expects to keep a process's user and group inside a user namespace: "1000 1000 1\n".
// Formatted before the fork, since a child of a multithreaded program may not format text.
struct IdentityMaps {
  std::array<char, 64> users{};
  std::array<char, 64> groups{};
};
IdentityMaps identity_maps();

// Moves this process into a network namespace with only a loopback device, which is up. Returns 0 or an errno. For a
// child between fork and exec: only makes system calls.
int leave_network(const IdentityMaps& maps);

// Its parts, with the same rules: create a user namespace, create a network namespace.
int map_identity(const IdentityMaps& maps);
int bring_loopback_up();

}  // namespace wheelsmith::sys
