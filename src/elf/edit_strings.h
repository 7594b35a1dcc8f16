#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith::elf {

// The dynamic string table during an edit. Linkers share common suffixes, so a byte is free only if nothing points at
// it or before it in the same string. Usage: keep() and release() for the old references, then add() for the new
// strings.
class DynamicStrings {
 public:
  // Which old bytes new strings may use: none, those of released strings, or all unreferenced ones.
  enum class Reuse : std::uint8_t { nothing, released, unreferenced };

  DynamicStrings(Bytes table, Reuse reuse);

  void keep(std::uint64_t offset);
  void release(std::uint64_t offset);
  // The offset of each string: in an existing string, in free bytes, or after the end.
  std::vector<std::uint64_t> add(const std::vector<std::string>& texts);

  // The table with all additions; never shorter than the old one.
  [[nodiscard]] const std::string& table() const { return m_table; }

 private:
  void settle();
  std::uint64_t place(const std::string& text);

  Reuse m_reuse;
  std::string m_table;
  std::vector<bool> m_starts;  // a kept reference points here
  std::vector<bool> m_released;
  std::vector<bool> m_free;
};

}  // namespace wheelsmith::elf
