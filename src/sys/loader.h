#pragma once

#include <string>
#include <vector>

namespace wheelsmith::sys {

// The folders that this machine's dynamic loader searches by default: /etc/ld.so.conf with its includes, then the
// built-in ones. A folder's glibc-hwcaps/x86-64-v3 and similar precede it where this processor supports them; also in
// library_path.
std::vector<std::string> loader_folders();

// The same for musl's loader: /etc/ld-musl-*.path, else its built-in ones.
std::vector<std::string> musl_loader_folders();

// The default folders of a system below another root: an unpacked image, a sysroot. Configuration files are not read.
std::vector<std::string> loader_folders_below(const std::string& root);

// The folders of LD_LIBRARY_PATH, absolute. The loader accepts ':' and ';' as separators, relative folders, and an
// empty entry for the current folder.
std::vector<std::string> library_path();

}  // namespace wheelsmith::sys
