#include "plan/toolbox.h"

#include <algorithm>

namespace wheelsmith::plan {

const std::optional<toolchain::Compiler>& Toolbox::compiler() {
  if (!m_compiler) m_compiler = toolchain::find_compiler(m_host);
  return *m_compiler;
}

const std::optional<toolchain::Cuda>& Toolbox::cuda() {
  if (!m_cuda) m_cuda = toolchain::find_cuda(m_host);
  return *m_cuda;
}

void Toolbox::choose(ToolSpec& tools, const recipe::Rules& rules) {
  if (const auto& found = compiler()) {
    tools.cc = found->cc.string();
    tools.cxx = found->cxx.string();
    tools.compiler_family = found->family;
    tools.compiler_version = found->version;
  }
  const auto not_from_pip = [&](const std::string& name) {
    return std::any_of(rules.not_from_pip.begin(), rules.not_from_pip.end(),
                       [&](const auto& pair) { return pair.first == name; });
  };
  std::vector<std::string> wanted = rules.requires_versions.programs;
  for (const auto& [name, why] : rules.not_from_pip) {
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
  }
  for (const std::string& name : wanted) {
    auto program = toolchain::find_program(name, m_host);
    if (program && not_from_pip(name) && program->origin == toolchain::Origin::pip) {
      if (const auto behind = toolchain::program_behind(*program, m_host)) program = behind;
    }
    if (!program) continue;
    tools.programs[name] = program->path.string();
    m_programs.emplace(program->path.string(), *program);
  }
}

std::vector<std::pair<std::string, std::string>> Toolbox::digests(const ToolSpec& tools) {
  std::vector<std::pair<std::string, std::string>> result;
  const auto add = [&](const std::vector<std::pair<std::string, std::string>>& more) {
    result.insert(result.end(), more.begin(), more.end());
  };
  if (compiler() && !tools.cc.empty()) add(compiler()->digests);
  if (!tools.cuda.root.empty() && cuda()) add(cuda()->digests);
  for (const auto& [name, path] : tools.programs)
    result.emplace_back(name, m_programs.at(path).version + " " + m_programs.at(path).digest);
  return result;
}

}  // namespace wheelsmith::plan
