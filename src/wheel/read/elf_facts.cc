#include "wheel/read/elf_facts.h"

#include <string.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "elf/layout_check.h"
#include "wheel/read/scan.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

std::vector<std::string> path_list(const std::optional<std::string_view>& text) {
  std::vector<std::string> result;
  if (!text) return result;
  for (const std::string_view part : split(*text, ':')) result.emplace_back(part);
  return result;
}

// A name of the new ABI contains its inline namespace or tag. In the old ABI std::string is abbreviated to "Ss", which
// may also be part of an identifier, so such names are demangled to be sure; a few are enough.
class Cxx11AbiDetector {
 public:
  void see(std::string_view name) {
    if (!name.starts_with("_Z")) return;
    if (!m_new) m_new = name.find("St7__cxx11") != name.npos || name.find("B5cxx11") != name.npos;
    if (!m_old && m_tries < k_most_tries && name.find("Ss") != name.npos) {
      ++m_tries;
      const std::optional<std::string> demangled = demangle(name);
      m_old = demangled && demangled->find("std::string") != std::string::npos;
    }
  }
  [[nodiscard]] Cxx11Abi result() const {
    if (m_old && m_new) return Cxx11Abi::both;
    return m_old ? Cxx11Abi::old_abi : m_new ? Cxx11Abi::new_abi : Cxx11Abi::unused;
  }

 private:
  static constexpr int k_most_tries = 64;
  bool m_new = false;
  bool m_old = false;
  int m_tries = 0;
};

void collect_symbols(const elf::ElfFile& file, bool with_exported, ElfFacts& facts) {
  Cxx11AbiDetector detector;
  for (const elf::Symbol& symbol : file.symbols) {
    if (symbol.name.empty()) continue;
    detector.see(symbol.name);
    if (!symbol.is_defined()) {
      const elf::VersionNeed* need = file.needed_version(symbol);
      facts.undefined.push_back({std::string(symbol.name), need != nullptr ? std::string(need->version) : "",
                                 need != nullptr ? std::string(need->file) : "", symbol.binding == elf::Binding::weak});
    } else if (with_exported && symbol.is_exported()) {
      std::string name(symbol.name);
      const std::string_view version = file.defined_version(symbol);
      if (!version.empty()) name.append("@").append(version);
      facts.exported.push_back(std::move(name));
    }
  }
  facts.cxx11_abi = detector.result();
}

void collect_versions(const elf::ElfFile& file, ElfFacts& facts) {
  std::map<std::string, std::set<std::string>> needed;
  for (const elf::VersionNeed& need : file.version_needs) {
    needed[std::string(need.file)].insert(std::string(need.version));
  }
  for (auto& [library, versions] : needed) facts.versions_needed[library].assign(versions.begin(), versions.end());
  for (const elf::VersionDefinition& definition : file.version_definitions) {
    if (!definition.base) facts.versions_provided.emplace_back(definition.version);
  }
}

// Whether it uses functions or data of another C++ library, other than the standard library.
bool uses_cxx_of_others(const ElfFacts& facts) {
  return std::any_of(facts.undefined.begin(), facts.undefined.end(), [](const UndefinedSymbol& symbol) {
    return !symbol.weak && symbol.name.starts_with("_Z") && !is_libstdcxx_name(symbol.name);
  });
}

// Every file with a static copy of libstdc++'s throwing code contains the text that its handler for uncaught exceptions
// prints, whether the symbols are visible or not. A toolset compiler for an old distribution links some newer parts of
// libstdc++ statically and uses the system's library for the rest: such files do not contain the text, and reference
// the personality function of every frame with a handler.
OwnRuntime find_own_libstdcxx(const elf::ElfFile& file) {
  using namespace std::string_view_literals;
  static constexpr std::string_view k_text = "terminate called after throwing an instance of '\0"sv;
  const auto holds_it = [](Bytes bytes) {
    return !bytes.empty() && memmem(bytes.data(), bytes.size(), k_text.data(), k_text.size()) != nullptr;
  };
  const std::string_view soname = file.dynamic.soname.value_or("");
  if (soname.starts_with("libstdc++")) return OwnRuntime::none;
  bool visible = false;
  for (const elf::Symbol& symbol : file.symbols) {
    if (symbol.name != "__gxx_personality_v0" && symbol.name != "__cxa_throw") continue;
    if (!symbol.is_defined()) return OwnRuntime::none;
    visible = visible || symbol.is_exported();
  }
  const elf::Section* constants = file.find_section(".rodata");
  const bool found = constants != nullptr
                         ? holds_it(file.bytes().clamp(constants->offset, constants->size))
                         : std::any_of(file.segments.begin(), file.segments.end(), [&](const elf::Segment& segment) {
                             return segment.type == elf::k_segment_load && (segment.flags & elf::k_writable) == 0 &&
                                    holds_it(file.bytes().clamp(segment.offset, segment.file_size));
                           });
  if (!found) return OwnRuntime::none;
  return visible ? OwnRuntime::visible : OwnRuntime::hidden;
}

std::string_view stem_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != path.npos) path.remove_prefix(slash + 1);
  return path.substr(0, path.find('.'));
}

}  // namespace

ElfFacts elf_facts(const std::string& path, Bytes bytes, const ScanOptions& options) {
  const elf::ElfFile file = elf::ElfFile::parse(bytes);
  ElfFacts facts;
  facts.path = path;
  facts.size = bytes.size();
  facts.machine = file.machine_name();
  facts.is_64bit = file.is_64bit;
  facts.type = file.type;
  facts.is_dynamic = file.has_dynamic;
  facts.soname = file.dynamic.soname.value_or("");
  for (const std::string_view name : file.dynamic.needed) facts.needed.emplace_back(name);
  facts.rpath = path_list(file.dynamic.rpath);
  facts.runpath = path_list(file.dynamic.runpath);
  collect_versions(file, facts);
  collect_symbols(file, options.exported, facts);
  if (uses_cxx_of_others(facts)) facts.own_libstdcxx = find_own_libstdcxx(file);
  facts.python_extension = file.is_python_extension(stem_of(path));
  facts.build_id = file.build_id.value_or("");
  facts.stripped = !file.has_symbol_table;
  facts.debug_info = file.has_debug_info;
  facts.interpreter = file.interpreter.value_or("");
  facts.x86_isa_needed = file.x86_isa_needed;
  facts.problems = file.problems;
  facts.device_code = gpu::read_device_code(file);
  if (options.layout) facts.layout = elf::check_layout(file, path);
  return facts;
}

}  // namespace wheelsmith::wheel
