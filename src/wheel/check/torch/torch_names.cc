// Recognises torch's symbols by name. A mangled name in one of torch's namespaces is, in the grammar of the Itanium
// ABI,
//
//   name   := "_Z" [ "TV" | "TI" | "TS" | "TT" | "GV" ] [ "Z" ] "N" { "r" | "V" | "K" } [ "R" | "O" ] space part*
//   space  := "3c10" | "2at" | "5torch" | "6caffe2"
//   part   := length identifier [ "B" length tag ]
//
// The flag _GLIBCXX_USE_CXX11_ABI changes it in two ways: a parameter std::string is "Ss" with 0 and
// "NSt7__cxx1112basic_string…" with 1, and a function that returns one gets the tag B5cxx11 with 1. A longer parameter
// shifts all later back references (S2_), so text replacement in the mangled form cannot match the two builds of a
// function; the demangled forms are compared instead.

#include "wheel/check/torch/torch_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes "3c10" off the front; empty if there is no such part.
std::string_view take_part(std::string_view& text) {
  std::size_t digits = 0;
  std::size_t length = 0;
  while (digits < text.size() && digits < 5 && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) {
    length = length * 10 + static_cast<std::size_t>(text[digits++] - '0');
  }
  if (digits == 0 || length == 0 || length > text.size() - digits) return {};
  const std::string_view part = text.substr(0, digits + length);
  text.remove_prefix(part.size());
  return part;
}

// The name from its namespace on, and the symbol kind ("TV", "") before it; empty if it is not a torch name.
struct Nested {
  std::string_view kind;
  std::string_view text;
};

Nested torch_nested(std::string_view symbol) {
  if (!skip(symbol, "_Z")) return {};
  Nested nested;
  for (const std::string_view kind : {"TV", "TI", "TS", "TT", "GV"}) {
    if (skip(symbol, kind)) {
      nested.kind = kind;
      break;
    }
  }
  skip(symbol, "Z");
  if (!skip(symbol, "N")) return {};
  const std::size_t name = symbol.find_first_not_of("rVK");
  symbol.remove_prefix(std::min(name, symbol.size()));
  if (!skip(symbol, "R")) skip(symbol, "O");
  for (const std::string_view space : {"3c10", "2at", "5torch", "6caffe2"}) {
    if (symbol.starts_with(space)) nested.text = symbol;
  }
  return nested;
}

bool is_identifier_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Skips the operator symbol after the word "operator", which ends at `at`: "()", "<<", "->", nothing for "operator
// bool".
std::size_t after_operator(std::string_view demangled, std::size_t at) {
  if (demangled.substr(at).starts_with("()")) return at + 2;
  const std::size_t end = demangled.find_first_not_of("<>=-+*/%^&|~!,[]", at);
  return end == std::string_view::npos ? demangled.size() : end;
}

bool names_old_types(std::string_view demangled) {
  constexpr std::array<std::string_view, 7> k_types = {"std::string",
                                                       "std::basic_string<",
                                                       "std::basic_stringstream<",
                                                       "std::basic_stringbuf<",
                                                       "std::basic_ostringstream<",
                                                       "std::basic_istringstream<",
                                                       "std::list<"};
  return std::any_of(k_types.begin(), k_types.end(), [&](std::string_view type) {
    const std::size_t at = demangled.find(type);
    if (at == std::string_view::npos) return false;
    const std::size_t end = at + type.size();
    return type.back() == '<' || end == demangled.size() || !is_identifier_character(demangled[end]);
  });
}

}  // namespace

bool is_torch_shim(std::string_view symbol) {
  return symbol.starts_with("aoti_torch_") || symbol.starts_with("torch_");
}

bool is_torch_name(std::string_view symbol) {
  return symbol.starts_with("THP") || is_torch_shim(symbol) || !torch_nested(symbol).text.empty();
}

bool is_torch_library(std::string_view path) {
  const std::string_view name = base_name(path);
  if (name.find(".so") == std::string_view::npos) return false;
  return name.starts_with("libc10") || name.starts_with("libtorch") || name.starts_with("libshm") ||
         name.starts_with("libcaffe2");
}

bool is_torch(const std::vector<ElfFacts>& files) {
  return std::any_of(files.begin(), files.end(), [](const ElfFacts& file) {
    const std::string_view name = base_name(file.path);
    return name == "libc10.so" || name == "libtorch_cpu.so" || name == "libtorch.so";
  });
}

std::string torch_version(std::string_view provider) {
  std::string_view name = base_name(provider);
  if (!name.ends_with(".whl") || !skip(name, "torch-")) return "";
  return std::string(name.substr(0, name.find('-')));
}

Cxx11Abi abi_of(std::string_view symbol) {
  const bool is_new =
      symbol.find("St7__cxx11") != std::string_view::npos || symbol.find("B5cxx11") != std::string_view::npos;
  if (is_new) return Cxx11Abi::new_abi;
  // Demangling costs microseconds; most names contain none of the letters of old-ABI types.
  constexpr std::array<std::string_view, 7> k_hints = {"Ss",
                                                       "Sb",
                                                       "St4list",
                                                       "St18basic_stringstream",
                                                       "St15basic_stringbuf",
                                                       "St19basic_ostringstream",
                                                       "St19basic_istringstream"};
  const bool hinted = std::any_of(k_hints.begin(), k_hints.end(),
                                  [&](std::string_view hint) { return symbol.find(hint) != std::string_view::npos; });
  if (!hinted) return Cxx11Abi::unused;
  const std::optional<std::string> name = demangle(symbol);
  return name && names_old_types(*name) ? Cxx11Abi::old_abi : Cxx11Abi::unused;
}

std::string torch_path(std::string_view symbol) {
  const Nested nested = torch_nested(symbol);
  std::string path(nested.kind);
  std::string_view rest = nested.text;
  for (std::string_view part = take_part(rest); !part.empty(); part = take_part(rest)) {
    path += part;
    while (rest.starts_with('B')) {
      std::string_view tag = rest.substr(1);
      if (take_part(tag).empty()) return path;
      rest = tag;
    }
  }
  return path;
}

std::string without_abi(std::string demangled) {
  replace_all(demangled, "[abi:cxx11]", "");
  replace_all(demangled, "std::__cxx11::", "std::");
  replace_all(demangled, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string");
  return demangled;
}

std::string_view qualified_name(std::string_view demangled) {
  constexpr std::string_view k_operator = "operator";
  constexpr std::string_view k_anonymous = "(anonymous namespace)";
  int angles = 0;
  std::size_t at = 0;
  while (at < demangled.size()) {
    const std::string_view rest = demangled.substr(at);
    if (rest.starts_with(k_operator) && (at == 0 || !is_identifier_character(demangled[at - 1]))) {
      at = after_operator(demangled, at + k_operator.size());
    } else if (rest.starts_with(k_anonymous)) {
      at += k_anonymous.size();
    } else {
      if (rest.front() == '<') ++angles;
      if (rest.front() == '>') --angles;
      if (rest.front() == '(' && angles <= 0 && at > 0) break;
      ++at;
    }
  }
  return demangled.substr(0, at);
}

}  // namespace wheelsmith::wheel
