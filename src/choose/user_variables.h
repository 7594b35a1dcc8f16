#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "choose/request.h"
#include "sys/process/process.h"

// Variables by which people tell these packages' own build scripts what an option of ours says: TORCH_CUDA_ARCH_LIST
// for
// --arch, CUDA_HOME for --cuda. A build must never see two answers, so one that is given by --env is taken for the
// option or refused, and one that is exported is the option's default.

namespace wheelsmith::choose {

// "--arch" for TORCH_CUDA_ARCH_LIST; "" for a variable that only the package itself understands.
std::string_view option_of_variable(std::string_view variable);

// Throws RequestError for a variable of --env or --env-file that an option replaces; lists of architectures are not
// refused, for choose_archs() takes them.
void refuse_options_in(const std::map<std::string, std::string>& variables);

struct ArchVariable {
  std::string name;
  gpu::ArchList archs;
};
// The list of architectures that a variable holds for the variant; of several the first that is set. Where the text is
// no list ("native"), `problem` is a sentence and there is no answer.
std::optional<ArchVariable> find_arch_variable(const std::map<std::string, std::string>& variables,
                                               recipe::Variant variant, std::string& problem);

// Names of the variables that find_arch_variable() reads.
std::vector<std::string> arch_variables();

// Sentences about variables that are exported and that no build sees.
std::vector<std::string> exported_notes(const sys::Environment& exported);

}  // namespace wheelsmith::choose
