// Finds symbols of a wheel that no library defines.
//
// The loader binds every undefined symbol of a file to the first definition in its scope: the program (the
// interpreter), globally visible libraries, then the file and its NEEDED libraries, breadth first. Known parts of that
// scope are the files of the wheel ("own") and those given with `--against`; the rest follows from the reference:
//
//   foo@GLIBC_2.17 (libc.so.6)   names its library. If that is given, it must define the version, or the loader
//                                rejects the file before it resolves any symbol. If it is a system library that is
//                                not given, the platform policy checks the version.
//   foo                          names none. The linker adds a version to every symbol that it finds in glibc or
//                                libstdc++, so such a name does not come from there and is never assumed to exist:
//     strict      defined in the NEEDED closure
//     loose       defined outside the closure: bound only if that library is already loaded
//     unverified  undefined in all files, but the closure has libraries that were not given
//     undefined   undefined, and every library that is loaded with the file is known
//
// If a torch is given, torch_abi.cc handles its names, because it can report more than "undefined".

#include "wheel/check/symbols/symbols.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "wheel/check/symbols/symbol_findings.h"
#include "wheel/check/symbols/symbol_index.h"
#include "wheel/check/torch/torch_names.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

// Findings about torch's names depend on whether a torch was given.
enum class Torch { absent, given, own };

Torch find_torch(const std::vector<ElfFacts>& own, const std::vector<Provider>& against) {
  if (is_torch(own)) return Torch::own;
  const bool given =
      std::any_of(against.begin(), against.end(), [](const Provider& provider) { return is_torch(provider.files); });
  return given ? Torch::given : Torch::absent;
}

class FileJudge {
 public:
  FileJudge(const Libraries& libraries, const SymbolIndex& index, Torch torch, Libraries::Id id)
      : m_libraries(libraries),
        m_index(index),
        m_torch(torch),
        m_file(libraries.file(id)),
        m_closure(libraries.closure(id)),
        m_loaded(m_closure.files.begin(), m_closure.files.end()) {
    const auto is_libpython = [](std::string_view library) { return library.starts_with("libpython"); };
    m_interpreter =
        !is_executable(m_file) || std::any_of(m_closure.missing.begin(), m_closure.missing.end(), is_libpython);
    for (const std::string_view library : m_closure.missing) {
      if (is_glibc_library(library)) m_glibc_is_missing = true;
      if (is_glibc_library(library) && is_executable(m_file) && m_file.versions_needed.empty()) {
        m_may_be_glibcs = true;
        m_named_not_given.insert(library);
      }
      if (library.starts_with("libc.musl") || library == "libc.so") m_uses_musl = true;
      if (!is_versioned_system_library(library) && !is_libpython(library)) {
        m_result.not_given.emplace_back(library);
      }
    }
  }

  FileSymbols judge() {
    for (const auto& [library, versions] : m_file.versions_needed) judge_versions(library, versions);
    for (const UndefinedSymbol& symbol : m_file.undefined) {
      if (!is_wanted(symbol)) continue;
      if (symbol.file.empty() || symbol.version.empty()) {
        judge_unversioned(symbol);
      } else {
        judge_versioned(symbol);
      }
    }
    for (const std::string_view library : m_named_not_given) {
      std::vector<std::string>& all = m_result.not_given;
      if (std::find(all.begin(), all.end(), library) == all.end()) all.emplace_back(library);
    }
    return std::move(m_result);
  }

 private:
  const std::vector<Libraries::Id>& named(const std::string& library) {
    const auto [at, is_new] = m_named.try_emplace(library);
    if (is_new) at->second = m_libraries.find(library, m_file);
    return at->second;
  }

  bool defines(Libraries::Id id, const std::string& version) const {
    const std::vector<std::string>& provided = m_libraries.file(id).versions_provided;
    // The loader warns about a library without any versions, and binds to it.
    return provided.empty() || std::find(provided.begin(), provided.end(), version) != provided.end();
  }

  // The loader checks versions against those of the machine.
  [[nodiscard]] bool is_given(const std::vector<Libraries::Id>& providers) const {
    return !providers.empty() && m_libraries.kind(providers.front()) == Provider::Kind::given;
  }

  void judge_versions(const std::string& library, const std::vector<std::string>& versions) {
    const std::vector<Libraries::Id>& providers = named(library);
    if (!is_given(providers)) return;
    for (const std::string& version : versions) {
      const bool defined =
          std::any_of(providers.begin(), providers.end(), [&](Libraries::Id id) { return defines(id, version); });
      if (defined) continue;
      m_result.missing_versions.push_back({library, version, &m_libraries.file(providers.front())});
      m_refused.emplace(library, version);
    }
  }

  void judge_versioned(const UndefinedSymbol& symbol) {
    const std::vector<Libraries::Id>& providers = named(symbol.file);
    if (providers.empty()) {
      if (is_versioned_system_library(symbol.file)) return;
      m_result.unverified.push_back(symbol.name);
      m_named_not_given.insert(symbol.file);
      return;
    }
    if (!is_given(providers)) return;
    if (m_refused.contains({symbol.file, symbol.version})) return;
    const auto exports = m_index.find(symbol.name);
    const bool found = std::any_of(exports.begin(), exports.end(), [&](const SymbolIndex::Export& exported) {
      const bool in_scope = m_loaded.contains(exported.file) ||
                            std::find(providers.begin(), providers.end(), exported.file) != providers.end();
      return in_scope && (exported.version.empty() || exported.version == symbol.version);
    });
    // glibc 2.34 moved libpthread's symbols to libc, so the absence of a symbol from one part of glibc proves nothing.
    const bool may_have_moved = m_glibc_is_missing && is_glibc_library(symbol.file);
    if (found || may_have_moved || SymbolIndex::is_crowded(exports)) return;
    // The loader checks versions against the named library, but binds the symbol to any loaded library.
    const auto loose = std::find_if(exports.begin(), exports.end(), [&](const SymbolIndex::Export& exported) {
      return m_libraries.is_own(exported.file) && m_libraries.file(exported.file).machine == m_file.machine &&
             exported.version == symbol.version;
    });
    if (loose != exports.end()) {
      m_result.loose[loose->file].push_back(symbol.name);
    } else {
      m_result.undefined.push_back(symbol.name);
    }
  }

  void judge_unversioned(const UndefinedSymbol& symbol) {
    const auto exports = m_index.find(symbol.name);
    const auto is_loaded = [&](const SymbolIndex::Export& exported) {
      return m_loaded.contains(exported.file) ||
             (m_interpreter && m_libraries.kind(exported.file) == Provider::Kind::interpreter);
    };
    if (std::any_of(exports.begin(), exports.end(), is_loaded) || SymbolIndex::is_crowded(exports)) return;
    if (m_interpreter && is_interpreter_name(symbol.name)) return;
    const auto loose = std::find_if(exports.begin(), exports.end(), [&](const SymbolIndex::Export& exported) {
      return m_libraries.file(exported.file).machine == m_file.machine;
    });
    if (loose != exports.end()) {
      m_result.loose[loose->file].push_back(symbol.name);
    } else {
      judge_absent(symbol);
    }
  }

  void judge_absent(const UndefinedSymbol& symbol) {
    const bool is_torchs = m_torch != Torch::own && is_torch_name(symbol.name);
    if (is_torchs && m_torch == Torch::given) return;
    if (judge_system(symbol)) return;
    const bool is_open =
        !m_result.not_given.empty() || !m_closure.complete || (m_may_be_glibcs && !is_interpreter_name(symbol.name));
    if (is_open) {
      // Without a torch, the ABI check reports once per wheel that its names were not checked.
      if (!is_torchs) m_result.unverified.push_back(symbol.name);
    } else {
      (is_torchs ? m_result.needs_torch : m_result.undefined).push_back(symbol.name);
    }
  }

  // Whether a system library outside the file's NEEDED defines the symbol. A library in NEEDED was present at link time
  // and would have given it a version, so the symbol belongs to a newer release.
  bool judge_system(const UndefinedSymbol& symbol) {
    const std::string_view home = system_home(symbol.name);
    if (home.empty() || m_uses_musl || m_may_be_glibcs) return false;
    if (std::find(m_file.needed.begin(), m_file.needed.end(), home) != m_file.needed.end()) return false;
    if (std::binary_search(m_closure.missing.begin(), m_closure.missing.end(), home)) return true;
    if (!m_interpreter || !is_glibc_library(home)) return false;
    m_result.loose_system[home].push_back(symbol.name);
    return true;
  }

  const Libraries& m_libraries;
  const SymbolIndex& m_index;
  Torch m_torch;
  const ElfFacts& m_file;
  Libraries::Closure m_closure;
  std::unordered_set<Libraries::Id> m_loaded;
  std::map<std::string, std::vector<Libraries::Id>> m_named;
  std::set<std::pair<std::string_view, std::string_view>> m_refused;  // library and version, already reported
  std::set<std::string_view> m_named_not_given;                       // libraries that versioned symbols name
  bool m_interpreter = true;                                          // provides Py* to this file
  bool m_glibc_is_missing = false;
  bool m_uses_musl = false;
  bool m_may_be_glibcs = false;  // a Go program, whose linker writes no versions: a plain name may belong to glibc
  FileSymbols m_result;
};

}  // namespace

std::vector<Finding> check_symbols(const std::vector<ElfFacts>& own, const SymbolScope& scope) {
  const Libraries libraries(own, scope.against, scope.around);
  const SymbolIndex index(libraries);
  const Torch torch = find_torch(own, scope.against);
  std::vector<Finding> findings;
  for (Libraries::Id id = 0; id < own.size(); ++id) {
    if (!has_symbols_to_bind(own[id]) || scope.roles.is_test(own[id].path)) continue;
    const FileSymbols symbols = FileJudge(libraries, index, torch, id).judge();
    const std::size_t before = findings.size();
    append_findings(own[id], symbols, libraries, findings);
    if (!scope.roles.is_optional(own[id].path) && !scope.roles.may_be_plugin(own[id].path)) continue;
    std::for_each(findings.begin() + static_cast<std::ptrdiff_t>(before), findings.end(), [](Finding& finding) {
      if (finding.severity != Severity::error) return;
      finding.severity = Severity::warning;
      finding.why += " The package works without it: the program that loads it may define the symbols.";
    });
  }
  return findings;
}

std::vector<Finding> check_symbols(const std::vector<ElfFacts>& own, const std::vector<Provider>& against) {
  return check_symbols(own, {against, {}, {}});
}

}  // namespace wheelsmith::wheel
