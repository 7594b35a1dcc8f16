#include "document/value.h"

#include <algorithm>
#include <numeric>

namespace wheelsmith::document {

Table::Table(std::vector<Member> members) : m_members(std::move(members)), m_by_key(m_members.size()) {
  std::iota(m_by_key.begin(), m_by_key.end(), 0U);
  const auto key = [&](std::uint32_t at) -> const std::string& { return m_members[at].first; };
  std::stable_sort(m_by_key.begin(), m_by_key.end(), [&](auto a, auto b) { return key(a) < key(b); });
  if (std::adjacent_find(m_by_key.begin(), m_by_key.end(), [&](auto a, auto b) { return key(a) == key(b); }) ==
      m_by_key.end()) {
    return;
  }
  std::vector<bool> dropped(m_members.size());
  for (std::size_t first = 0, next = 0; first < m_by_key.size(); first = next) {
    for (next = first + 1; next < m_by_key.size() && key(m_by_key[next]) == key(m_by_key[first]); ++next) {
      m_members[m_by_key[first]].second = std::move(m_members[m_by_key[next]].second);
      dropped[m_by_key[next]] = true;
    }
  }
  std::vector<Member> kept;
  for (std::size_t i = 0; i < m_members.size(); ++i) {
    if (!dropped[i]) kept.push_back(std::move(m_members[i]));
  }
  *this = Table(std::move(kept));
}

std::size_t Table::place(std::string_view key) const {
  const auto found = std::lower_bound(m_by_key.begin(), m_by_key.end(), key,
                                      [&](std::uint32_t at, std::string_view k) { return m_members[at].first < k; });
  return static_cast<std::size_t>(found - m_by_key.begin());
}

const Value* Table::find(std::string_view key) const {
  const std::size_t at = place(key);
  if (at == m_by_key.size() || m_members[m_by_key[at]].first != key) return nullptr;
  return &m_members[m_by_key[at]].second;
}

Value& Table::operator[](std::string_view key) {
  const std::size_t at = place(key);
  if (at < m_by_key.size() && m_members[m_by_key[at]].first == key) return m_members[m_by_key[at]].second;
  m_by_key.insert(m_by_key.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint32_t>(m_members.size()));
  return m_members.emplace_back(std::string(key), Value()).second;
}

void Table::erase(std::string_view key) {
  const std::size_t at = place(key);
  if (at == m_by_key.size() || m_members[m_by_key[at]].first != key) return;
  const std::uint32_t position = m_by_key[at];
  m_members.erase(m_members.begin() + position);
  m_by_key.erase(m_by_key.begin() + static_cast<std::ptrdiff_t>(at));
  for (std::uint32_t& other : m_by_key) {
    if (other > position) --other;
  }
}

std::vector<Member>::const_iterator Table::begin() const { return m_members.begin(); }
std::vector<Member>::const_iterator Table::end() const { return m_members.end(); }

std::vector<std::string> Table::keys() const {
  std::vector<std::string> result;
  result.reserve(m_members.size());
  for (const Member& member : m_members) result.push_back(member.first);
  return result;
}

bool operator==(const Table& a, const Table& b) {
  return std::equal(a.m_by_key.begin(), a.m_by_key.end(), b.m_by_key.begin(), b.m_by_key.end(),
                    [&](std::uint32_t x, std::uint32_t y) { return a.m_members[x] == b.m_members[y]; });
}

double Value::number() const {
  if (const auto* whole = integer()) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&m_value)) return *real;
  return 0;
}

std::string_view Value::kind() const {
  if (table() != nullptr) return "a table";
  if (array() != nullptr) return "a list";
  if (text() != nullptr) return "a string";
  if (boolean() != nullptr) return "a boolean";
  return is_null() ? "nothing" : "a number";
}

const Value& Value::operator[](std::string_view key) const {
  static const Value k_nothing;
  const Value* found = table() != nullptr ? table()->find(key) : nullptr;
  return found != nullptr ? *found : k_nothing;
}

std::string Value::text_or(std::string_view fallback) const {
  return text() != nullptr ? *text() : std::string(fallback);
}

std::int64_t Value::integer_or(std::int64_t fallback) const { return integer() != nullptr ? *integer() : fallback; }

bool Value::boolean_or(bool fallback) const { return boolean() != nullptr ? *boolean() : fallback; }

std::vector<std::string> Value::texts() const {
  std::vector<std::string> result;
  if (array() == nullptr) return result;
  for (const Value& element : *array()) {
    if (element.text() != nullptr) result.push_back(*element.text());
  }
  return result;
}

}  // namespace wheelsmith::document
