// module: elf
// Any bytes: check whether they can be edited, and edit them. Only wheelsmith::Error may be thrown; edit() verifies its
// own result, and a repeated edit must change nothing.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "elf/edit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  const Bytes bytes(data, size);
  const bool editable = elf::can_edit(bytes);
  elf::Edit long_path, names, none;
  long_path.run_path = elf::RunPath{true, {"$ORIGIN/../lib", std::string(300, 'x')}};
  names.rename_needed = {{"libc.so.6", "libother.so.6"}};
  names.add_needed = {"libadded.so"};
  names.remove_needed = {"libm.so.6"};
  names.soname = "librenamed.so.1";
  none.run_path = elf::RunPath{};
  for (const elf::Edit& edit : {long_path, names, none}) {
    try {
      const elf::Edited edited = elf::edit(bytes, edit);
      if (!editable) std::abort();
      if (edited.size > (1U << 26)) continue;  // a program with a large hole in it
      const std::vector<std::byte> result = elf::apply(edited, bytes);
      if (!elf::prove(bytes, Bytes(result.data(), result.size())).empty()) std::abort();
      if (elf::edit(Bytes(result.data(), result.size()), edit).changed) std::abort();
    } catch (const Error&) {}
  }
  try {
    (void)elf::prove(bytes, bytes);
  } catch (const Error&) {}
  return 0;
}
