#pragma once

#include <optional>
#include <string>

#include "toolchain/toolchain.h"

// Which CUDA or ROCm a step is built with: the machine's where it fits, else one made out of an index's wheels.

namespace wheelsmith::choose {

struct CudaQuestion {
  std::optional<toolchain::Cuda> here;
  bool named = false;      // by the user: it is taken even where it does not fit
  bool with_torch = true;  // torch's headers include those of the math libraries
  std::string torch_cuda;  // the version that torch was built with; "" when that is not known
  std::string specifiers;  // of the recipe
};

struct CudaChoice {
  bool machine = false;  // the one that is here
  std::string version;   // of either; "" for the newest of the index that fits the recipe
  std::string why;       // not the machine's
};
CudaChoice choose_cuda(const CudaQuestion& question);

struct RocmQuestion {
  std::optional<toolchain::Rocm> here;
  bool named = false;
  bool has_index = false;    // the user set an index of ROCm's wheels
  bool may_ask = true;       // a plan for a described machine asks no index
  bool build_needs = true;   // some packages need it only where they run
  std::string specifiers{};  // of the recipe
};
enum class RocmChoice : std::uint8_t { machine, index, missing, unneeded };
RocmChoice choose_rocm(const RocmQuestion& question);

}  // namespace wheelsmith::choose
