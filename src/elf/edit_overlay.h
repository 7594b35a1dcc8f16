#pragma once

#include <map>
#include <string>

#include "elf/edit.h"

namespace wheelsmith::elf {

// Bytes to write over a file, and after its end, during an edit.
class Overlay {
 public:
  explicit Overlay(Bytes original) : m_original(original) {}

  // Over the file or after its end. Unchanged bytes are skipped.
  void put(std::uint64_t offset, std::string bytes);
  template <class T>
  void put_struct(std::uint64_t offset, const T& value) {
    put(offset, std::string(reinterpret_cast<const char*>(&value), sizeof value));
  }
  // Throws Error if two of them overlap: the file's tables overlap.
  [[nodiscard]] Edited finish() const;

 private:
  Bytes m_original;
  std::multimap<std::uint64_t, std::string> m_parts;
};

}  // namespace wheelsmith::elf
