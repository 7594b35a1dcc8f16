#include "surgery/repair/strip.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::surgery {

namespace {

// GNU strip knows its own machine only, unless it was built for all; llvm-strip knows all.
std::filesystem::path strip_program(const std::string& machine) {
#if defined(__x86_64__)
  const bool native = machine == "x86_64" || machine == "i686";
#elif defined(__aarch64__)
  const bool native = machine == "aarch64";
#else
  const bool native = false;
#endif
  for (const std::string& name : {std::string(native ? "strip" : ""), machine + "-linux-gnu-strip",
                                  std::string("llvm-strip"), std::string("llvm-strip-19")}) {
    if (name.empty()) continue;
    if (std::filesystem::path found = sys::find_program(name); !found.empty()) return found;
  }
  throw Error(fmt::format("--strip: no strip program for {} in PATH; install binutils or llvm", printable(machine)));
}

}  // namespace

Blob stripped(Bytes original, const std::string& machine, const std::filesystem::path& folder, std::size_t number) {
  const std::filesystem::path program = strip_program(machine);
  const std::filesystem::path target = folder / fmt::format("{}.so", number);
  sys::write_file(target, original.text());
  sys::Command command;
  command.argv = {program.string(), "-s", target.string()};
  const sys::Captured result = sys::capture(command, 1 << 20);
  if (!result.exit.good())
    throw Error(fmt::format("--strip: {} failed ({}): {}", program.filename().string(), sys::to_string(result.exit),
                            printable(trim(result.errors))));
  return sys::map_file(target);
}

}  // namespace wheelsmith::surgery
