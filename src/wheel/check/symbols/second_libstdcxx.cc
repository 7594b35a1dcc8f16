// Two C++ runtimes in one process. An extension linked with -static-libstdc++, because the compiler found only
// libstdc++.a or because its author wanted no dependency, contains its own copy of libstdc++. That is fine as long as
// it shares only C functions with other libraries. With a C++ interface it is not: one copy cannot rethrow what the
// other threw ("terminate called without an active exception"), the two have separate tables of locales and exceptions
// in flight, and load order decides which copy a symbol binds to. torch throws on every wrong argument, so such an
// extension crashes where another raises RuntimeError.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "wheel/check/symbols/symbol_index.h"
#include "wheel/check/symbols/symbols.h"
#include "wheel/check/torch/torch_names.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_examples_shown = 3;

// A library that uses the other runtime, and the symbols that the file uses from it.
struct Boundary {
  std::string library;
  std::vector<std::string> names;  // mangled
};

class BoundarySearch {
 public:
  BoundarySearch(const Libraries& libraries, const SymbolIndex& index) : m_libraries(libraries), m_index(index) {}

  // The library with the most used symbols; no names if there is none.
  Boundary find(Libraries::Id id) {
    std::map<std::string, std::vector<std::string>> by_library;
    for (const UndefinedSymbol& symbol : m_libraries.file(id).undefined) {
      if (!is_wanted(symbol) || !symbol.name.starts_with("_Z") || is_libstdcxx_name(symbol.name)) continue;
      if (const std::string library = provider(id, symbol.name); !library.empty()) {
        by_library[library].push_back(symbol.name);
      }
    }
    Boundary most;
    for (auto& [library, names] : by_library) {
      if (names.size() > most.names.size()) most = {library, std::move(names)};
    }
    return most;
  }

 private:
  // The library that defines the name and uses a libstdc++ other than a copy in `id`; "" for none.
  std::string provider(Libraries::Id id, const std::string& name) {
    for (const SymbolIndex::Export& exported : m_index.find(name)) {
      if (exported.file != id && m_libraries.file(exported.file).machine == m_libraries.file(id).machine &&
          uses_shared(exported.file)) {
        return std::string(library_name(m_libraries.file(exported.file)));
      }
    }
    return m_index.find(name).empty() && is_torch_name(name) ? "torch" : "";
  }

  bool uses_shared(Libraries::Id id) {
    const auto [known, is_new] = m_shared.try_emplace(id);
    if (!is_new) return known->second;
    const Libraries::Closure closure = m_libraries.closure(id);
    const auto is_libstdcxx = [](std::string_view name) { return name.starts_with("libstdc++.so"); };
    return known->second = std::any_of(closure.missing.begin(), closure.missing.end(), is_libstdcxx) ||
                           std::any_of(closure.files.begin(), closure.files.end(), [&](Libraries::Id file) {
                             return is_libstdcxx(library_name(m_libraries.file(file)));
                           });
  }

  const Libraries& m_libraries;
  const SymbolIndex& m_index;
  std::map<Libraries::Id, bool> m_shared;
};

// A hidden copy is deliberate, and the author may keep exceptions from crossing; with torch that is impossible.
Severity severity_of(const ElfFacts& file, const Boundary& boundary) {
  const bool is_torchs = is_torch_name(boundary.names.front());
  return file.own_libstdcxx == OwnRuntime::visible || is_torchs ? Severity::error : Severity::warning;
}

Finding second_libstdcxx(const ElfFacts& file, const Boundary& boundary) {
  std::vector<std::string> shown;
  for (const std::string& name : boundary.names) {
    shown.push_back(shown.size() < k_examples_shown ? readable(name) : std::string());
  }
  return {.id = "symbol-second-libstdcxx",
          .severity = severity_of(file, boundary),
          .subject = file.path,
          .what = fmt::format("links libstdc++ statically and uses {} of {}, which uses libstdc++.so.6: {}",
                              counted(boundary.names.size(), "C++ symbol"), boundary.library,
                              list_some(shown, k_examples_shown)),
          .why =
              "An exception that crosses between the two C++ runtimes ends the process, with \"terminate called "
              "without an active exception\" or SIGSEGV, instead of being caught.",
          .fix = "Link without -static-libstdc++, with a compiler that finds libstdc++.so and not only libstdc++.a."};
}

}  // namespace

std::vector<Finding> check_second_libstdcxx(const std::vector<ElfFacts>& own, const SymbolScope& scope) {
  std::vector<Finding> findings;
  if (std::none_of(own.begin(), own.end(), [](const ElfFacts& file) { return file.own_libstdcxx != OwnRuntime::none; }))
    return findings;
  const Libraries libraries(own, scope.against, scope.around);
  const SymbolIndex index(libraries);
  BoundarySearch search(libraries, index);
  for (Libraries::Id id = 0; id < own.size(); ++id) {
    if (own[id].own_libstdcxx == OwnRuntime::none || !has_symbols_to_bind(own[id]) || scope.roles.is_test(own[id].path))
      continue;
    const Boundary boundary = search.find(id);
    if (!boundary.names.empty()) findings.push_back(second_libstdcxx(own[id], boundary));
  }
  return findings;
}

}  // namespace wheelsmith::wheel
