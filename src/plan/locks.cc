#include "plan/locks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
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

namespace {

// The newest "+cpu" build in the list that fits the requirement and the interpreter; "" if there is none.
std::string newest_cpu_build(const pep::ProjectPage& page, const pep::Requirement& wanted,
                             const toolchain::Python& python) {
  std::optional<pep::Version> newest;
  std::string text;
  for (const pep::ProjectFile& file : page.files) {
    const auto name = file.is_wheel() && !file.yanked ? pep::WheelName::try_parse(file.name) : std::nullopt;
    if (!name || !name->version.ends_with("+cpu") || name->abi != python.abi) continue;
    if (name->platform.find("_" + python.machine()) == std::string::npos) continue;
    const auto version = pep::Version::try_parse(name->version);
    if (!version || version->is_prerelease() || !pep::contains(wanted.specifiers, *version)) continue;
    if (newest && !(*newest < *version)) continue;
    newest = version;
    text = name->version;
  }
  return text;
}

}  // namespace

void Locks::prefer_cpu_torch(choose::TorchChoice& torch, const toolchain::Python& python) {
  if (torch.kind != choose::TorchChoice::Kind::requirement || !torch.index_urls.empty() || !torch.wheelhouses.empty() ||
      torch.requirement.find('+') != std::string::npos || m_inputs.host.described)
    return;
  std::string subject = fmt::format("{} {}", torch.requirement, python.abi);
  for (const std::string& index : m_inputs.fetcher.options().index.extra_index_urls)
    subject += " " + fetch::without_credentials(index);
  subject += " " + fetch::without_credentials(m_inputs.fetcher.options().index.index_url);
  for (const std::string& link : m_inputs.fetcher.options().index.find_links)
    subject += " " + fetch::without_credentials(link);
  std::optional<std::string> version;
  if (!m_request.upgrade) version = m_inputs.store.remembered("cpu-torch", subject, "");
  if (!version) {
    try {
      const pep::ProjectPage* page = m_inputs.fetcher.find_project("torch");
      version = page == nullptr ? "" : newest_cpu_build(*page, pep::Requirement::parse(torch.requirement), python);
      m_inputs.store.remember("cpu-torch", subject, "", *version);
    } catch (const Error&) {  // the resolver reports errors of the index
      return;
    }
  }
  if (!version->empty()) torch.requirement = "torch==" + *version;
}

}  // namespace wheelsmith::plan
