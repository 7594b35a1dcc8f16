#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_tree.h"

namespace wheelsmith::wheel {

enum class SizeKind { folder, file, section, arch, rest };

std::string_view to_string(SizeKind kind);

// Where the bytes of a wheel are: folder -> file -> section -> architecture. `bytes` of a node is the sum of its
// children, if it has any.
struct SizeNode {
  std::string name;
  SizeKind kind = SizeKind::folder;
  std::uint64_t bytes = 0;         // uncompressed
  std::uint64_t packed_bytes = 0;  // in the archive; 0 if unknown: inside a file, or outside an archive
  std::string type;                // of a file: "elf", "gpu", "python", "other"; of code: "sass", "ptx", "ltoir", "hip"
  std::vector<SizeNode> children;  // the largest first
};

// A wheel, an ELF file, a fat binary, a HIP bundle or a .kpack archive. Throws Error for other files.
SizeNode size_tree(const std::string& path, Bytes file, unsigned threads);
SizeNode size_tree(const std::string& path, const FileTree& tree, unsigned threads);

}  // namespace wheelsmith::wheel
