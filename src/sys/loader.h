#pragma once

#include <string>
#include <vector>

namespace wheelsmith::sys {

// The folders that the dynamic loader of this machine searches by default: /etc/ld.so.conf with its includes, then the
// built-in ones.
std::vector<std::string> loader_folders();

// LD_LIBRARY_PATH, split; an empty element stands for the current folder.
std::vector<std::string> library_path();

}  // namespace wheelsmith::sys
