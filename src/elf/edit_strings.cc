#include "elf/edit_strings.h"

#include <algorithm>
#include <map>

namespace wheelsmith::elf {

DynamicStrings::DynamicStrings(Bytes table, Reuse reuse)
    : m_reuse(reuse),
      m_table(table.text()),
      m_starts(m_table.size()),
      m_released(m_table.size()),
      m_free(m_table.size()) {
  keep(0);  // the empty name
}

void DynamicStrings::keep(std::uint64_t offset) {
  if (offset < m_starts.size()) m_starts[offset] = true;
}

void DynamicStrings::release(std::uint64_t offset) {
  for (std::uint64_t i = offset; i < m_table.size(); ++i) {
    m_released[i] = true;
    if (m_table[i] == '\0') return;
  }
}

// One sweep, however many references point into one string: everything from the first reference to the NUL is in use.
// Released strings are wiped, because they may contain a path of the build machine.
void DynamicStrings::settle() {
  bool taken = false;
  for (std::size_t i = 0; i < m_table.size(); ++i) {
    taken = taken || m_starts[i];
    switch (m_reuse) {
      case Reuse::nothing: break;
      case Reuse::released: m_free[i] = !taken && m_released[i]; break;
      case Reuse::unreferenced: m_free[i] = !taken; break;
    }
    if (m_table[i] == '\0') taken = false;
    if (m_free[i] && m_released[i]) m_table[i] = '\0';
  }
}

// The smallest sufficient gap, so that large ones stay for large strings; otherwise the end, including a gap before it:
// a file whose run path is edited repeatedly grows only to its longest one.
std::uint64_t DynamicStrings::place(const std::string& text) {
  const std::size_t size = text.size() + 1;
  std::size_t best = m_table.size(), best_size = 0, gap = 0;
  for (std::size_t i = 0; i <= m_table.size(); ++i) {
    if (i < m_table.size() && m_free[i]) {
      ++gap;
      continue;
    }
    const bool is_end = i == m_table.size();
    if (gap >= size && (best_size == 0 || gap < best_size)) best = i - gap, best_size = gap;
    if (is_end && best_size == 0) best = i - gap;
    gap = 0;
  }
  if (best + size > m_table.size()) {
    m_table.resize(best + size);
    m_starts.resize(best + size);
    m_released.resize(best + size);
    m_free.resize(best + size);
  }
  m_table.replace(best, size, text + '\0');
  std::fill_n(m_free.begin() + static_cast<std::ptrdiff_t>(best), size, false);
  return best;
}

std::vector<std::uint64_t> DynamicStrings::add(const std::vector<std::string>& texts) {
  settle();
  std::vector<std::string> longest_first = texts;
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  std::map<std::string, std::uint64_t> places;
  // Existing strings are used before unreferenced bytes are overwritten.
  for (const std::string& text : longest_first) {
    const std::size_t found = m_table.find(text + '\0');
    if (found == m_table.npos) continue;
    std::fill_n(m_free.begin() + static_cast<std::ptrdiff_t>(found), text.size() + 1, false);
    places.emplace(text, found);
  }
  for (const std::string& text : longest_first) {
    if (places.contains(text)) continue;
    const std::size_t found = m_table.find(text + '\0');  // the end of a longer one that was just added
    places.emplace(text, found == m_table.npos ? place(text) : found);
  }
  std::vector<std::uint64_t> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) result.push_back(places.at(text));
  return result;
}

}  // namespace wheelsmith::elf
