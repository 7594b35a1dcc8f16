#pragma once

#include "document/fields.h"

// For round-trip tests: a value of a listed struct in which every member, at every depth, differs from its default and
// from every other member. A test that writes and reads such a value detects each lost or swapped member.

namespace wheelsmith::document {

// How a type that is not a listed struct is sampled: a value that depends on the number.
template <class T>
struct Sample;

class Sampler {
 public:
  template <class T>
  T make() {
    T value{};
    fill(value);
    return value;
  }

  void fill(std::string& value) { value = "text " + std::to_string(++m_count); }
  void fill(std::filesystem::path& value) { value = "/path/" + std::to_string(++m_count); }
  void fill(bool& value) { value = !value; }
  void fill(double& value) { value = static_cast<double>(++m_count) + 0.5; }
  template <std::integral T>
    requires(!std::is_same_v<T, bool>)
  void fill(T& value) {
    value = static_cast<T>(++m_count);
  }
  template <NamedEnum T>
  void fill(T& value) {
    value = static_cast<T>((static_cast<std::size_t>(value) + 1) % EnumNames<T>::list.size());
  }
  template <class T>
  void fill(std::optional<T>& value) {
    value = make<T>();
  }
  template <class T>
  void fill(std::vector<T>& value) {
    value = {make<T>(), make<T>()};
  }
  template <class T>
  void fill(std::map<std::string, T>& value) {
    value.emplace(make<std::string>(), make<T>());
  }
  template <class A, class B>
  void fill(std::pair<A, B>& value) {
    fill(value.first);
    fill(value.second);
  }
  // Alternates between the alternatives.
  template <class... T>
  void fill(std::variant<T...>& value) {
    std::size_t place = 0;
    const std::size_t wanted = ++m_turn % sizeof...(T);
    ((place++ == wanted ? void(value = make<T>()) : void()), ...);
  }
  template <class T>
    requires requires { Sample<T>::make(1); }
  void fill(T& value) {
    value = Sample<T>::make(++m_count);
  }
  template <Listed T>
  void fill(T& value) {
    for_each_field(value, [&](std::string_view, auto& member) { fill(member); });
  }

 private:
  std::uint64_t m_count = 0, m_turn = 0;
};

}  // namespace wheelsmith::document
