#include <filesystem>

#include "base/error.h"
#include "elf/elf_file.h"
#include "surgery/repair/repair.h"
#include "sys/file.h"
#include "sys/loader.h"
#include "wheel/read/scan.h"

namespace wheelsmith::surgery {

std::optional<wheel::ElfFacts> library_at(const std::string& path) {
  std::error_code ignored;  // a path that cannot be read has no library
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  try {
    const Blob file = sys::map_file(path);
    if (!elf::ElfFile::has_magic(file.bytes)) return std::nullopt;  // a linker script
    return wheel::elf_facts(path, file.bytes, {});
  } catch (const Error&) {
    return std::nullopt;  // the loader could not read it either
  }
}

LibrarySource machine_libraries() {
  LibrarySource source;
  source.glibc.library_at = source.musl.library_at = library_at;
  source.glibc.default_folders = sys::loader_folders();
  source.musl.default_folders = sys::musl_loader_folders();
  return source;
}

}  // namespace wheelsmith::surgery
