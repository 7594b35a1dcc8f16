#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "elf/prove_bytes.h"

// The implementation of prove(), shared by the files that each compare one part.

namespace wheelsmith::elf {

class Proof {
 public:
  // `same`: ranges of file offsets known to be equal, ascending and disjoint.
  Proof(const ElfFile& original, const ElfFile& edited, const std::vector<Range>& same)
      : m_a(original), m_b(edited), m_bytes(original, edited, same, [this](std::string s) { say(std::move(s)); }) {}

  std::vector<std::string> run();

 private:
  void say(std::string sentence) {
    constexpr std::size_t k_most_sentences = 20;
    if (m_said.size() < k_most_sentences) m_said.push_back(std::move(sentence));
  }

  // prove.cc
  void compare_header();
  void compare_loads();
  void compare_segments();
  void compare_bytes();
  void pass_over_with_padding(std::uint64_t offset, std::uint64_t size);
  void compare_layout();

  // prove_tables.cc
  void compare_sections();
  void compare_section(const Section& a, const Section& b);
  void compare_symbol_table(const Section& a, const Section& b);
  [[nodiscard]] const Section* counterpart(std::size_t index) const;
  void compare_tags();
  void compare_tag(const DynamicTag& a, const DynamicTag& b);
  void compare_symbols();
  void compare_versions();

  const ElfFile& m_a;  // the original
  const ElfFile& m_b;  // the edited file
  ByteProof m_bytes;
  std::map<std::uint64_t, std::uint64_t> m_moved;  // addresses of sections, old and new
  std::vector<std::string> m_said;
};

}  // namespace wheelsmith::elf
