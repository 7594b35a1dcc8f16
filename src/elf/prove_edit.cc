#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "elf/proof.h"
#include "elf/prove.h"

namespace wheelsmith::elf {

std::vector<std::string> prove_edit(const ElfFile& original, const Edited& edited) {
  constexpr std::uint64_t k_large = 1 << 20;
  const Bytes bytes = original.bytes();
  // Large contents that only code reads are not needed for parsing: untouched zero pages replace them.
  std::vector<Range> same;
  for (const Section& section : original.sections) {
    if (section.type != k_section_progbits || section.size < k_large || !bytes.contains(section.offset, section.size))
      continue;
    const Range range{section.offset, section.offset + section.size};
    const bool is_touched = std::any_of(edited.patches.begin(), edited.patches.end(), [&](const Patch& patch) {
      return patch.offset < range.end && range.begin < patch.offset + patch.bytes.size();
    });
    if (!is_touched) same.push_back(range);
  }
  std::sort(same.begin(), same.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> apart;
  for (const Range& range : same) {
    if (apart.empty() || range.begin >= apart.back().end) apart.push_back(range);
  }
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };
  const std::unique_ptr<std::uint8_t, Free> memory(static_cast<std::uint8_t*>(std::calloc(edited.size, 1)));
  if (!memory) throw Error(fmt::format("not enough memory for the {} bytes of the edited file", edited.size));
  std::uint64_t at = 0;
  const auto copy = [&](std::uint64_t end) {
    std::memcpy(memory.get() + at, bytes.slice(at, end - at).data(), end - at);
  };
  for (const Range& range : apart) {
    copy(range.begin);
    at = range.end;
  }
  copy(bytes.size());
  for (const Patch& patch : edited.patches)
    std::memcpy(memory.get() + patch.offset, patch.bytes.data(), patch.bytes.size());
  if (!edited.tail.empty()) std::memcpy(memory.get() + edited.tail_offset, edited.tail.data(), edited.tail.size());
  try {
    return Proof(original, ElfFile::parse(Bytes(memory.get(), edited.size)), apart).run();
  } catch (const Error& error) {
    return {fmt::format("it can no longer be read: {}", error.what())};
  }
}

}  // namespace wheelsmith::elf
