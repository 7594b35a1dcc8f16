#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_tree.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// What `--against` names: a wheel, a library, an installed folder or a sysroot, whose symbols count as provided.
struct Provider {
  std::string name;             // as given
  std::vector<ElfFacts> files;  // with `exported`
  // The machine's own, found as the loader does, which has compared versions already; or the interpreter and what it
  // loads, whose symbols every file sees.
  enum class Kind { given, machine, interpreter } kind = Kind::given;
};

// From a wheel or a single ELF file. Throws Error for anything else.
Provider read_provider(const std::string& path, Bytes file, unsigned threads);
// From a folder. Throws Error when there is no library in it: a mistyped folder must not look like one without symbols.
Provider read_provider(const std::string& path, const FileTree& tree, unsigned threads);

}  // namespace wheelsmith::wheel
