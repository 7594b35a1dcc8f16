#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_tree.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// An argument of `--against`: a wheel, a library, an installed folder or a sysroot, whose symbols count as provided.
struct Provider {
  std::string name;             // as given
  std::vector<ElfFacts> files;  // with `exported`
  // The machine's own libraries, found like the loader finds them, which has already compared versions; or the
  // interpreter and its libraries, whose symbols are visible to every file.
  enum class Kind { given, machine, interpreter } kind = Kind::given;
};

// From a wheel or a single ELF file. Throws Error for anything else.
Provider read_provider(const std::string& path, Bytes file, unsigned threads);
// From a folder. Throws Error if it contains no library, so that a mistyped path is not mistaken for a folder without
// symbols.
Provider read_provider(const std::string& path, const FileTree& tree, unsigned threads);

}  // namespace wheelsmith::wheel
