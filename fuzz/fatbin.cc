// module: gpu
#include <cstddef>
#include <cstdint>

#include "gpu/code/device_code.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)wheelsmith::gpu::read_device_code(wheelsmith::gpu::FileKind::nvidia_fatbin, wheelsmith::Bytes(data, size));
  return 0;
}
