#include "wheel/read/provider.h"

#include "base/error.h"
#include "wheel/read/scan.h"
#include "wheel/read/wheel_tree.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

Provider read_provider(const std::string& path, Bytes file, unsigned threads) {
  if (elf::ElfFile::has_magic(file)) return {path, {elf_facts(path, file, {.exported = true})}};
  const zip::Archive archive = zip::Archive::open(file);
  return read_provider(path, WheelTree(archive), threads);
}

Provider read_provider(const std::string& path, const FileTree& tree, unsigned threads) {
  Provider provider{path, scan(tree, {.threads = threads, .exported = true}).elf};
  if (provider.files.empty()) throw Error("contains no library");
  return provider;
}

}  // namespace wheelsmith::wheel
