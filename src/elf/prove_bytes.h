#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "elf/elf_file.h"

namespace wheelsmith::elf {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Compares all file-backed memory of the original with the edited file at the same addresses.
class ByteProof {
 public:
  using Say = std::function<void(std::string)>;

  // `same`: ranges of file offsets known to be equal, ascending and disjoint.
  ByteProof(const ElfFile& original, const ElfFile& edited, const std::vector<Range>& same, Say say)
      : m_original(original), m_edited(edited), m_same(same), m_say(std::move(say)) {}

  // Addresses that may differ; their contents are compared as values.
  void pass_over(std::uint64_t address, std::uint64_t size);
  void pass_over_file(std::uint64_t offset, std::uint64_t size);
  void compare();
  // Two ranges of bytes, at these offsets of the two files.
  [[nodiscard]] bool are_equal(std::uint64_t original, std::uint64_t edited, std::uint64_t size) const;

 private:
  void compare_load(const Segment& load);
  void compare_part(const Segment& load, Range part);
  [[nodiscard]] std::string place_of(std::uint64_t address) const;

  const ElfFile& m_original;
  const ElfFile& m_edited;
  const std::vector<Range>& m_same;
  Say m_say;
  std::vector<Range> m_passed_over;
};

}  // namespace wheelsmith::elf
