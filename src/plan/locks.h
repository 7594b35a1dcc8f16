#pragma once

#include <map>
#include <string>
#include <vector>

#include "choose/torch.h"
#include "plan/plan.h"

namespace wheelsmith::plan {

// Requirements resolved to files, each list once in a plan.
class Locks {
 public:
  Locks(const choose::Request& request, const PlanInputs& inputs) : m_request(request), m_inputs(inputs) {}

  // `package` is whom it is for, in the line that reports progress.
  const env::Lock& resolve(const std::string& package, const std::vector<std::string>& requirements,
                           const toolchain::Python& python, const choose::TorchChoice& torch);

  // The torch that the choice comes to; empty where none is chosen or found.
  choose::TorchBuild torch_build(const choose::TorchChoice& torch, const toolchain::Python& python);

  // For a build without a GPU: where the indexes have a CPU build of torch (2.13.0+cpu) that the choice allows, that
  // one. Another one would bring gigabytes of CUDA libraries that nobody uses.
  void prefer_cpu_torch(choose::TorchChoice& torch, const toolchain::Python& python);

 private:
  const choose::Request& m_request;
  const PlanInputs& m_inputs;
  std::map<std::string, env::Lock> m_locks;
};

}  // namespace wheelsmith::plan
