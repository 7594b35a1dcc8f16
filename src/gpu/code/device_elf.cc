#include "gpu/code/device_elf.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/endian.h"
#include "base/error.h"
#include "elf/elf_file.h"

namespace wheelsmith::gpu {
namespace {

struct ElfHeader {
  char magic[4];
  std::uint8_t bits;   // 2: 64
  std::uint8_t order;  // 1: little endian
  std::uint8_t version;
  std::uint8_t os_abi;
  std::uint8_t abi_version;
  char padding[7];
  le16 type;
  le16 machine;
  le32 file_version;
  le64 entry;
  le64 program_headers;
  le64 section_headers;
  le32 flags;
};
static_assert(sizeof(ElfHeader) == 52);

// The low byte of an AMD code object's e_flags.
struct Processor {
  std::uint8_t number;
  std::string_view name;
};
constexpr Processor k_processors[] = {
    {0x20, "gfx600"},          {0x21, "gfx601"},          {0x22, "gfx700"},        {0x23, "gfx701"},
    {0x24, "gfx702"},          {0x25, "gfx703"},          {0x26, "gfx704"},        {0x28, "gfx801"},
    {0x29, "gfx802"},          {0x2a, "gfx803"},          {0x2b, "gfx810"},        {0x2c, "gfx900"},
    {0x2d, "gfx902"},          {0x2e, "gfx904"},          {0x2f, "gfx906"},        {0x30, "gfx908"},
    {0x31, "gfx909"},          {0x32, "gfx90c"},          {0x33, "gfx1010"},       {0x34, "gfx1011"},
    {0x35, "gfx1012"},         {0x36, "gfx1030"},         {0x37, "gfx1031"},       {0x38, "gfx1032"},
    {0x39, "gfx1033"},         {0x3a, "gfx602"},          {0x3b, "gfx705"},        {0x3c, "gfx805"},
    {0x3d, "gfx1035"},         {0x3e, "gfx1034"},         {0x3f, "gfx90a"},        {0x40, "gfx940"},
    {0x41, "gfx1100"},         {0x42, "gfx1013"},         {0x43, "gfx1150"},       {0x44, "gfx1103"},
    {0x45, "gfx1036"},         {0x46, "gfx1101"},         {0x47, "gfx1102"},       {0x48, "gfx1200"},
    {0x49, "gfx1250"},         {0x4a, "gfx1151"},         {0x4b, "gfx941"},        {0x4c, "gfx942"},
    {0x4e, "gfx1201"},         {0x4f, "gfx950"},          {0x50, "gfx1310"},       {0x51, "gfx9-generic"},
    {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"}, {0x54, "gfx11-generic"}, {0x55, "gfx1152"},
    {0x57, "gfx1154"},         {0x58, "gfx1153"},         {0x59, "gfx12-generic"}, {0x5a, "gfx1251"},
    {0x5b, "gfx12-5-generic"}, {0x5c, "gfx1172"},         {0x5d, "gfx1170"},       {0x5e, "gfx1171"},
    {0x5f, "gfx9-4-generic"},  {0x62, "gfx11-7-generic"}, {0x63, "gfx13-generic"},
};

// From code object version 4 on (ABI version 2) a feature is unsupported, any, off or on; before that, one bit meant
// on.
std::string_view feature_suffix(std::uint32_t two_bits) {
  if (two_bits == 2) return "-";
  return two_bits == 3 ? "+" : "";
}

std::string amd_target(const DeviceElfHeader& header) {
  const std::uint32_t number = header.flags & 0xff;
  const auto* processor = std::find_if(std::begin(k_processors), std::end(k_processors),
                                       [number](const Processor& candidate) { return candidate.number == number; });
  if (processor == std::end(k_processors)) throw Error(fmt::format("unknown AMD processor {:#x}", number));
  std::string target(processor->name);
  if (header.abi_version < 2) {
    if (header.abi_version == 1 && (header.flags & 0x200) != 0) target += ":sramecc+";
    if (header.abi_version == 1 && (header.flags & 0x100) != 0) target += ":xnack+";
    return target;
  }
  const std::string_view sramecc = feature_suffix(header.flags >> 10 & 3);
  const std::string_view xnack = feature_suffix(header.flags >> 8 & 3);
  if (!sramecc.empty()) target.append(":sramecc").append(sramecc);
  if (!xnack.empty()) target.append(":xnack").append(xnack);
  return target;
}

}  // namespace

std::optional<DeviceElfHeader> DeviceElfHeader::read(Bytes file) {
  if (!file.starts_with("\x7f"
                        "ELF") ||
      !file.contains(0, sizeof(ElfHeader)))
    return std::nullopt;
  const auto header = file.get<ElfHeader>(0);
  if (header.bits != 2 || header.order != 1) return std::nullopt;
  return DeviceElfHeader{header.machine, header.abi_version, header.flags};
}

std::optional<Arch> arch_of(const DeviceElfHeader& header) {
  Arch arch;
  if (header.machine == elf::k_machine_amdgpu) {
    arch.vendor = Vendor::amd;
    arch.target = amd_target(header);
    return arch;
  }
  if (header.machine == elf::k_machine_cuda) {
    // ABI 8, introduced with CUDA 13, moved the number; libraries contain both forms.
    arch.number = (header.abi_version >= 8 ? header.flags >> 8 : header.flags) & 0xff;
    if (arch.number == 0) throw Error("the cubin names no architecture");
    return arch;
  }
  return std::nullopt;
}

}  // namespace wheelsmith::gpu
