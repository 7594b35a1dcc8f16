#include "wheel/read/symbol_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_longest_shown = 300;

constexpr std::array<std::string_view, 14> k_linker_names = {"__gmon_start__",
                                                             "__cxa_finalize",
                                                             "_DYNAMIC",
                                                             "_GLOBAL_OFFSET_TABLE_",
                                                             "__TMC_END__",
                                                             "__dso_handle",
                                                             "_init",
                                                             "_fini",
                                                             "__bss_start",
                                                             "_edata",
                                                             "edata",
                                                             "_end",
                                                             "end",
                                                             "_etext"};

constexpr std::array<std::string_view, 10> k_glibc = {
    "libc.so.6",       "libm.so.6",   "libdl.so.2",   "librt.so.1",     "libutil.so.1",
    "libpthread.so.0", "libanl.so.1", "libmvec.so.1", "libresolv.so.2", "libnsl.so.1"};

constexpr std::array<std::string_view, 4> k_gcc = {"libstdc++.so.6", "libgcc_s.so.1", "libatomic.so.1", "libgomp.so.1"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view library_name(const ElfFacts& file) {
  return file.soname.empty() ? base_name(file.path) : std::string_view(file.soname);
}

ExportedName split_exported(std::string_view exported) {
  const std::size_t at = exported.find('@');
  if (at == std::string_view::npos) return {exported, {}};
  std::string_view version = exported.substr(at + 1);
  if (version.starts_with('@')) version.remove_prefix(1);
  return {exported.substr(0, at), version};
}

bool is_linker_name(std::string_view name) { return name.starts_with("_ITM_") || contains(k_linker_names, name); }

bool is_interpreter_name(std::string_view name) { return name.starts_with("Py") || name.starts_with("_Py"); }

bool is_glibc_library(std::string_view name) {
  return contains(k_glibc, name) || name.starts_with("ld-linux") || name.starts_with("ld64.so");
}

bool is_versioned_system_library(std::string_view name) { return is_glibc_library(name) || contains(k_gcc, name); }

bool is_executable(const ElfFacts& file) {
  return file.type == elf::k_type_exec || (!file.interpreter.empty() && !file.python_extension && file.soname.empty());
}

std::string readable(std::string_view symbol) {
  std::string name = demangle(symbol).value_or(std::string(symbol));
  if (name.size() > k_longest_shown) name = name.substr(0, k_longest_shown) + "…";
  return name;
}

std::string list_some(const std::vector<std::string>& items, std::size_t shown) {
  if (items.size() <= shown) return join(items, ", ");
  const std::vector<std::string> first(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{} and {} more", join(first, ", "), items.size() - shown);
}

}  // namespace wheelsmith::wheel
