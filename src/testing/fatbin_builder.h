#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Containers of device code for tests, written from the formats' descriptions and without the code under test.

namespace wheelsmith::testing {

// A zstd frame of raw blocks: valid for every decoder, and made without zstd.
std::string zstd_frame(std::string_view contents);
// A zstd frame that unpacks to `size` times the same byte, in four bytes per 128 kB.
std::string zstd_bomb(std::uint64_t size, char byte = 0);
std::string zlib_stream(std::string_view contents);

// One NVIDIA container.
class FatbinBuilder {
 public:
  struct Entry {
    std::uint16_t kind = 2;  // 1 PTX, 2 ELF, 8 LTO IR
    std::uint32_t arch = 90;
    std::uint64_t flags = 0x11;  // 64 bit, Linux; see below
    std::string payload = {};
    std::uint32_t header_size = 64;
    // For compressed entries: set these with the flags 0x2000 (LZ4) or 0x8000 (zstd).
    std::uint32_t packed_size = 0;
    std::uint64_t unpacked_size = 0;
    std::optional<std::uint64_t> padded_size = {};  // a lie
  };
  static constexpr std::uint64_t k_arch_specific = 0x100011;
  static constexpr std::uint64_t k_family_specific = 0x200011;

  FatbinBuilder& entry(Entry entry) { return m_entries.push_back(std::move(entry)), *this; }
  // SASS of that many bytes.
  FatbinBuilder& sass(std::uint32_t arch, std::size_t size = 32);
  // A payload that is a zstd frame.
  FatbinBuilder& packed(std::uint16_t kind, std::uint32_t arch, std::string_view contents);
  FatbinBuilder& claim_size(std::uint64_t size) { return m_claimed_size = size, *this; }

  [[nodiscard]] std::string build() const;

 private:
  std::vector<Entry> m_entries;
  std::optional<std::uint64_t> m_claimed_size;
};

// The 24 bytes of a wrapper; its pointer is at offset 8.
std::string wrapper(std::uint32_t magic, std::uint64_t pointer = 0, std::uint32_t version = 1);

// One HIP bundle; the entry of the host comes first, by itself.
class HipBundleBuilder {
 public:
  HipBundleBuilder& align(std::uint64_t align) { return m_align = align, *this; }
  HipBundleBuilder& entry(std::string_view id, std::string_view contents);
  // "hipv4-amdgcn-amd-amdhsa--TARGET".
  HipBundleBuilder& object(std::string_view target, std::string_view contents);

  enum class Method : std::uint16_t { zlib = 0, zstd = 1 };
  [[nodiscard]] std::string build() const;
  [[nodiscard]] std::string build_compressed(int version, Method method = Method::zstd) const;

 private:
  struct Entry {
    std::string id;
    std::string contents;
  };
  std::uint64_t m_align = 4096;
  std::vector<Entry> m_entries{{"host-x86_64-unknown-linux--", ""}};
};

// The header of a compressed bundle around a stream of whatever kind.
std::string compressed_bundle(int version, HipBundleBuilder::Method method, std::string_view stream,
                              std::uint64_t unpacked_size);

// A .kpack archive.
class KpackBuilder {
 public:
  enum class Scheme { none, zstd_per_kernel };

  KpackBuilder& object(std::string_view kernel, std::string_view target, std::string_view contents);
  [[nodiscard]] std::string build(Scheme scheme) const;

 private:
  struct Object {
    std::string kernel;
    std::string target;
    std::string contents;
  };
  std::vector<Object> m_objects;
};

// The contents of .rocm_kpack_ref.
std::string kpack_reference(std::string_view kernel_name, const std::vector<std::string>& search_paths);

}  // namespace wheelsmith::testing
