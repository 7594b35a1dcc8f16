#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wheelsmith::testing {

// Fields of one header of a member, local or in the directory. What is set replaces what would be true.
struct ZipLies {
  std::optional<std::string> name{};
  std::optional<std::uint16_t> flags{};
  std::optional<std::uint16_t> method{};
  std::optional<std::uint32_t> crc32{};
  std::optional<std::uint32_t> packed_size{};  // as in the header; a value behind ZIP64 is in `extra`
  std::optional<std::uint32_t> size{};
  std::optional<std::uint32_t> offset{};   // directory only
  std::optional<std::uint16_t> made_by{};  // directory only
  std::optional<std::string> extra{};
};

enum class ZipDescriptor { none, with_signature, bare, wide_with_signature, wide_bare };

struct ZipMember {
  std::string name{};
  std::string data{};
  bool deflated = true;
  bool zip64 = false;         // sizes of 0xffffffff and extras with the values
  bool zip64_offset = false;  // the offset too
  ZipDescriptor descriptor = ZipDescriptor::none;
  std::uint16_t flags = 0;
  std::uint32_t mode = 0100644;
  std::optional<std::string> packed{};            // instead of the packed data
  std::optional<std::string> descriptor_bytes{};  // instead of the descriptor
  std::string junk{};                             // behind the member, before the next
  bool unlisted = false;                          // no entry in the directory
  std::optional<std::size_t> shares{};            // no bytes of its own: an entry for the local header of that member
  ZipLies local{};
  ZipLies directory{};
};

// What stands around the members.
struct ZipEnds {
  std::string prepended{};   // offsets do not count it
  std::string before_end{};  // between directory and end records
  std::string comment{};
  std::string trailing{};  // behind the comment
  bool zip64 = false;      // ZIP64 end record and locator; the end record holds 0xffff and 0xffffffff
  std::string record64_additions{};
  std::optional<std::uint16_t> comment_size{};
  std::optional<std::uint16_t> disk{};
  std::optional<std::uint64_t> count{};
  std::optional<std::uint64_t> directory_size{};
  std::optional<std::uint64_t> directory_offset{};
  std::optional<std::uint64_t> record64_offset{};  // as the locator has it
  std::optional<std::uint32_t> disks{};            // as the locator has it
};

// Archives for tests, true ones and such that lie in any field.
//
//   const std::string wheel = ZipBuilder().add("a/b.py", "pass\n").add({.name = "x", .deflated = false}).build();
class ZipBuilder {
 public:
  ZipBuilder& add(ZipMember member);
  ZipBuilder& add(std::string name, std::string data);
  // The place of things around the members; call it once.
  ZipBuilder& ends(ZipEnds ends);
  [[nodiscard]] std::string build() const;

 private:
  std::vector<ZipMember> m_members;
  ZipEnds m_ends;
};

// A raw deflate stream.
std::string deflate(const std::string& data);
// One extra field: id, size, bytes.
std::string zip_extra(std::uint16_t id, const std::string& bytes);
// Little-endian bytes of a number.
std::string zip_number(std::uint64_t value, std::size_t bytes);

}  // namespace wheelsmith::testing
