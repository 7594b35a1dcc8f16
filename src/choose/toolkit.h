#pragma once

#include <optional>
#include <string>

#include "toolchain/toolchain.h"

// Chooses the CUDA or ROCm of a step: the machine's if it fits, else one installed from wheels of an index.

namespace wheelsmith::choose {

struct CudaQuestion {
  std::optional<toolchain::Cuda> here;
  bool named = false;      // given by the user: used even if it does not fit
  bool with_torch = true;  // torch's headers include those of the math libraries
  std::string torch_cuda;  // the version that torch was built with; "" if unknown
  std::string specifiers;  // of the recipe
};

struct CudaChoice {
  bool machine = false;  // use the machine's toolkit
  std::string version;   // of the chosen toolkit; "": the newest in the index that fits the recipe
  std::string why;       // why the machine's toolkit is not used
};
CudaChoice choose_cuda(const CudaQuestion& question);

struct RocmQuestion {
  std::optional<toolchain::Rocm> here;
  bool named = false;
  bool has_index = false;    // an index of ROCm wheels is set
  bool may_ask = true;       // false when planning for a described machine
  bool build_needs = true;   // some packages need it only at run time
  std::string specifiers{};  // of the recipe
};
enum class RocmChoice : std::uint8_t { machine, index, missing, unneeded };
RocmChoice choose_rocm(const RocmQuestion& question);

}  // namespace wheelsmith::choose
