#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "elf/elf_file.h"
#include "gpu/arch.h"

namespace wheelsmith::gpu {

// The total of device code of one architecture, kind, section and registration.
struct CodeSum {
  Arch arch;
  CodeKind kind = CodeKind::sass;
  std::string section;  // ".nv_fatbin"; "" if the file itself is device code, or has no section headers
  // Referenced by a wrapper in .nvFatBinSegment or .hipFatBinSegment, so that it is registered with the runtime at load
  // time. False: the library loads it by itself, or it is unused.
  bool wrapped = false;
  bool relocatable = false;          // RDC (__nv_relfatbin): used only when the driver links at run time
  std::uint64_t count = 0;           // entries
  std::uint64_t bytes = 0;           // on disk, headers included; proportional to unpacked size if compressed together
  std::uint64_t unpacked_bytes = 0;  // in memory
};

struct DeviceCode {
  std::vector<CodeSum> sums;  // sorted by vendor, arch, kind, section
  // What could not be read, each a sentence that names the location ("container at 0x1a40 in .nv_fatbin: …"). At most
  // 20, then "and N more".
  std::vector<std::string> problems;
  // A host library whose device code was split into .kpack archives.
  struct KpackReference {
    std::string kernel_name;
    std::vector<std::string> search_paths;
  };
  std::optional<KpackReference> kpack;
};

enum class FileKind : std::uint8_t { other, elf, nvidia_fatbin, hip_bundle, hip_compressed_bundle, kpack };
// By the first 24 bytes.
FileKind file_kind(Bytes head);

// The device code in a host library or executable, or in a cubin or AMD code object that is ELF itself. Never throws
// because of the file's contents: unreadable parts become problems. NVIDIA code is listed without decompressing
// anything.
DeviceCode read_device_code(const elf::ElfFile& file);

// The device code of a standalone fat binary, HIP bundle (plain or CCOB) or .kpack archive.
DeviceCode read_device_code(FileKind kind, Bytes file);

}  // namespace wheelsmith::gpu
