#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

// Processes below others, and the memory they hold.

namespace wheelsmith::governor {

struct TreeUse {
  std::uint64_t bytes = 0;
  std::vector<pid_t> pids;  // all below the root, without it
};
TreeUse tree_use(pid_t root);

// Sends the signal to all below the root, and again to those that were born meanwhile.
void signal_tree(pid_t root, int signal);

// A compiler's inner program (cc1plus, cicc) below `root` that is below none of `granted`: the path or name of each.
std::vector<std::string> compilers_outside(pid_t root, const std::vector<pid_t>& granted);

// Whether `ancestor` is above us.
bool is_ancestor(pid_t ancestor);

}  // namespace wheelsmith::governor
