#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file_tree.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

struct ScanOptions {
  unsigned threads = 1;
  bool exported = false;  // collect ElfFacts::exported
  bool layout = false;    // collect ElfFacts::layout
  // Called with every file's bytes, from several threads; without it only files of interest are opened.
  std::function<void(const std::string& name, Bytes bytes)> each = {};
  // Files that are not opened at all; empty: none.
  std::function<bool(const std::string& name)> skip = {};
};

// A file of device code: a fat binary, a HIP bundle, a .kpack archive.
struct DeviceFile {
  std::string path;
  gpu::FileKind kind = gpu::FileKind::other;
  std::uint64_t size = 0;
  gpu::DeviceCode code;
};

struct Scan {
  std::vector<ElfFacts> elf;             // sorted by path
  std::vector<DeviceFile> device_files;  // likewise
  std::vector<Finding> unreadable;       // files that could not be read or parsed
};

// Opens each file of interest once, the largest first, several at a time.
Scan scan(const FileTree& tree, const ScanOptions& options);

// The facts of one ELF file.
ElfFacts elf_facts(const std::string& path, Bytes bytes, const ScanOptions& options);

}  // namespace wheelsmith::wheel
