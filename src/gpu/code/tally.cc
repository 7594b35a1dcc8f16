#include "gpu/code/tally.h"

#include <fmt/format.h>

#include <utility>

namespace wheelsmith::gpu {

void Tally::add(const CodeLocation& place, const Arch& arch, CodeKind kind, std::uint64_t bytes,
                std::uint64_t unpacked_bytes) {
  Key key(arch, kind, std::string(place.section), place.wrapped, place.relocatable);
  auto found = m_sums.find(key);
  if (found == m_sums.end()) {
    if (m_sums.size() == k_most_sums) {
      problem(fmt::format("more than {} kinds of device code; {} in {} is not counted", k_most_sums,
                          display_name(arch, kind), place.section));
      return;
    }
    CodeSum sum;
    sum.arch = arch;
    sum.kind = kind;
    sum.section = place.section;
    sum.wrapped = place.wrapped;
    sum.relocatable = place.relocatable;
    found = m_sums.emplace(std::move(key), std::move(sum)).first;
  }
  CodeSum& sum = found->second;
  ++sum.count;
  sum.bytes += bytes;
  sum.unpacked_bytes += unpacked_bytes;
}

void Tally::problem(std::string sentence) {
  if (wants_problems()) {
    m_result.problems.push_back(std::move(sentence));
  } else {
    count_problem();
  }
}

DeviceCode Tally::finish() {
  for (auto& [key, sum] : m_sums) m_result.sums.push_back(std::move(sum));
  if (m_hidden_problems != 0) m_result.problems.push_back(fmt::format("and {} more", m_hidden_problems));
  return std::move(m_result);
}

}  // namespace wheelsmith::gpu
