#pragma once

#include <array>

// A child without a network. Only src/sys includes this.

namespace wheelsmith::sys {

// What the kernel wants to read to keep a process's user and group inside a user namespace: "1000 1000 1\n". Made
// before the fork, since a child of a program with threads may not format text.
struct IdentityMaps {
  std::array<char, 64> users{};
  std::array<char, 64> groups{};
};
IdentityMaps identity_maps();

// Moves this process into a network namespace that has only a loopback device, which is up. 0, or the errno of what
// failed. For a child between fork and exec: makes system calls and nothing else.
int leave_network(const IdentityMaps& maps);

// Its parts, with the same rules: in a new user namespace, in a new network namespace.
int map_identity(const IdentityMaps& maps);
int bring_loopback_up();

}  // namespace wheelsmith::sys
