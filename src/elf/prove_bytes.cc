#include "elf/prove_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace wheelsmith::elf {

namespace {

std::uint64_t end_of(std::uint64_t begin, std::uint64_t size) {
  return begin + std::min(size, std::numeric_limits<std::uint64_t>::max() - begin);
}

// The remainder of the whole without the (sorted) ranges.
std::vector<Range> without(Range whole, const std::vector<Range>& ranges) {
  std::vector<Range> left;
  for (const Range& range : ranges) {
    if (range.end <= whole.begin) continue;
    if (range.begin >= whole.end) break;
    if (range.begin > whole.begin) left.push_back({whole.begin, range.begin});
    whole.begin = range.end;
    if (whole.begin >= whole.end) return left;
  }
  left.push_back(whole);
  return left;
}

}  // namespace

void ByteProof::pass_over(std::uint64_t address, std::uint64_t size) {
  if (size > 0) m_passed_over.push_back({address, end_of(address, size)});
}

void ByteProof::pass_over_file(std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t end = end_of(offset, size);
  for (const Segment& load : m_original.segments) {
    if (load.type != k_segment_load) continue;
    const std::uint64_t from = std::max(offset, load.offset);
    const std::uint64_t to = std::min(end, end_of(load.offset, load.file_size));
    if (from < to) pass_over(load.address + (from - load.offset), to - from);
  }
}

void ByteProof::compare() {
  std::sort(m_passed_over.begin(), m_passed_over.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (const Segment& load : m_original.segments) {
    if (load.type == k_segment_load && load.file_size > 0) compare_load(load);
  }
}

void ByteProof::compare_load(const Segment& load) {
  for (const Range& part : without({load.address, end_of(load.address, load.file_size)}, m_passed_over))
    compare_part(load, part);
}

void ByteProof::compare_part(const Segment& load, Range part) {
  while (part.begin < part.end) {
    const auto found = std::find_if(m_edited.segments.begin(), m_edited.segments.end(), [&](const Segment& s) {
      return s.type == k_segment_load && part.begin >= s.address && part.begin - s.address < s.file_size;
    });
    if (found == m_edited.segments.end())
      return m_say(fmt::format("{} is no longer loaded from the file", place_of(part.begin)));
    const std::uint64_t size = std::min(part.end - part.begin, found->file_size - (part.begin - found->address));
    const std::uint64_t before = load.offset + (part.begin - load.address);
    const std::uint64_t after = found->offset + (part.begin - found->address);
    if (!are_equal(before, after, size)) {
      // Find the exact location only now.
      const std::string_view a = m_original.bytes().clamp(before, size).text();
      const std::string_view b = m_edited.bytes().clamp(after, size).text();
      std::uint64_t at = 0;
      while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
      return m_say(fmt::format("the bytes at {} differ", place_of(part.begin + at)));
    }
    part.begin += size;
  }
}

bool ByteProof::are_equal(std::uint64_t original, std::uint64_t edited, std::uint64_t size) const {
  if (!m_original.bytes().contains(original, size) || !m_edited.bytes().contains(edited, size)) return false;
  const auto equal = [&](std::uint64_t from, std::uint64_t length) {
    return std::memcmp(m_original.bytes().data() + original + from, m_edited.bytes().data() + edited + from, length) ==
           0;
  };
  if (original != edited) return size == 0 || equal(0, size);
  const std::vector<Range> parts = without({original, original + size}, m_same);
  return std::all_of(parts.begin(), parts.end(), [&](const Range& part) {
    return part.begin >= part.end || equal(part.begin - original, part.end - part.begin);
  });
}

std::string ByteProof::place_of(std::uint64_t address) const {
  for (const Section& section : m_original.sections) {
    if ((section.flags & k_section_alloc) != 0 && address >= section.address &&
        address - section.address < section.size)
      return fmt::format("address {:#x} ({} + {:#x})", address, printable(section.name), address - section.address);
  }
  return fmt::format("address {:#x}", address);
}

}  // namespace wheelsmith::elf
