#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "elf/elf_file.h"
#include "gpu/arch.h"

namespace wheelsmith::gpu {

// Pieces of device code of one architecture, kind, section and reach, summed up.
struct CodeSum {
  Arch arch;
  CodeKind kind = CodeKind::sass;
  std::string section;  // ".nv_fatbin"; "" for a file that is device code itself, or that has no section headers
  // Reached by a wrapper of .nvFatBinSegment or .hipFatBinSegment, so that the runtime is told of it at load time.
  // False: the library loads it by itself, or nobody does.
  bool wrapped = false;
  bool relocatable = false;          // RDC (__nv_relfatbin): used only when the driver links at run time
  std::uint64_t count = 0;           // entries
  std::uint64_t bytes = 0;           // on disk, headers included; a share by unpacked size where packed together
  std::uint64_t unpacked_bytes = 0;  // in memory
};

struct DeviceCode {
  std::vector<CodeSum> sums;  // sorted by vendor, arch, kind, section
  // What could not be read, each a sentence that names the place ("container at 0x1a40 in .nv_fatbin: …").
  // At most 20, then "and N more".
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
// for what the file holds: what cannot be read becomes a problem. NVIDIA code is listed without decompressing anything.
DeviceCode read_device_code(const elf::ElfFile& file);

// The device code of a file that is a fat binary, HIP bundle (plain or CCOB) or .kpack archive by itself.
DeviceCode read_device_code(FileKind kind, Bytes file);

}  // namespace wheelsmith::gpu
