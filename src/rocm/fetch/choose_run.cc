#include "rocm/fetch/choose_run.h"

#include <fmt/format.h>

#include "base/request_error.h"
#include "base/text.h"
#include "gpu/arch_words.h"
#include "sys/files.h"

namespace wheelsmith::rocm {

namespace {

// The options become parts of URLs and paths.
void check_path_part(const std::string& option, const std::string& text, bool slash) {
  for (const char c : text) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '_' || c == '.' || (slash && c == '/');
    if (!good) throw RequestError(fmt::format("--{} {}: invalid character", option, printable(text)));
  }
  if (text.find("..") != text.npos || text.starts_with('/'))
    throw RequestError(fmt::format("--{} {}: must not contain \"..\"", option, printable(text)));
}

std::vector<std::string> wanted_targets(const RunRequest& request) {
  std::vector<std::string> targets = request.groups;
  targets.insert(targets.end(), request.targets.begin(), request.targets.end());
  const std::size_t named = targets.size();
  for (const std::string& family : request.families) {
    if (!request.expand_families) targets.push_back(family);
    for (const gpu::NamedTargets& known : gpu::amd_families()) {
      if (request.expand_families && to_lower(known.name) == to_lower(family))
        targets.insert(targets.end(), known.members.begin(), known.members.end());
    }
  }
  if (request.expand_families && !request.families.empty() && targets.size() == named)
    throw RequestError("--expand-families: all families are unknown");
  return targets;
}

std::optional<Topology> find_topology(const RunRequest& request, const std::string& key,
                                      const std::vector<ListedFile>& files, const fetch::FetchOptions& options) {
  constexpr const char* k_name = "BUILD_TOPOLOGY.toml";
  if (!request.topology.empty())
    return parse_topology(sys::read_file(request.topology, 16 << 20), request.topology.string());
  for (const ListedFile& file : files) {
    if (file.name != k_name) continue;
    const fetch::Response response = fetch::get(place_of(request.base, key, k_name), options);
    if (response.status == 200) return parse_topology(response.body, k_name);
  }
  return std::nullopt;
}

}  // namespace

ChosenRun choose_run(const RunRequest& request, const fetch::FetchOptions& options) {
  check_path_part("run-id", request.run_id, false);
  check_path_part("external-repo", request.repository, true);
  FetchSelection selection = request.selection;
  if (selection.generic_only && !(request.groups.empty() && request.families.empty() && request.targets.empty()))
    throw RequestError("--generic-only cannot be combined with GPUs");
  std::string repository = request.repository;
  if (!repository.empty() && !repository.ends_with('/')) repository += '/';
  ChosenRun run;
  run.key = fmt::format("{}{}-{}", repository, request.run_id, selection.platform);
  const std::vector<ListedFile> files = list_run(request.base, run.key, options);
  selection.targets = wanted_targets(request);
  std::optional<Topology> topology;
  if (!request.stage.empty() && request.stage != "all") {
    topology = find_topology(request, run.key, files, options);
    if (!topology)
      throw RequestError("--stage needs a topology: the run has no BUILD_TOPOLOGY.toml; pass one with --topology");
    selection.artifacts = topology->inbound(request.stage, selection.platform);
  }
  run.files = choose_files(files, selection, topology ? &*topology : nullptr);
  return run;
}

}  // namespace wheelsmith::rocm
