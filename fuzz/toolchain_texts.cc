// module: toolchain

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "toolchain/ask.h"
#include "toolchain/cuda/cuda_limits.h"
#include "toolchain/cuda/cuda_texts.h"
#include "toolchain/gpus.h"
#include "toolchain/library/library.h"
#include "toolchain/torch_files.h"
#include "toolchain/wanted_python.h"

// All texts that this machine's programs and headers provide.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith::toolchain;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)read_host_config(text);
  (void)read_nvcc_version(text);
  (void)read_nvcc_archs(text);
  for (const LibraryKind& kind : library_kinds()) (void)read_header_version(text, kind.macros);
  (void)dryrun_variable(text, "TOP");
  (void)read_torch_version(text);
  (void)read_torch_abi(text);
  (void)read_nvidia_smi(text);
  (void)kfd_property(text, "gfx_target_version");
  (void)first_version(text);
  (void)cuda_row(text);
  try {
    (void)WantedPython::parse(text);
  } catch (const wheelsmith::Error&) {}
  return 0;
}
