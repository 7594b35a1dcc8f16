#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

// Descendants of processes, and their memory.

namespace wheelsmith::governor {

struct TreeUse {
  std::uint64_t bytes = 0;
  std::vector<pid_t> pids;  // all descendants of the root, without it
};
TreeUse tree_use(pid_t root);

// Signals all descendants of the root, including those started meanwhile.
void signal_tree(pid_t root, int signal);

// Inner compiler programs (cc1plus, cicc) below `root` but below none of `granted`: the path or name of each.
std::vector<std::string> compilers_outside(pid_t root, const std::vector<pid_t>& granted);

// Whether `ancestor` is an ancestor of this process.
bool is_ancestor(pid_t ancestor);

}  // namespace wheelsmith::governor
