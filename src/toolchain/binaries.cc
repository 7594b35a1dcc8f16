// Facts from a toolchain's binaries: the versions that a C library defines, and the shared libraries that contain a
// compiler. Debian's clang is a driver of 100 kB in front of libclang-cpp.so and libLLVM.so; its as and ld depend on
// libbfd. A digest of the programs alone would not detect changes there.

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "sys/file.h"
#include "sys/loader.h"
#include "toolchain/ask.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 8> k_compiler_libraries = {"libclang", "libLLVM", "libbfd", "libopcodes",
                                                                  "libctf",   "libgas",  "liblld", "libamd_comgr"};

bool holds_compiler(std::string_view library) {
  return std::any_of(k_compiler_libraries.begin(), k_compiler_libraries.end(),
                     [&](std::string_view prefix) { return library.starts_with(prefix); });
}

struct Needs {
  std::vector<std::string> names;
  std::vector<fs::path> folders;  // where to look, in order
};

Needs compiler_libraries_of(const fs::path& file) {
  Needs needs;
  const auto blob = sys::map_file_if_possible(file);
  const auto elf = blob ? elf::ElfFile::try_parse(blob->bytes) : std::nullopt;
  if (!elf) return needs;
  for (const std::string_view name : elf->dynamic.needed) {
    if (holds_compiler(name) && name.find('/') == std::string_view::npos) needs.names.emplace_back(name);
  }
  const std::string_view run_path = elf->dynamic.runpath.value_or(elf->dynamic.rpath.value_or(std::string_view()));
  for (const std::string_view part : split(run_path, ':')) {
    std::string folder(part);
    for (const std::string_view word : {std::string_view("$ORIGIN"), std::string_view("${ORIGIN}")}) {
      if (folder.starts_with(word)) folder.replace(0, word.size(), file.parent_path().string());
    }
    if (folder.starts_with('/')) needs.folders.emplace_back(folder);
  }
  return needs;
}

}  // namespace

void add_program_digests(Digests& digests, const std::string& name, const fs::path& file, const Host& where) {
  const fs::path real = real_path(file);
  std::set<std::string> seen;
  std::vector<std::pair<std::string, fs::path>> waiting = {{name, real}};
  while (!waiting.empty() && seen.size() < 64) {
    const auto [label, path] = waiting.back();
    waiting.pop_back();
    if (!seen.insert(path.string()).second) continue;
    auto digest = try_file_digest(path, where.memo);
    if (!digest) continue;  // unreadable: it is not used
    digests.emplace_back(label, std::move(*digest));
    Needs needs = compiler_libraries_of(path);
    if (needs.names.empty()) continue;
    for (std::string& folder : sys::loader_folders()) needs.folders.emplace_back(std::move(folder));
    for (const std::string& library : needs.names) {
      const auto at = std::find_if(needs.folders.begin(), needs.folders.end(),
                                   [&](const fs::path& folder) { return is_there(folder / library); });
      if (at != needs.folders.end()) waiting.emplace_back(name + "/" + library, real_path(*at / library));
    }
  }
}

std::string newest_definition(const fs::path& library, std::string_view prefix) {
  std::string newest;
  const auto blob = sys::map_file_if_possible(library);
  const auto elf = blob ? elf::ElfFile::try_parse(blob->bytes) : std::nullopt;
  if (!elf) return newest;
  for (const elf::VersionDefinition& definition : elf->version_definitions) {
    if (!definition.version.starts_with(prefix)) continue;
    const std::string_view rest = definition.version.substr(prefix.size());
    if (first_version(rest) == rest && version_less(newest, rest)) newest = rest;
  }
  return newest;
}

}  // namespace wheelsmith::toolchain
