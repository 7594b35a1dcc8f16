#pragma once

#include <string>
#include <vector>

namespace wheelsmith::sys {

// The folders that this machine's dynamic loader searches by default: /etc/ld.so.conf with its includes, then the
// built-in ones. A folder's glibc-hwcaps/x86-64-v3 and similar precede it where this processor supports them; also in
// library_path.
std::vector<std::string> loader_folders();

// The folders of LD_LIBRARY_PATH, absolute. The loader accepts ':' and ';' as separators, relative folders, and an
// empty entry for the current folder.
std::vector<std::string> library_path();

}  // namespace wheelsmith::sys
