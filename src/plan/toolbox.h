#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// The machine's compilers, CUDA and programs; each is searched for once per plan, on first use.
class Toolbox {
 public:
  explicit Toolbox(const toolchain::Host& host) : m_host(host) {}

  const std::optional<toolchain::Compiler>& compiler();
  const std::optional<toolchain::Cuda>& cuda();
  [[nodiscard]] const toolchain::Host& host() const { return m_host; }

  // The compilers and programs of a step. A program that must not come from pip is searched for in PATH after pip's
  // folder.
  void choose(ToolSpec& tools, const recipe::Rules& rules);

  // The step's tools that are part of its key, by name: "cc/cc1plus", "nvcc/ptxas", "cmake".
  std::vector<std::pair<std::string, std::string>> digests(const ToolSpec& tools);

 private:
  const toolchain::Host& m_host;
  std::optional<std::optional<toolchain::Compiler>> m_compiler;
  std::optional<std::optional<toolchain::Cuda>> m_cuda;
  std::map<std::string, toolchain::Program> m_programs;  // by path
};

}  // namespace wheelsmith::plan
