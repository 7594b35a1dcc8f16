#pragma once

#include <map>
#include <string>

#include "elf/edit.h"

namespace wheelsmith::elf {

// Bytes to be laid over a file, and behind it, while an edit is made.
class Overlay {
 public:
  explicit Overlay(Bytes original) : m_original(original) {}

  // Over the file or behind it. What is there already is left out.
  void put(std::uint64_t offset, std::string bytes);
  template <class T>
  void put_struct(std::uint64_t offset, const T& value) {
    put(offset, std::string(reinterpret_cast<const char*>(&value), sizeof value));
  }
  // Throws Error when two of them meet: the file's tables lie over each other.
  [[nodiscard]] Edited finish() const;

 private:
  Bytes m_original;
  std::multimap<std::uint64_t, std::string> m_parts;
};

}  // namespace wheelsmith::elf
