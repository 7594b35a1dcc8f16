#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.h"
#include "base/error.h"
#include "document/value.h"

// Serialises structs, member by member. A serialisable struct (sent to a step's process or another machine, or stored
// in a file) lists its members once:
//
//   template <>
//   struct document::Fields<Patch> {
//     static constexpr auto list = fields_of<Patch>(field("name", &Patch::name), field("text", &Patch::text));
//   };
//
// Writing, reading and the round-trip test all use that list, so none of them can miss a member, and an incomplete list
// does not compile. Reading is strict: a member that is absent or has the wrong type is an Error, because both ends are
// the same version of the program. Only std::optional may be absent.

namespace wheelsmith::document {

namespace fields_detail {

struct Anything {
  template <class T>
  operator T() const;
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{((void)I, Anything{})...}; };
}

}  // namespace fields_detail

// The number of members of an aggregate.
template <class T, std::size_t N = 0>
consteval std::size_t member_count() {
  if constexpr (fields_detail::takes<T>(std::make_index_sequence<N + 1>{}))
    return member_count<T, N + 1>();
  else
    return N;
}

template <class Owner, class Member>
struct Field {
  std::string_view name;
  Member Owner::* member;
};

template <class Owner, class Member>
constexpr Field<Owner, Member> field(std::string_view name, Member Owner::* member) {
  return {name, member};
}

template <class T>
struct Fields;

template <class T>
concept Listed = requires { Fields<std::remove_const_t<T>>::list; };

template <class T, class... Members>
consteval std::tuple<Field<T, Members>...> fields_of(Field<T, Members>... all) {
  static_assert(sizeof...(Members) == member_count<T>(), "the list must name every member of the struct");
  return {all...};
}

// Calls `visit(name, member)` for each member in order.
template <Listed T, class Visit>
void for_each_field(T& value, Visit visit) {
  std::apply([&](const auto&... one) { (visit(one.name, value.*(one.member)), ...); },
             Fields<std::remove_const_t<T>>::list);
}

// How a type is written and read. Specialize it for types that are not plain structs.
template <class T>
struct Codec;

template <class T>
Value to_document(const T& value) {
  return Codec<T>::write(value);
}

// `where` is the location in the document, for messages.
template <class T>
T from_document(const Value& value, const std::string& where) {
  return Codec<T>::read(value, where);
}

[[noreturn]] inline void wrong_kind(const Value& value, const std::string& where, std::string_view wanted) {
  throw Error(where + ": expected " + std::string(wanted) + ", found " + std::string(value.kind()));
}

template <>
struct Codec<std::string> {
  static Value write(const std::string& value) { return value; }
  static std::string read(const Value& value, const std::string& where) {
    if (value.text() == nullptr) wrong_kind(value, where, "a string");
    return *value.text();
  }
};

template <>
struct Codec<std::filesystem::path> {
  static Value write(const std::filesystem::path& value) { return value.string(); }
  static std::filesystem::path read(const Value& value, const std::string& where) {
    return Codec<std::string>::read(value, where);
  }
};

template <>
struct Codec<bool> {
  static Value write(bool value) { return value; }
  static bool read(const Value& value, const std::string& where) {
    if (value.boolean() == nullptr) wrong_kind(value, where, "a boolean");
    return *value.boolean();
  }
};

template <>
struct Codec<double> {
  static Value write(double value) { return value; }
  static double read(const Value& value, const std::string& where) {
    if (!value.is_number()) wrong_kind(value, where, "a number");
    return value.number();
  }
};

template <std::integral T>
  requires(!std::is_same_v<T, bool>)
struct Codec<T> {
  static Value write(T value) { return value; }
  static T read(const Value& value, const std::string& where) {
    if (value.integer() == nullptr) wrong_kind(value, where, "an integer");
    return static_cast<T>(*value.integer());
  }
};

template <NamedEnum T>
struct Codec<T> {
  static Value write(T value) { return enum_name(value); }
  static T read(const Value& value, const std::string& where) {
    const std::optional<T> found = value.text() == nullptr ? std::nullopt : enum_named<T>(*value.text());
    if (!found) throw Error(where + ": \"" + value.text_or() + "\" is not a valid value");
    return *found;
  }
};

// Absent if empty; no writer emits null.
template <class T>
struct Codec<std::optional<T>> {
  static Value write(const std::optional<T>& value) { return value ? to_document(*value) : Value(); }
  static std::optional<T> read(const Value& value, const std::string& where) {
    if (value.is_null()) return std::nullopt;
    return from_document<T>(value, where);
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static Value write(const std::vector<T>& values) {
    Array list;
    list.reserve(values.size());
    for (const T& value : values) list.push_back(to_document(value));
    return list;
  }
  static std::vector<T> read(const Value& value, const std::string& where) {
    if (value.array() == nullptr) wrong_kind(value, where, "a list");
    std::vector<T> result;
    result.reserve(value.array()->size());
    for (const Value& item : *value.array())
      result.push_back(from_document<T>(item, where + "[" + std::to_string(result.size()) + "]"));
    return result;
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static Value write(const std::map<std::string, T>& values) {
    Table table;
    for (const auto& [name, value] : values) table[name] = to_document(value);
    return table;
  }
  static std::map<std::string, T> read(const Value& value, const std::string& where) {
    if (value.table() == nullptr) wrong_kind(value, where, "a table");
    std::map<std::string, T> result;
    for (const auto& [name, item] : *value.table()) result.emplace(name, from_document<T>(item, where + "." + name));
    return result;
  }
};

template <class A, class B>
struct Codec<std::pair<A, B>> {
  static Value write(const std::pair<A, B>& value) {
    return Array{to_document(value.first), to_document(value.second)};
  }
  static std::pair<A, B> read(const Value& value, const std::string& where) {
    if (value.array() == nullptr || value.array()->size() != 2) wrong_kind(value, where, "a list of two elements");
    return {from_document<A>((*value.array())[0], where), from_document<B>((*value.array())[1], where)};
  }
};

// {"kind": "write-file", …}: each alternative is a listed struct with a name, `static constexpr std::string_view kind`.
template <class... T>
struct Codec<std::variant<T...>> {
  static Value write(const std::variant<T...>& value) {
    return std::visit(
        []<class One>(const One& one) {
          Value document = to_document(one);
          (*document.table())["kind"] = One::kind;
          return document;
        },
        value);
  }
  static std::variant<T...> read(const Value& value, const std::string& where) {
    std::optional<std::variant<T...>> result;
    const std::string kind = value["kind"].text_or();
    ((kind == T::kind ? void(result = from_document<T>(value, where)) : void()), ...);
    if (!result) throw Error(where + ": \"" + kind + "\" is not a valid kind");
    return *result;
  }
};

template <Listed T>
struct Codec<T> {
  static Value write(const T& value) {
    Table table;
    for_each_field(value, [&](std::string_view name, const auto& member) {
      Value written = to_document(member);
      if (!written.is_null()) table[name] = std::move(written);
    });
    return table;
  }
  static T read(const Value& value, const std::string& where) {
    if (value.table() == nullptr) wrong_kind(value, where, "a table");
    T result;
    for_each_field(result, [&]<class Member>(std::string_view name, Member& member) {
      member = from_document<Member>(value[name], where + "." + std::string(name));
    });
    return result;
  }
};

// Member by member; for structs without an operator of their own.
template <class T>
bool same_document(const T& a, const T& b) {
  return to_document(a) == to_document(b);
}

}  // namespace wheelsmith::document
