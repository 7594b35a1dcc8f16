#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "run/run.h"
#include "sys/files.h"
#include "sys/process.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::run {

namespace {

// What one compile of device code takes where nothing else is known: flash-attention's need 4.7 to 6.4 GB.
constexpr std::uint64_t k_memory_of_compile = 5'000'000'000;

}  // namespace

diagnose::Values machine_values() {
  diagnose::Values values;
  const sys::Memory memory = sys::memory();
  if (memory.total != 0) {
    const std::uint64_t fit = memory.total / 10 * 9 / k_memory_of_compile;
    values["machine.jobs"] = fmt::format("{}", std::clamp<std::uint64_t>(fit, 1, usable_threads()));
    values["machine.memory"] = human_bytes(memory.total);
  }
  toolchain::Surroundings where;
  where.environment = sys::current_environment();
  try {
    if (const auto cuda = toolchain::find_cuda(where)) {
      values["machine.nvcc"] = cuda->version;
      values["machine.cuda"] = cuda->root.string();
    }
  } catch (const Error&) {  // a remedy that names no toolkit is still one
  }
  values["machine.python"] = sys::find_program("python3").string();
  return values;
}

}  // namespace wheelsmith::run
