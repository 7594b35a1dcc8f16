#include "plan/locks.h"

#include <fmt/format.h>

#include "plan/described.h"
#include "toolchain/description.h"

namespace wheelsmith::plan {

const env::Lock& Locks::resolve(const std::string& package, const std::vector<std::string>& requirements,
                                const toolchain::Python& python, const choose::TorchChoice& torch) {
  std::string name = python.executable.string();
  for (const std::string& requirement : requirements) name += "\n" + requirement;
  for (const std::string& url : torch.index_urls) name += "\n" + url;
  for (const auto& folder : torch.wheelhouses) name += "\n" + folder.string();
  const auto found = m_locks.find(name);
  if (found != m_locks.end()) return found->second;
  if (m_inputs.host.described)
    return m_locks.emplace(name, described_lock(requirements, python, *m_inputs.host.described)).first->second;
  env::ResolveOptions options;
  options.upgrade = m_request.upgrade;
  options.offline = m_request.offline;
  options.wheelhouses = torch.wheelhouses;
  options.wheelhouses.insert(options.wheelhouses.end(), m_request.wheelhouses.begin(), m_request.wheelhouses.end());
  options.index_urls = torch.index_urls;
  options.prereleases = torch.prereleases;
  m_inputs.on_progress(fmt::format("resolving the build requirements of {}", package));
  return m_locks.emplace(name, env::resolve(requirements, python, m_inputs.fetcher, m_inputs.store, options))
      .first->second;
}

choose::TorchBuild Locks::torch_build(const choose::TorchChoice& torch, const toolchain::Python& python) {
  switch (torch.kind) {
    case choose::TorchChoice::Kind::none: break;
    case choose::TorchChoice::Kind::environment: {
      const auto found = toolchain::find_torch(torch.python, false, m_inputs.host);
      return found ? choose::TorchBuild{found->version, found->cuda, found->hip} : choose::TorchBuild{};
    }
    case choose::TorchChoice::Kind::requirement:
      return choose::locked_torch(resolve("torch", {torch.requirement}, python, torch));
  }
  return {};
}

}  // namespace wheelsmith::plan
