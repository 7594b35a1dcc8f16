#pragma once

#include <map>
#include <string>
#include <vector>

#include "choose/torch.h"
#include "plan/plan.h"

namespace wheelsmith::plan {

// Resolves requirements to files; each list once per plan.
class Locks {
 public:
  Locks(const choose::Request& request, const PlanInputs& inputs) : m_request(request), m_inputs(inputs) {}

  // `package` is named in the progress message.
  const env::Lock& resolve(const std::string& package, const std::vector<std::string>& requirements,
                           const toolchain::Python& python, const choose::TorchChoice& torch);

  // The resolved torch of the choice; empty if none is chosen or found.
  choose::TorchBuild torch_build(const choose::TorchChoice& torch, const toolchain::Python& python);

  // For a build without a GPU: the CPU build of torch (2.13.0+cpu) if the indexes have one that the choice allows. Any
  // other build would download gigabytes of unused CUDA libraries.
  void prefer_cpu_torch(choose::TorchChoice& torch, const toolchain::Python& python);

 private:
  const choose::Request& m_request;
  const PlanInputs& m_inputs;
  std::map<std::string, env::Lock> m_locks;
};

}  // namespace wheelsmith::plan
