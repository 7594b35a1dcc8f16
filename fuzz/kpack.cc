// module: gpu
#include "gpu/code/kpack.h"

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "gpu/code/device_code.h"
#include "gpu/code/offload_binary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)wheelsmith::gpu::read_device_code(wheelsmith::gpu::FileKind::kpack, wheelsmith::Bytes(data, size));
  // The related small formats.
  try {
    (void)wheelsmith::gpu::read_kpack_reference(wheelsmith::Bytes(data, size));
  } catch (const wheelsmith::Error&) {}
  try {
    (void)wheelsmith::gpu::read_offload_binaries(wheelsmith::Bytes(data, size));
  } catch (const wheelsmith::Error&) {}
  return 0;
}
