// module: elf
// Any bytes: parse, query everything, check the layout. Only wheelsmith::Error may be thrown.

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "elf/elf_file.h"
#include "elf/layout_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  try {
    const auto file = elf::ElfFile::parse(Bytes(data, size));
    for (const elf::Symbol& symbol : file.symbols) {
      (void)file.needed_version(symbol);
      (void)file.defined_version(symbol);
      (void)file.file_offset(symbol.value, symbol.size);
    }
    (void)file.relocations_in(0x1000, 0x2000);
    (void)file.is_python_extension("demo");
    (void)file.machine_name();
    (void)elf::check_layout(file, "input");
    for (const elf::Section& section : file.sections) (void)file.contents(section);
  } catch (const Error&) {}
  return 0;
}
