#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "gpu/code/device_code.h"

namespace wheelsmith::gpu {

// Where a piece of device code was found.
struct CodeLocation {
  std::string_view section;
  bool wrapped = false;
  bool relocatable = false;
};

// Sums up device code. Bounded for any input: a hostile file can name millions of architectures and contain millions of
// errors.
class Tally {
 public:
  void add(const CodeLocation& place, const Arch& arch, CodeKind kind, std::uint64_t bytes,
           std::uint64_t unpacked_bytes);
  void problem(std::string sentence);
  // True while another problem would still be shown, so that its message is worth formatting.
  [[nodiscard]] bool wants_problems() const { return m_result.problems.size() < k_most_problems; }
  void count_problem() { ++m_hidden_problems; }
  void set_kpack(DeviceCode::KpackReference reference) { m_result.kpack = std::move(reference); }

  // Nothing can be added after this.
  [[nodiscard]] DeviceCode finish();

 private:
  static constexpr std::size_t k_most_problems = 20;
  static constexpr std::size_t k_most_sums = 10'000;

  // The order of DeviceCode::sums.
  using Key = std::tuple<Arch, CodeKind, std::string, bool, bool>;
  std::map<Key, CodeSum> m_sums;
  DeviceCode m_result;
  std::uint64_t m_hidden_problems = 0;
};

}  // namespace wheelsmith::gpu
