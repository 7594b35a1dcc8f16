#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "choose/request.h"
#include "sys/process/process.h"

// Environment variables of build scripts that correspond to wheelsmith options: TORCH_CUDA_ARCH_LIST to --arch,
// CUDA_HOME to --cuda. A build must never see two values, so a variable given by --env is used as the option or
// rejected, and one set in the environment is the default of the option.

namespace wheelsmith::choose {

// "--arch" for TORCH_CUDA_ARCH_LIST; "" for a variable that only the package uses.
std::string_view option_of_variable(std::string_view variable);

// Throws RequestError for a variable in --env or --env-file that an option replaces. Architecture lists are allowed;
// choose_archs() uses them.
void refuse_options_in(const std::map<std::string, std::string>& variables);

struct ArchVariable {
  std::string name;
  gpu::ArchList archs;
};
// The architecture list in the first variable of the variant that is set. If its text is not a list ("native"), sets
// `problem` and returns nothing.
std::optional<ArchVariable> find_arch_variable(const std::map<std::string, std::string>& variables,
                                               recipe::Variant variant, std::string& problem);

// The variables that find_arch_variable() reads.
std::vector<std::string> arch_variables();

// Notes about variables that are set in the environment but not passed to builds.
std::vector<std::string> exported_notes(const sys::Environment& exported);

}  // namespace wheelsmith::choose
