#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// The machine's compilers, CUDA and programs, each looked for once in a plan, when it is first asked for.
class Toolbox {
 public:
  explicit Toolbox(const toolchain::Host& host) : m_host(host) {}

  const std::optional<toolchain::Compiler>& compiler();
  const std::optional<toolchain::Cuda>& cuda();
  [[nodiscard]] const toolchain::Host& host() const { return m_host; }

  // Compilers and programs of a step. A program that must not come from pip is the one behind pip's in PATH.
  void choose(ToolSpec& tools, const recipe::Rules& rules);

  // What of the step's tools decides its result, by name: "cc/cc1plus", "nvcc/ptxas", "cmake".
  std::vector<std::pair<std::string, std::string>> digests(const ToolSpec& tools);

 private:
  const toolchain::Host& m_host;
  std::optional<std::optional<toolchain::Compiler>> m_compiler;
  std::optional<std::optional<toolchain::Cuda>> m_cuda;
  std::map<std::string, toolchain::Program> m_programs;  // by path
};

}  // namespace wheelsmith::plan
