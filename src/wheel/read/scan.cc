// The one pass over a wheel's members. Each member is looked at by its first bytes (a few microseconds: the inflater
// stops there), and only ELF files and device code are unpacked whole, into memory, never to disk. The largest start
// first, so that the last thread to finish does not finish alone with the biggest library; the gate keeps what is
// unpacked at one time within the size of the two largest members, however many cores there are.

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
          "a file that cannot be read cannot be installed or loaded, and nothing in it was judged",
          "build the wheel again, or fetch it again if it was cut off on the way"};
}

// The bytes are there, but what they claim to be cannot be read. A library that no loader takes is an error; other
// files with the magic of a binary may be test data.
Finding malformed(const std::string& path, const char* what) {
  const bool is_library = path.find(".so") != std::string::npos;
  return {"elf-malformed",
          is_library ? Severity::error : Severity::warning,
          path,
          what,
          "no loader can read what we cannot, and nothing in it was judged",
          "build the file again, and do not edit it with tools that break it"};
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
