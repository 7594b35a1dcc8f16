#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// The files of a wheel and of all providers as one set in which NEEDED names are looked up: those given by the user
// (`against`), then those of the machine (`around`). It points into the vectors it was created from.
class Libraries {
 public:
  using Id = std::uint32_t;

  Libraries(const std::vector<ElfFacts>& own, const std::vector<Provider>& against,
            const std::vector<Provider>& around = {});

  [[nodiscard]] std::size_t size() const { return m_files.size(); }
  [[nodiscard]] const ElfFacts& file(Id id) const { return *m_files[id]; }
  [[nodiscard]] bool is_own(Id id) const { return id < m_own; }
  [[nodiscard]] std::size_t own_count() const { return m_own; }
  // As the user gave it: "torch-2.13.0-….whl"; "" for an own file.
  [[nodiscard]] std::string_view provider_name(Id id) const;

  [[nodiscard]] Provider::Kind kind(Id id) const;

  // The files that a library name in `asking` may resolve to: those of the wheel if any, else those given.
  [[nodiscard]] std::vector<Id> find(std::string_view library, const ElfFacts& asking) const;

  // The files loaded with a file: itself and, transitively, all NEEDED.
  struct Closure {
    std::vector<Id> files;                  // the file itself first
    std::vector<std::string_view> missing;  // needed and not among the files, sorted
    bool complete = true;                   // false if it was too large to follow completely
  };
  [[nodiscard]] Closure closure(Id id) const;

 private:
  std::vector<const ElfFacts*> m_files;
  std::size_t m_own = 0;
  std::vector<const Provider*> m_provider_of;  // by id - m_own
  std::unordered_map<std::string_view, std::vector<Id>> m_by_name;
};

}  // namespace wheelsmith::wheel
