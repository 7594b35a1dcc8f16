#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_tree.h"
#include "wheel/read/distribution.h"
#include "wheel/read/scan.h"
#include "wheel/tags/platform.h"

namespace wheelsmith::wheel {

enum class ItemKind { wheel, elf, fatbin, folder, kpack };

std::string_view to_string(ItemKind kind);

struct LargeFile {
  std::string path;
  std::uint64_t size = 0;
  std::uint64_t packed_size = 0;  // 0 outside an archive
};

// The result of `inspect` for one path.
struct Inspection {
  std::string path;
  ItemKind kind = ItemKind::wheel;
  std::string error;  // not empty: it could not be read, and nothing else is set

  std::string name, version, build, label;
  std::vector<std::string> tags;  // from the WHEEL file, else from the file name
  std::vector<Distribution> distributions;
  std::uint64_t size = 0;
  std::uint64_t unpacked_size = 0;
  std::uint64_t file_count = 0;
  std::vector<LargeFile> largest;

  std::optional<Platform> platform;  // none where tags do not apply (a single fat binary)
  // The same with the libraries of torch, the CUDA wheels, the driver and so on counted as provided: the tag the wheel
  // qualifies for next to its required packages.
  std::optional<Platform> platform_beside_others;
  std::vector<std::string> used_packages;  // those providers: "the NVIDIA driver", "the wheel torch"
  std::vector<ElfFacts> elf;
  std::vector<DeviceFile> device_files;
  std::vector<gpu::CodeSum> gpu;  // over all files
  std::vector<Finding> problems;  // members that could not be read
};

struct InspectOptions {
  unsigned threads = 1;
  PlatformOptions platform;
};

// Inspects a file of any supported kind, detected by its first bytes. Throws Error for other files.
Inspection inspect_file(const std::string& path, Bytes file, const InspectOptions& options);
Inspection inspect_folder(const std::string& path, const FileTree& tree, const InspectOptions& options);

// The device code of all files as one list.
std::vector<gpu::CodeSum> sum_up(const std::vector<ElfFacts>& elf, const std::vector<DeviceFile>& device_files);

}  // namespace wheelsmith::wheel
