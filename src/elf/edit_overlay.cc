#include "elf/edit_overlay.h"

#include <algorithm>

#include "base/error.h"

namespace wheelsmith::elf {

namespace {

std::vector<std::byte> to_bytes(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

}  // namespace

void Overlay::put(std::uint64_t offset, std::string bytes) {
  if (bytes.empty()) return;
  m_parts.emplace(offset, std::move(bytes));
}

Edited Overlay::finish() const {
  Edited result;
  result.size = m_original.size();
  std::uint64_t end = 0;
  for (const auto& [offset, bytes] : m_parts) {
    if (offset < end) throw Error("cannot be edited: tables that the edit must change overlap in the file");
    end = offset + bytes.size();
    const std::uint64_t inside =
        offset < m_original.size() ? std::min<std::uint64_t>(bytes.size(), m_original.size() - offset) : 0;
    // Only what differs, from its first byte to its last.
    const std::string_view old = m_original.clamp(offset, inside).text();
    std::size_t first = 0, last = inside;
    while (first < last && old[first] == bytes[first]) ++first;
    while (last > first && old[last - 1] == bytes[last - 1]) --last;
    if (first < last)
      result.patches.push_back({offset + first, to_bytes(std::string_view(bytes).substr(first, last - first))});
    if (inside == bytes.size()) continue;
    if (result.tail.empty()) result.tail_offset = offset + inside;
    result.tail.resize(offset + inside - result.tail_offset);
    const std::vector<std::byte> behind = to_bytes(std::string_view(bytes).substr(inside));
    result.tail.insert(result.tail.end(), behind.begin(), behind.end());
    result.size = result.tail_offset + result.tail.size();
  }
  result.changed = !result.patches.empty() || !result.tail.empty();
  return result;
}

void write(const Edited& edited, Bytes original, Sink& sink) {
  std::uint64_t at = 0;
  const auto as_bytes = [](const std::vector<std::byte>& bytes) { return Bytes(bytes.data(), bytes.size()); };
  for (const Patch& patch : edited.patches) {
    if (patch.offset > at) sink.write(original.slice(at, patch.offset - at));
    sink.write(as_bytes(patch.bytes));
    at = patch.offset + patch.bytes.size();
  }
  if (at < original.size()) sink.write(original.from(at));
  if (edited.tail.empty()) return;
  const std::string zeros(1 << 16, '\0');
  for (std::uint64_t left = edited.tail_offset - original.size(); left > 0;) {
    const std::uint64_t part = std::min<std::uint64_t>(left, zeros.size());
    sink.write(Bytes(zeros).slice(0, part));
    left -= part;
  }
  sink.write(as_bytes(edited.tail));
}

std::vector<std::byte> apply(const Edited& edited, Bytes original) {
  struct Collector final : Sink {
    void write(Bytes bytes) override {
      const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
      all.insert(all.end(), data, data + bytes.size());
    }
    std::vector<std::byte> all;
  } collector;
  collector.all.reserve(edited.size);
  write(edited, original, collector);
  return std::move(collector.all);
}

}  // namespace wheelsmith::elf
