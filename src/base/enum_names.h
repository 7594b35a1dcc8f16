#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

// Names of enumerators as they appear in JSON, files and messages. An enum gets them by a specialization that lists the
// names in the order of the values, which start at 0:
//
//   template <>
//   struct EnumNames<run::Outcome> {
//     static constexpr std::array list = {"built", "cached", "failed", "skipped"};
//   };

namespace wheelsmith {

template <class E>
struct EnumNames;

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires { EnumNames<E>::list.size(); };

template <NamedEnum E>
constexpr std::string_view enum_name(E value) {
  return EnumNames<E>::list.at(static_cast<std::size_t>(value));
}

// Nothing for an unknown name.
template <NamedEnum E>
constexpr std::optional<E> enum_named(std::string_view text) {
  for (std::size_t i = 0; i < EnumNames<E>::list.size(); ++i) {
    if (EnumNames<E>::list[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace wheelsmith
