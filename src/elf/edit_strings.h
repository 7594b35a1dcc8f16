#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith::elf {

// The table of dynamic strings while it is edited. Linkers store a string that is another one's end inside it, so a
// byte is free only when nobody points at it or in front of it in the same string. First all who stay are told
// (keep), and those who leave (release); then come the new texts (add).
class DynamicStrings {
 public:
  // Which old bytes new strings may take: none, those of released strings, or all that nobody points to.
  enum class Reuse : std::uint8_t { nothing, released, unreferenced };

  DynamicStrings(Bytes table, Reuse reuse);

  void keep(std::uint64_t offset);
  void release(std::uint64_t offset);
  // Where each text is: in a string that is there, in free bytes, else behind the end.
  std::vector<std::uint64_t> add(const std::vector<std::string>& texts);

  // The table with all that was added; never shorter than the old one.
  [[nodiscard]] const std::string& table() const { return m_table; }

 private:
  void settle();
  std::uint64_t place(const std::string& text);

  Reuse m_reuse;
  std::string m_table;
  std::vector<bool> m_starts;  // somebody who stays points here
  std::vector<bool> m_released;
  std::vector<bool> m_free;
};

}  // namespace wheelsmith::elf
