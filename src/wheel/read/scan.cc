// The single pass over a wheel's members. The first bytes determine a member's type (a few microseconds: the inflater
// stops there), and only ELF files and device code are unpacked completely, into memory, never to disk. The largest
// start first, so that the biggest library is not the last to finish on a single thread; the gate limits unpacked data
// to the size of the two largest members, independent of the number of cores.

#include "wheel/read/scan.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_magic_size = 24;

struct Slot {
  std::optional<ElfFacts> elf;
  std::optional<DeviceFile> device;
  std::optional<Finding> unreadable;
};

Finding unreadable(const std::string& path, const char* what) {
  return {"member-unreadable",
          Severity::error,
          path,
          what,
          "an unreadable file cannot be installed or loaded, and was not checked",
          "rebuild the wheel, or download it again if the download was incomplete"};
}

// The bytes can be read, but not parsed as the type they claim. A library that no loader accepts is an error; other
// files with the magic number of a binary may be test data.
Finding malformed(const std::string& path, const char* what) {
  const bool is_library = path.find(".so") != std::string::npos;
  return {"elf-malformed",
          is_library ? Severity::error : Severity::warning,
          path,
          what,
          "the loader cannot read it either, and it was not checked",
          "rebuild the file, and do not edit it with tools that break it"};
}

void scan_one(const FileTree& tree, const FileTree::File& file, const ScanOptions& options, Slot& slot) {
  try {
    const std::optional<std::string> head = tree.head(file.name, k_magic_size);
    if (!head) return;
    const gpu::FileKind kind = gpu::file_kind(Bytes(*head));
    if (kind == gpu::FileKind::other && !options.each) return;
    const std::optional<Blob> blob = tree.open(file.name);
    if (!blob) return;
    if (options.each) options.each(file.name, blob->bytes);
    if (kind == gpu::FileKind::elf) {
      try {
        slot.elf = elf_facts(file.name, blob->bytes, options);
      } catch (const Error& error) {
        slot.unreadable = malformed(file.name, error.what());
      }
    } else if (kind != gpu::FileKind::other) {
      slot.device = DeviceFile{file.name, kind, file.size, gpu::read_device_code(kind, blob->bytes)};
    }
  } catch (const Error& error) {
    slot.unreadable = unreadable(file.name, error.what());
  }
}

}  // namespace

Scan scan(const FileTree& tree, const ScanOptions& options) {
  std::vector<FileTree::File> files = tree.files();
  if (options.skip) std::erase_if(files, [&](const FileTree::File& file) { return options.skip(file.name); });
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.size > b.size; });
  std::vector<Slot> slots(files.size());
  parallel_for(files.size(), options.threads, [&](std::size_t i) { scan_one(tree, files[i], options, slots[i]); });

  Scan result;
  for (Slot& slot : slots) {
    if (slot.elf) result.elf.push_back(std::move(*slot.elf));
    if (slot.device) result.device_files.push_back(std::move(*slot.device));
    if (slot.unreadable) result.unreadable.push_back(std::move(*slot.unreadable));
  }
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::sort(result.elf.begin(), result.elf.end(), by_path);
  std::sort(result.device_files.begin(), result.device_files.end(), by_path);
  std::sort(result.unreadable.begin(), result.unreadable.end(),
            [](const Finding& a, const Finding& b) { return a.subject < b.subject; });
  return result;
}

}  // namespace wheelsmith::wheel
